"""`bruit data`: the public data sets of the studies, and a table to try things on."""

from pathlib import Path

import rich_click as click
from rich.markup import escape

from bruit.apps import data
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table, writing
from bruit.errors import InvalidArgument


@click.group("data", epilog=examples("bruit data list", "bruit data fetch adult", "bruit data example people.csv"))
def command() -> None:
    """List and fetch the public data sets of the studies; write an invented table to try things on."""


@command.command("list", epilog=examples("bruit data list --json"))
@json_option
def list_sets(*, as_json: bool) -> None:
    """Show every data set: what it is, and where its files are on this machine."""
    places = {name: _places(each) for name, each in data.CATALOGUE.items()}
    if as_json:
        print_json(
            [{"name": name, "what": data.CATALOGUE[name].what, "files": files} for name, files in places.items()]
        )
        return
    lines = [
        (name, data.CATALOGUE[name].what, escape("\n".join(f"{file}: {place}" for file, place in files.items())))
        for name, files in places.items()
    ]
    show(table("Data sets", ("name", "what it is", "where"), lines))


@command.command(epilog=examples("bruit data fetch", "bruit data fetch adult mnist"))
@click.argument("names", nargs=-1)
@json_option
def fetch(*, names: tuple[str, ...], as_json: bool) -> None:
    """Fetch data sets from their publishers, or a mirror, into the cache; every file is checked by its digest.

    Flowers are cropped to squares, too.

    Without a name, all of them.
    """
    if unknown := sorted(set(names) - set(data.CATALOGUE)):
        raise InvalidArgument(f"no data set {unknown[0]!r}; choose among {', '.join(data.CATALOGUE)}")
    found: dict[str, str] = {}
    with progress("Fetching", quiet=as_json) as on_progress:
        for number, name in enumerate(chosen := names or tuple(data.CATALOGUE), 1):
            found |= _fetched(data.CATALOGUE[name])
            on_progress(number, len(chosen))
    if as_json:
        print_json(found)
    else:
        show(*(escape(f"{name}: {path}") for name, path in found.items()))


@command.command(epilog=examples("bruit data example people.csv --rows 500"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default=Path("people.csv"))
@click.option(
    "--rows", type=click.IntRange(1, 10_000_000), default=2000, show_default=True, help="How many made-up people."
)
@json_option
def example(*, file: Path, rows: int, as_json: bool) -> None:
    """Write a table of people who do not exist, as CSV or Parquet by the name of the file."""
    if file.suffix not in {".csv", ".parquet"}:
        raise InvalidArgument(f"{file}: end the name with .csv or .parquet")
    if file.exists():
        raise InvalidArgument(f"{file} exists and is left as it is: name another file")
    invented = data.people(rows)
    with writing(file):
        invented.write_csv(file) if file.suffix == ".csv" else invented.write_parquet(file)
    if as_json:
        print_json({"file": str(file), "rows": rows, "columns": invented.columns})
    else:
        show(escape(f"{rows} invented people in {file}: {', '.join(invented.columns)}"))


def _fetched(each: data.DataSet) -> dict[str, str]:
    """Where the files are, or what was made of them."""
    if each.prepare is not None:
        made = each.prepare()
        return {made.name: str(made)}
    return {file.path: str(data.find(file)) for file in each.files}


def _places(each: data.DataSet) -> dict[str, str]:
    return {file.path: str(data.place(file) or "not here yet") for file in each.files}
