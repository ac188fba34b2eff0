"""Runs every command where some packages are not installed: `python without_extras.py FOLDER PACKAGE…`.

Prints one line of JSON for each: its exit status, what it said on the error stream, and its traceback if it crashed.
"""

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

SCHEMA = """
name = "people"
person = "id"

[file]
kind = "csv"

[columns.id]
type = "text"

[columns.age]
type = "number"
low = 0
high = 100
grid = 1

[columns.sex]
type = "category"
values = ["f", "m"]
"""

TERMS = ("--epsilon", "99", "--delta", "1e-3", "--neighbours", "add or remove one", "--person", "id")
PRICE = ("--epsilon", "0.1", "--ledger", "clinic")
COUNT = ("release", "people.csv", "--person", "id", "--rows", "1", "--count", *PRICE)
SQL = ("select sex, count(*) as n from people group by sex", "--schema", "people.toml", "--rows", "1", *PRICE)

COMMANDS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("", ("ledger", "create", "clinic", *TERMS)),
    ("", ("anonymise", "people.csv", "coarse.csv", "--quasi", "age:5,10,50", "--quasi", "sex", "-k", "2")),
    ("", ("ask", "people.csv", *SQL, "--out", "sexes.csv", "--out", "sexes.svg")),
    ("excel", ("ask", "people.csv", *SQL, "--out", "sexes.xlsx")),
    ("plot", ("ask", "people.csv", *SQL, "--out", "sexes.png")),
    ("", ("audit", "central.count", "--samples", "64")),
    ("learn", ("audit", "learning.NaiveBayes", "--samples", "64")),
    ("deep", ("audit", "deep.train", "--samples", "8")),
    ("", ("backup", "copy.db")),
    ("", ("belief",)),
    ("", ("budget", "--dataset-size", "600", "--batch-size", "60", "--noise", "1", "--epochs", "1", "--delta", "1e-4",
          "--by", "rdp", "--neighbours", "add or remove one")),
    ("", ("code", "hamming", "encode", "1011")),
    ("", ("completion", "bash")),
    ("", ("data", "list")),
    ("", ("data", "example", "more.csv", "--rows", "10")),
    ("learn", ("demo", "--folder", "tour")),
    ("collectors,web", ("join", "https://127.0.0.1:1/collectors/join/none", "--name", "Us")),
    ("learn", ("learn", "people.csv", "--schema", "people.toml", "--predict", "sex", "--model", "NaiveBayes", *PRICE,
               "--out", "sex.zip")),
    ("", ("ledger", "show")),
    ("postgres", ("ledger", "show", "--store", "postgresql+psycopg://127.0.0.1:1/none")),
    ("", ("look", "people.csv", "--schema", "people.toml", "--ledger", "clinic")),
    ("deep", ("memory", "--model", "digits-cnn", "--batch-size", "8")),
    ("", ("register", "people.csv", "--schema", "people.toml", "--ledger", "clinic")),
    ("", (*COUNT, "--out", "count.parquet", "--out", "count.json")),
    ("excel", (*COUNT, "--out", "count.xlsx")),
    ("plot", (*COUNT, "--out", "count.png")),
    ("", ("restore", "copy.db", "--store", "sqlite:///back.db")),
    ("", ("risk", "people.csv", "--person", "id", "--quasi", "age", "--sensitive", "illness")),
    ("", ("schema", "people.csv")),
    ("web", ("serve", "--port", "0")),
    ("web", ("shuffle", "https://127.0.0.1:1/p/abcdefghjk", "--least", "200", "--delta", "1e-6")),
    ("", ("study",)),
    ("", ("survey", "plan", "--categories", "no,yes", "--people", "500", "--epsilon", "1")),
    ("excel", ("synthesise", "people.csv", "--schema", "people.toml", *PRICE, "--delta", "1e-6", "--out", "made.xlsx")),
    ("", ("watch", "visits", "--name", "visits", "--person", "id", "--rows", "1", "--count", "--once", "--periods", "4",
          "--epsilon", "0.1", "--delta", "1e-6", "--ledger", "clinic", "--out", "visits.csv")),
)  # fmt: skip
"""Every command, behind the extra that its sentence names; a study names those it is listed with."""


def every_command() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The list, and every study."""
    from bruit.apps.studies import STUDIES

    yield from COMMANDS
    for name, (_, _, extras) in STUDIES.items():
        yield ",".join(extras), ("study", name, "--small")


class WithoutPackages:
    """Finds modules as Python does, save those of some packages, which are not there."""

    find_distributions = staticmethod(PathFinder.find_distributions)

    def __init__(self, packages: Sequence[str]) -> None:
        self.packages = frozenset(packages)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing for a hidden package, as if it were not installed."""
        return None if name.partition(".")[0] in self.packages else PathFinder.find_spec(name, path, target)


def outcome(needs: str, arguments: Sequence[str]) -> dict[str, Any]:
    """The exit status of one command, what it said on the error stream, and a traceback if there is one."""
    from click.testing import CliRunner

    from bruit.apps.cli import main

    done = CliRunner().invoke(main, arguments)
    is_crash = done.exception is not None and not isinstance(done.exception, SystemExit)
    crash = "".join(traceback.format_exception(done.exception)) if is_crash else ""
    return {"needs": needs, "command": arguments, "status": done.exit_code, "said": done.stderr.strip(), "crash": crash}


def stop_where_it_would_run() -> None:
    """What would serve or study for minutes ends at its door, after the look at what it needs."""
    from bruit.apps.cli import serve
    from bruit.apps.studies import registry

    setattr(serve, "_serve", lambda *arguments: None)  # noqa: B010
    setattr(registry, "import_module", lambda name: sys.exit(0))  # noqa: B010


def main(folder: str, *packages: str) -> None:
    """Writes the files that the commands read, and runs them."""
    os.chdir(folder)
    rows = (f"p{n},{20 + n % 40},{'fm'[n % 2]},{('none', 'flu')[n % 3 == 0]}" for n in range(60))
    table = "\n".join(("id,age,sex,illness", *rows, ""))
    Path("visits").mkdir()
    for path in ("people.csv", "visits/2025.csv"):
        Path(path).write_text(table)
    Path("people.toml").write_text(SCHEMA)
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not PathFinder]
    sys.meta_path.append(WithoutPackages(packages))
    stop_where_it_would_run()
    for needs, command in every_command():
        sys.stdout.write(json.dumps(outcome(needs, command)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
