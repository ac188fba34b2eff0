# Needs python3 (3.11 or later), make and a package registry; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SET_UP := pyproject.toml requirements.lock scripts/set_up.py
unexport PYTHONDONTWRITEBYTECODE  # where it is set, each of the many processes would compile all that it imports

.PHONY: help setup demo test lint check bench stress audit studies book notebooks docs serve lock wheel

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

$(VENV)/stamp-demo: $(SET_UP)
	$(PYTHON) scripts/set_up.py $(VENV) demo

$(VENV)/stamp-dev: $(SET_UP)
	$(PYTHON) scripts/gate.py set-up $(PYTHON) scripts/set_up.py $(VENV) dev

setup: $(VENV)/stamp-dev ## the environment with everything; nothing to do when it stands

demo: $(VENV)/stamp-demo ## the tour: survey, risk, deciles, a model, audits; sets up only what it needs
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
	$(BIN)/python -m pytest -m stress

audit: setup ## every mechanism measured from outside, at full size
	$(BIN)/bruit audit

studies: setup ## the whole results book, also the studies of hours; goes on where it stopped
	$(BIN)/bruit study --all --hours --book docs/results --seed 1

book: setup ## the results book in docs/results but for studies of hours; goes on where it stopped
	$(BIN)/bruit study --all --book docs/results --seed 1

notebooks: setup ## the notebooks with their outputs, executed again where their code changed
	$(BIN)/python scripts/notebooks.py

docs: setup ## the pages in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

serve: $(VENV)/stamp-demo ## the web application
	$(BIN)/bruit serve

wheel: $(VENV)/stamp-demo ## dist/*.whl, the package to install elsewhere
	$(BIN)/python -m scripts.wheel

lock: setup ## requirements.lock again, after a change of the dependencies
	$(BIN)/python -m scripts.lock
