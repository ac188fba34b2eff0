"""The command `bruit`: one file per command, imported when it is called."""

import rich_click as click

from bruit.apps.cli.group import DeferredGroup

COMMANDS = {
    "anonymise": "Make a table coarser, or replace names by pseudonyms, and see what that still gives away.",
    "audit": "Measure from outside what privacy every mechanism really gives.",
    "belief": "What an attacker may come to believe after an answer of a given ε.",
    "budget": "The ε of a training run before it starts.",
    "code": "Encode, decode and explain error-correcting codes and check digits.",
    "data": "List and fetch the public data sets of the studies; write a table to try things on.",
    "demo": "A tour, offline, that writes one page with figures.",
    "ledger": "Create, show and export the book of a data set.",
    "memory": "The memory of a training step, private or not, before there is a card.",
    "release": "Release a private statistic of a file, paid from a book.",
    "risk": "What a table gives away: identifiers, uniques, k, l, t, and a private way out.",
    "serve": "Serve polls, the budget explorer, the workbench and the studies to browsers.",
    "study": "Run a study of the source documents.",
    "survey": "Plan, randomise, estimate and decode a survey.",
}
"""Every command with its one line of help: `bruit --help` loads none of them."""


@click.group(cls=DeferredGroup, package="bruit.apps.cli", lines=COMMANDS)
@click.version_option(package_name="bruit")
def main() -> None:
    """Noise you add to protect people, and noise you remove to hear the truth."""


__all__ = ["COMMANDS", "main"]
