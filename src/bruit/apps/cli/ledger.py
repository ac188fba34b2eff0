"""`bruit ledger`: creates, shows and exports the ledger of a data set."""

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table, writing
from bruit.apps.steward.statements import noise_words
from bruit.core.neighbours import Neighbours
from bruit.ledger import Ledger, page, recovery, statement
from bruit.ledger.subjects import columns_of
from bruit.privacy import belief

EXAMPLE = examples(
    "bruit ledger create clinic --epsilon 3 --neighbours 'add or remove one' --person id",
    "bruit ledger show",
    "bruit ledger export clinic --folder statements",
)

in_store = click.option(
    "--store",
    envvar="BRUIT_STORE",
    default="sqlite:///bruit.db",
    show_default=True,
    help="The database: sqlite:///file.db or postgresql+psycopg://host/name (or the variable BRUIT_STORE).",
)


@click.group("ledger", epilog=EXAMPLE)
def command() -> None:
    """Create, show and export the book of a data set: it refuses to overspend."""


@command.command(
    epilog=examples("bruit ledger create clinic --epsilon 3 --delta 1e-5 --neighbours 'add or remove one' --person id")
)
@click.argument("name")
@click.option("--epsilon", required=True, help="The total ε: the most that may ever be spent on one person.")
@click.option("--delta", default="0", show_default=True, help="The total δ of the book.")
@click.option(
    "--neighbours",
    required=True,
    type=click.Choice([each.value for each in Neighbours]),
    help="What nobody can tell: whether somebody is in the data at all ('add or remove one'), or what somebody's "
    "records say ('replace one'); 'local' is for answers noised before they are sent.",
)
@click.option("--person", required=True, help="The column that says whose row it is, or 'each row'.")
@click.option(
    "--by", default="basic", show_default=True, help="The accountant, how charges add up: basic, zcdp or rdp:ORDER."
)
@in_store
@json_option
def create(
    *, name: str, epsilon: str, delta: str, neighbours: str, person: str, by: str, store: str, as_json: bool
) -> None:
    """Create a book; nothing happens if it exists already on the same terms."""
    kind, _, order = by.partition(":")
    terms: Any = {"epsilon": epsilon, "delta": delta, "neighbours": Neighbours(neighbours), "person": person}
    ledger = Ledger(name, **terms, by=(kind, order) if order else kind, store=store)
    _show_one(ledger, as_json=as_json)
    if not as_json and (meant := _meaning(ledger.terms.epsilon, ledger.terms.delta)):
        show(meant)


@command.command(name="show", epilog=examples("bruit ledger show", "bruit ledger show clinic"))
@click.argument("name", required=False)
@in_store
@json_option
def show_books(*, name: str | None, store: str, as_json: bool) -> None:
    """Show one book, or all the books of a store."""
    if name is not None:
        _show_one(Ledger.open(name, store), as_json=as_json)
        return
    summaries = [_summary(Ledger.open(each, store)) for each in Ledger.names(store)]
    if as_json:
        print_json(summaries)
        return
    heads = ("book", "ε", "spent", "left", "δ", "neighbours", "person", "by")
    show(table("Books", heads, [[_escape_markup(summary[key]) for key in _COLUMNS] for summary in summaries]))


@command.command(epilog=examples("bruit ledger entries clinic --last 10"))
@click.argument("name")
@click.option("--last", type=click.IntRange(1), help="Show only the last so many entries.")
@in_store
@json_option
def entries(*, name: str, last: int | None, store: str, as_json: bool) -> None:
    """Show every charge: when, what, by whom, the loss, the running total, and whether its answer was stored."""
    ledger = Ledger.open(name, store)
    lines = statement(ledger)["entries"][-last if last else 0 :]
    if as_json:
        print_json(lines)
        return
    if not lines:
        show(escape(f"Nothing was charged to {name} yet."))
        return
    heads = ("", "when, UTC", "what, by whom", "loss", "ε", "running total")
    show(table(escape(f"Entries of {name}"), heads, map(_row, lines)))


