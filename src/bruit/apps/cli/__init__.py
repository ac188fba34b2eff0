"""The command `bruit`: one file per command, imported when it is called."""

from importlib import import_module

import rich_click as click

from bruit.errors import BruitError

COMMANDS = {
    "audit": "Measure from outside what privacy every mechanism really gives.",
    "belief": "What an attacker may come to believe after an answer of a given ε.",
    "budget": "The ε of a training run before it starts.",
    "code": "Encode, decode and explain error-correcting codes and check digits.",
    "demo": "A tour in ten seconds, offline.",
    "ledger": "Create, show and export the book of a data set.",
    "study": "Run a study of the source documents.",
    "survey": "Plan, randomise, estimate and decode a survey.",
}
"""Every command with its one line of help: `bruit --help` loads none of them."""


class LazyGroup(click.RichGroup):
    """A group whose commands stand in modules of the same name, each with an object `command`."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Every command, whether its module was loaded or not."""
        return sorted(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command of that name, from its module; `bruit --help` shows a stand-in that only carries the help line."""
        if name not in COMMANDS:
            return None
        if context.protected_args or context.args or context.invoked_subcommand:
            loaded: click.Command = import_module(f"bruit.apps.cli.{name}").command
            return loaded
        return click.Command(name, short_help=COMMANDS[name], help=COMMANDS[name])


@click.group(cls=LazyGroup)
@click.version_option(package_name="bruit")
def main() -> None:
    """Noise you add to protect people, and noise you remove to hear the truth."""


__all__ = ["BruitError", "main"]
