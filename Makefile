# Needs python3 (3.11 or later), make and a package registry; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/stamp

.PHONY: help setup demo test lint check bench stress audit studies book docs serve

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt scripts/set_up.py
	$(PYTHON) scripts/gate.py set-up $(PYTHON) scripts/set_up.py $(VENV)

setup: $(STAMP) ## the environment; nothing to do when it stands

demo: setup ## the tour: a survey, a count, an audit, a word
	$(BIN)/bruit demo

test: setup ## every test of the gate
	@$(BIN)/python scripts/system_parts.py
	$(BIN)/python -m pytest

lint: setup ## format, lint, types, layers
	$(BIN)/python scripts/gate.py linters $(BIN)/python scripts/lint.py

check: lint test ## everything a change must pass

bench: setup ## ours beside the peers, every area
	$(BIN)/python -m benchmarks all

stress: setup ## the tests at full size
	$(BIN)/python -m pytest -m stress || [ $$? -eq 5 ]  # 5: there are none yet

audit: setup ## every mechanism measured from outside, at full size
	$(BIN)/bruit audit

studies: setup ## every study at full size, also those of hours
	$(BIN)/bruit study --all

book: setup ## the results book in docs/results: what is not current is run at full size, and goes on where it stopped
	$(BIN)/bruit study --all --book docs/results --seed 1

docs: setup ## the pages in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

serve: setup ## the web application
	$(BIN)/bruit serve