@command.command(epilog=examples("bruit ledger export clinic --folder statements"))
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="The folder to write NAME.json and NAME.html to.",
)
@in_store
@json_option
def export(*, name: str, folder: Path, store: str, as_json: bool) -> None:
    """Write the guarantee statement as JSON and HTML: person, neighbours, trust, δ, assumptions, every release."""
    description = statement(Ledger.open(name, store))
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        files = {kind: folder / f"{_file_name(name)}.{kind}" for kind in ("json", "html")}
        files["json"].write_text(json.dumps(description, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        files["html"].write_text(page(description), encoding="utf-8")
    if as_json:
        print_json({kind: str(path) for kind, path in files.items()})
        return
    show(escape(description["promise"]), *(escape(f"Written: {path}") for path in files.values()))


@command.command(epilog=examples("bruit ledger resume clinic --forgotten 0.5"))
@click.argument("name")
@click.option("--forgotten", required=True, help="The ε of everything released after the backup; 0 where nothing was.")
@click.option("--delta", default="0", show_default=True, help="The δ of everything released after the backup.")
@in_store
@json_option
def resume(*, name: str, forgotten: str, delta: str, store: str, as_json: bool) -> None:
    """Charge for what was released after the backup, and let the restored book accept charges again."""
    recovery.resume(name, store, forgotten=forgotten, delta=delta)
    _show_one(Ledger.open(name, store), as_json=as_json)


@command.command(name="repair-clock", epilog=examples("bruit ledger repair-clock clinic"))
@click.argument("name")
@in_store
@json_option
def repair_clock(*, name: str, store: str, as_json: bool) -> None:
    """Accept charges again after a wrong clock dated the last entry in the future; the repair is an entry too."""
    recovery.repair_clock(name, store)
    _show_one(Ledger.open(name, store), as_json=as_json)


LARGE = 10
"""An ε above this is called large when a book is made."""


def _meaning(epsilon: Fraction, delta: Fraction) -> str:
    """What an attacker can come to believe if all of a book is spent; with a δ, only a large ε is explained."""
    if epsilon > LARGE:
        found = belief("0.001", epsilon).high
        certain = "more than 99.9%" if found > 0.999 else f"{found:.1%}"
        return (
            f"ε = {float(epsilon):g} is large: {'even without its δ, ' if delta else ''}whoever gave a fact about one "
            f"person one chance in a thousand can be brought to {certain} by all that this book will ever release."
        )
    if delta:
        return ""
    return (
        f"Whoever gave a fact about one person even odds can be brought to {belief('0.5', epsilon).high:.1%} "
        "by all that this book will ever release, no further."
    )


_TYPED = {
    "unit": "person",
    "accounting": "by",
    "delta_left": "left of delta",
    "odometer": "spent, read at any time (odometer)",
}
"""How each field of a ledger is named in the terminal: as the option that states it, or in words."""

_COLUMNS = ("book", "epsilon", "spent", "left", "delta", "neighbours", "unit", "accounting")


def _escape_markup(value: object) -> object:
    return escape(value) if isinstance(value, str) else value


def _summary(ledger: Ledger) -> dict[str, Any]:
    terms = ledger.terms
    return {
        "book": ledger.name,
        "epsilon": float(terms.epsilon),
        "delta": float(terms.delta),
        "neighbours": terms.neighbours.value,
        "unit": terms.person,
        "accounting": terms.accounting,
        "spent": float(ledger.spent.epsilon),
        "left": float(ledger.remaining.epsilon),
        "delta_left": float(ledger.remaining.delta),
        "odometer": float(ledger.odometer.epsilon),
    }


def _show_one(ledger: Ledger, *, as_json: bool) -> None:
    summary = _summary(ledger)
    if as_json:
        print_json(summary)
        return
    show(
        table(
            escape(f"The book {ledger.name}"),
            ("", "value"),
            [(_TYPED.get(key, key), _escape_markup(value)) for key, value in summary.items()],
        )
    )


def _row(line: dict[str, Any]) -> list[object]:
    epsilon = float(Fraction(line["guarantee"]["epsilon"]))
    columns = columns_of(line["release"])
    about = f" of {', '.join(columns)}" if columns else ""
    place = f" ({line['cell']})" if line["cell"] else ""
    unfinished = "" if line["state"] == "finished" else "; no answer stored"
    return [
        line["number"],
        f"{datetime.fromisoformat(line['when']).astimezone(UTC):%Y-%m-%d %H:%M}",
        escape(f"{line['what']}{about}{place}, {line['who']}{unfinished}"),
        noise_words(line["loss"]["kind"]),
        epsilon,
        line["running_total"]["sum"],
    ]


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
