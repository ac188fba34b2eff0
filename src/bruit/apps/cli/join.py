"""`bruit join`: the second collector of a split poll, on its own machine."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json
from bruit.apps.extras import require_extras

EXAMPLE = examples(
    "bruit join https://school.example/collectors/join/… --name 'The library'",
)


@click.command("join", epilog=EXAMPLE)
@click.argument("link")
@click.option("--name", required=True, help="Your name as participants see it on the page.")
@click.option(
    "--store",
    envvar="BRUIT_STORE",
    default="sqlite:///bruit-second.db",
    show_default=True,
    help="Your own database; started again with it, the collector goes on where it was.",
)
@json_option
def command(*, link: str, name: str, store: str, as_json: bool) -> None:
    """Be the second collector of a split poll: hold the halves that the first one cannot read. Experimental.

    Needs no open port: it asks the first collector, waits until the poll is closed, checks every report with it, adds
    noise of its own and publishes the total. Compare the eight words with the participants' page.
    """
    require_extras("bruit join", "collectors", "web")
    web: Any = import_module("bruit.apps.web.collectors.second")
    second = web.SecondCollector(link, store, name=name, say=lambda text: click.echo(text, err=True))
    task = second.task
    click.echo(f"{task.question}\n{task.guarantee}\nYour key: {task.parties[1].words}\nPoll: {task.name}", err=True)
    state = second.follow()
    release = json.loads(second.collector.release) if second.collector.release else None
    if as_json:
        print_json({"poll": task.name, "state": state, "release": release})
    elif release is None:
        click.echo(f"No result: fewer than {task.least_batch} answers counted. All halves were deleted.")
    else:
        for label, value in zip(task.labels, release["value"], strict=True):
            click.echo(f"{label}: {value} ± {release['noise']:.0f}")
