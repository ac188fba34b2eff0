"""The command `bruit`: one file per command, imported when it is called."""

from typing import Any

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.group import DeferredGroup

COMMANDS = {
    "anonymise": "Make a table coarser, or replace names by pseudonyms, and see what that still gives away.",
    "ask": "Answer a SELECT over a file under its schema, paid from a book.",
    "audit": "Measure from outside what privacy every mechanism really gives.",
    "backup": "Copy a database to one whole file while it is used.",
    "belief": "What an attacker may come to believe after an answer of a given ε.",
    "budget": "The ε of a training run before it starts.",
    "code": "Encode, decode and explain error-correcting codes and check digits.",
    "completion": "Complete commands and options with the Tab key.",
    "data": "List and fetch the public data sets of the studies; write a table to try things on.",
    "demo": "A tour, offline, that writes one page with figures.",
    "join": "Be the second collector of a split poll (experimental).",
    "learn": "Fit a model to a file, paid from a book, and write it with its card.",
    "ledger": "Create, show and export the book of a data set.",
    "look": "Show the curator of a table, and nobody else, how its cells are read.",
    "memory": "Forecast the GPU memory of a training step, private or not, without a GPU.",
    "register": "Register a table, or the next version of it, in its book.",
    "release": "Release a recipe of questions, or one statistic of a file, paid from a book.",
    "restore": "Put a backup back; its books say that they may have forgotten charges.",
    "risk": "What a table gives away: identifiers, uniques, k, l, t, and a private way out.",
    "schema": "Draft the schema of a file, to be completed by hand.",
    "serve": "Serve polls, the budget explorer, the workbench and the studies to browsers.",
    "shuffle": "Mix the reports of a poll before its collector sees them.",
    "study": "Run a study of the source documents.",
    "survey": "Plan, randomise, estimate and decode a survey.",
    "synthesise": "Write a table of invented rows with the patterns of a file, paid from a book.",
    "watch": "Publish a growing folder every period, for one price.",
}
"""Every command with its one line of help: `bruit --help` loads none of them."""


NEXT = examples(
    "bruit demo                      # a tour, offline",
    "bruit data example people.csv   # a table to try things on",
    "bruit schema people.csv         # or a file of your own; then bruit ledger create, bruit ask",
    "bruit serve                     # the same in the browser, and polls",
    title="First steps:",
)
"""What `bruit` alone says to do next."""

HELP: dict[str, Any] = {
    "options_table_column_types": ["required", "opt_long", "opt_short", "help"],
    "options_table_help_sections": ["help", "metavar", "default", "required"],
}
"""What a value looks like stands behind the words on it: beside them it left no room in a narrow terminal."""


@click.group(
    cls=DeferredGroup,
    package="bruit.apps.cli",
    lines=COMMANDS,
    epilog=NEXT,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.rich_config(help_config=HELP)
@click.version_option(package_name="bruit")
def main() -> None:
    """Noise you add to protect people, and noise you remove to hear the truth."""


__all__ = ["COMMANDS", "main"]
