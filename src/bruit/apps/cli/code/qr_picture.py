"""`bruit code qr`: a symbol, damaged and repaired, as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rich_click as click
from numpy.typing import NDArray

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.codes import qr_symbol, read_qr_symbol

MODULE, QUIET, CAPTION = 6, 4, 26
"""Pixels of a module, modules of the white border, pixels of the line below a symbol."""

INK, DAMAGED, REPAIRED = "#333333", "#D55E00", "#0072B2"


@click.command("qr", epilog=examples("bruit code qr 'noise is a channel' --level H --damage 8 --svg torn.svg"))
@click.argument("text")
@click.option(
    "--level",
    type=click.Choice(["L", "M", "Q", "H"]),
    default="M",
    show_default=True,
    help="How much damage it can repair: L 7 %, M 15 %, Q 25 %, H 30 % of the code words.",
)
@click.option(
    "--damage",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Cover a square of this side, in modules, with noise.",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the symbol as sent, as received and as repaired into this file.",
)
@click.option("--seed", type=int, help="Repeat the same noise; without it the strong source draws.")
@json_option
def qr(*, text: str, level: str, damage: int, svg: Path | None, seed: int | None, as_json: bool) -> None:
    """Write a text as a QR symbol, tear it, and read it by its Reed–Solomon code."""
    sent = qr_symbol(text.encode(), level=level)
    received, rng = sent.copy(), np.random.default_rng(seed)
    corner = received[-damage:, -damage:] if damage else received[:0]
    corner[:] = rng.integers(0, 2, corner.shape, np.uint8).astype(bool)
    found = read_qr_symbol(received)
    if svg is not None:
        with writing(svg):
            svg.write_text(picture(sent, received, found.modules), encoding="utf-8")
    wrong = int(np.count_nonzero(sent != received))
    if as_json:
        document = {"text": found.content.decode(), "modules": sent.shape[0], "modules_wrong": wrong}
        print_json(document | {"codewords_corrected": found.corrected})
        return
    click.echo(f"{found.content.decode()}  ({wrong} modules wrong, {found.corrected} codewords corrected)")


def picture(sent: NDArray[np.bool_], received: NDArray[np.bool_], repaired: NDArray[np.bool_]) -> str:
    """Three symbols side by side: as sent, as received (what is wrong in orange), as repaired (in blue)."""
    side = (sent.shape[0] + 2 * QUIET) * MODULE
    wrong = sent != received
    panels = (("sent", sent, sent & False, INK), ("received", received, wrong, DAMAGED),
              ("repaired", repaired, received != repaired, REPAIRED))  # fmt: skip
    parts = [_panel(at * side, *panel) for at, panel in enumerate(panels)]
    title = "A QR symbol as sent, with a corner torn, and repaired by its Reed–Solomon code"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {3 * side} {side + CAPTION}" role="img"'
    lines = [
        f'{head} aria-labelledby="title" font-family="system-ui, sans-serif">',
        f'  <title id="title">{title}</title>',
    ]
    return "\n".join([*lines, '  <rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])


def _panel(left: int, name: str, modules: NDArray[np.bool_], marked: NDArray[np.bool_], colour: str) -> str:
    """One symbol: dark modules in ink, marked ones in colour (pale where they are light), and its name below."""
    side = (modules.shape[0] + 2 * QUIET) * MODULE
    kinds = ((INK, 1, modules & ~marked), (colour, 1, modules & marked), (colour, 0.25, ~modules & marked))
    paths = [
        f'    <path fill="{fill}" fill-opacity="{opacity}" d="{_squares(which)}"/>'
        for fill, opacity, which in kinds
        if which.any()
    ]
    words = f'    <text x="{side // 2}" y="{side + 8}" text-anchor="middle" font-size="15" fill="{INK}">{name}</text>'
    return "\n".join([f'  <g transform="translate({left} 0)">', *paths, words, "  </g>"])


def _squares(which: NDArray[np.bool_]) -> str:
    return "".join(
        f"M{(column + QUIET) * MODULE} {(row + QUIET) * MODULE}h{MODULE}v{MODULE}h-{MODULE}z"
        for row, column in np.argwhere(which)
    )
