"""`bruit study`: runs the studies of the source documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import rich_click as click
from rich.markup import escape

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.apps.findings import Findings, Size
from bruit.apps.studies import STUDIES, load
from bruit.apps.studies.book import bind, is_current, page_state, write_index
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.book.provenance import Spent, provenance
from bruit.apps.studies.report import studies_page
from bruit.apps.studies.saved_findings import keep
from bruit.errors import InvalidArgument, MissingData

EXAMPLE = examples(
    "bruit study krr-marital --folder figures",
    "bruit study --all --book docs/results --seed 1",
)


@click.command("study", epilog=EXAMPLE)
@click.argument("names", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Run every study that does not take hours.")
@click.option("--small", is_flag=True, help="Few repeats: seconds instead of minutes.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bruit-studies"),
    show_default=True,
    help="The folder for tables and figures, with a folder for each study.",
)
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@click.option(
    "--book",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also make pages of the book of results there: full size, seeded, only what is not current yet; "
    "with --all without the studies of hours, unless --hours is given.",
)
@click.option(
    "--hours", is_flag=True, help="With --all and --book: also the studies that take hours or a graphics card."
)
@json_option
def command(
    names: Sequence[str],
    *,
    every: bool,
    small: bool,
    folder: Path,
    seed: int | None,
    book: Path | None,
    hours: bool,
    as_json: bool,
) -> None:
    """Run studies of the source documents: tables, figures, one paragraph each, and one page that holds them all.

    Without a name, the studies are listed; with a book and a seed, so are the pages that are older than their code.
    """
    if book is not None and (small or seed is None):
        raise InvalidArgument("--book holds studies at full size that repeat: leave --small out and give a --seed")
    chosen = sorted(STUDIES) if every else list(names)
    if not chosen:
        _list(book, seed, as_json=as_json)
        return
    for name in chosen:
        load(name)  # a wrong name is refused before anything runs
    if book is not None and seed is not None:
        asked = [name for name in chosen if hours or not every or name not in EARLIER]
        left = [name for name in asked if not is_current(name, seed=seed, book=book)]
        _write_book(left, folder, book, seed, as_json=as_json)
        return
    rng = None if seed is None else np.random.default_rng(seed)
    size: Size = "small" if small else "full"
    found = {name: _run(name, folder, size, rng, as_json=as_json) for name in chosen}
    report = folder / "index.html"
    report.write_text(studies_page(found, folder=folder, size=size), encoding="utf-8")
    if as_json:
        print_json({name: {"size": size, **findings.to_json()} for name, findings in found.items()})
    else:
        show(escape(f"All on one page, with figures: {report}"))


def _run(
    name: str,
    folder: Path,
    size: Size,
    rng: np.random.Generator | None,
    *,
    as_json: bool,
    note: Callable[[], object] = lambda: None,
) -> Findings:
    """Runs one study, keeps what it found, and shows it; `note` is called whenever a part of it has ended."""
    with progress(name, quiet=as_json) as tell:

        def on_progress(done: int, total: int) -> None:
            note()
            tell(done, total)

        findings = load(name)(folder / name, size=size, rng=rng, on_progress=on_progress)
    keep(findings, folder / name, size=size)
    if not as_json:
        files = "\n".join(f"  {path}" for path in findings.files)
        show(f"[bold]{name}[/bold]\n{escape(findings.summary)}\n{escape(files)}\n")
    return findings


def _write_book(names: Sequence[str], folder: Path, book: Path, seed: int, *, as_json: bool) -> None:
    """Runs each study with a generator of its own, so that its page does not depend on the others.

    What did not use the whole data of its title is left out of the book; what has no data at all ends no other study.
    """
    bound, without = [], []
    for name in names:
        spent = Spent(folder / name)
        rng = np.random.default_rng(seed)
        try:
            findings = _run(name, folder, "full", rng, as_json=as_json, note=spent.note)
        except MissingData as error:
            click.echo(f"{name} is left out of the book: {error}", err=True)
            without.append(name)
            continue
        if findings.data:
            click.echo(f"{name} is left out of the book: {findings.data}", err=True)
            continue
        bind(name, findings, provenance(name, seed=seed, spent=spent), book=book)
        bound.append(name)
        write_index(book)
    write_index(book)
    if as_json:
        print_json({"book": str(book), "made": bound})
    else:
        show(escape(f"The book: {book / 'index.md'}; pages made now: {', '.join(bound) or 'none'}"))
    if without:
        raise MissingData(f"no page was made of {', '.join(without)}: their data are not here, as told above")


def _list(book: Path | None, seed: int | None, *, as_json: bool) -> None:
    lines = {name: line for name, (_, line, _) in sorted(STUDIES.items())}
    if book is not None and seed is not None:
        _list_pages(lines, book, seed, as_json=as_json)
    elif as_json:
        print_json(lines)
    else:
        show(table("Studies: bruit study NAME", ["name", "what it shows"], list(lines.items())))
        show("The page documents.md of the documentation says which study answers which source document.")


def _list_pages(lines: Mapping[str, str], book: Path, seed: int, *, as_json: bool) -> None:
    pages = {name: page_state(name, seed=seed, book=book) for name in lines}
    if as_json:
        print_json({name: {"shows": line, "page": pages[name]} for name, line in lines.items()})
    else:
        rows = [(name, line, pages[name]) for name, line in lines.items()]
        show(table(escape(f"Pages of the book in {book}"), ["name", "what it shows", "page"], rows))
