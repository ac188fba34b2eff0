"""`bruit completion`: prints or installs the script by which a shell completes commands and options."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click
from click.shell_completion import get_completion_class

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.errors import InvalidArgument

EXAMPLE = examples(
    "bruit completion --install",
    "bruit completion zsh > _bruit",
)
FILES = {
    "bash": ".local/share/bash-completion/completions/bruit",
    "fish": ".config/fish/completions/bruit.fish",
    "zsh": ".zfunc/_bruit",
}
"""Where each shell looks for the script, from the home folder."""

NEXT = {"zsh": "; in ~/.zshrc, before compinit, stands: fpath+=~/.zfunc"}


@click.command("completion", epilog=EXAMPLE)
@click.argument("shell", type=click.Choice(sorted(FILES)), required=False)
@click.option("--install", is_flag=True, help="Write the script where the shell looks for it, instead of printing it.")
@json_option
def command(*, shell: str | None, install: bool, as_json: bool) -> None:
    """Complete commands and options with the Tab key, in bash, zsh or fish.

    Without a name the shell is the one that you use.
    """
    name = shell or Path(os.environ.get("SHELL", "")).name
    if name not in FILES:
        raise InvalidArgument(f"name your shell: bruit completion {'|'.join(sorted(FILES))}")
    script = script_for(name)
    path = Path.home() / FILES[name]
    if install:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(script, encoding="utf-8")
    if as_json:
        print_json({"shell": name, "script": script, "written": str(path) if install else None})
    elif install:
        click.echo(f"Written: {path}{NEXT.get(name, '')}. It works in the next shell that you open.")
    else:
        click.echo(script)


def script_for(shell: str) -> str:
    """The script for one shell; at each Tab it asks `bruit` itself what fits."""
    kind = get_completion_class(shell)
    assert kind is not None  # every shell of FILES is one that click knows
    return kind(click.Command("bruit"), {}, "bruit", "_BRUIT_COMPLETE").source()
