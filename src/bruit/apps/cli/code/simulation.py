"""`bruit code simulate`: the error rates of a code over a channel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import numpy as np
import rich_click as click

from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table, writing
from bruit.codes import (
    Bch,
    Code,
    Convolutional,
    Crc,
    Damm,
    Ean,
    Hamming,
    Iban,
    Isbn,
    LteTurbo,
    Luhn,
    Nir,
    Parity,
    ReedSolomon,
    Repetition,
    Siren,
    Siret,
    Verhoeff,
    finite_length_limit,
    golay,
    ldpc,
    nr,
    nr_polar,
    polar,
    reed_muller,
    shannon_limit,
    simulate,
    wifi,
    wimax,
)
from bruit.codes.limits import KINDS, Kind
from bruit.errors import InvalidArgument

MESSAGE = 1000
"""Message bits of a convolutional code."""

NAMES: dict[str, tuple[str, Callable[[list[str]], Any]]] = {
    "parity": ("parity:7", lambda part: Parity(int(part[0]))),
    "luhn": ("luhn:16", lambda part: Luhn(int(part[0]))),
    "siren": ("siren", lambda _: Siren()),
    "siret": ("siret", lambda _: Siret()),
    "nir": ("nir", lambda _: Nir()),
    "iban": ("iban:FR", lambda part: Iban(part[0])),
    "verhoeff": ("verhoeff:8", lambda part: Verhoeff(int(part[0]))),
    "damm": ("damm:8", lambda part: Damm(int(part[0]))),
    "ean": ("ean:13", lambda part: Ean(int(part[0]))),
    "isbn": ("isbn:13", lambda part: Isbn(int(part[0]))),
    "repetition": ("repetition:3", lambda part: Repetition(int(part[0]))),
    "hamming": ("hamming:3", lambda part: Hamming(int(part[0]))),
    "bch": ("bch:31,16", lambda part: Bch(int(part[0]), int(part[1]))),
    "rs": ("rs:255,223", lambda part: ReedSolomon(int(part[0]), int(part[1]))),
    "convolutional": ("convolutional:171,133", lambda part: Convolutional(tuple(int(g, 8) for g in part), MESSAGE)),
    "turbo": ("turbo:1024", lambda part: LteTurbo(int(part[0]))),
    "nr": ("nr:972,1944", lambda part: nr(int(part[0]), int(part[1]))),
    "wifi": ("wifi:648,1/2", lambda part: wifi(int(part[0]), part[1])),
    "wimax": ("wimax:576,1/2", lambda part: wimax(int(part[0]), part[1])),
    "polar": ("polar:512,1024", lambda part: polar(int(part[0]), int(part[1]))),
    "nr_polar": ("nr_polar:64,128", lambda part: nr_polar(int(part[0]), int(part[1]))),
    "nr_polar_downlink": ("nr_polar_downlink:40,108", lambda part: nr_polar(*map(int, part), link="downlink")),
    "golay": ("golay", lambda _: golay()),
    "reed_muller": ("reed_muller:1,5", lambda part: reed_muller(int(part[0]), int(part[1]))),
    "crc": ("crc:100,NR 24A", lambda part: Crc(int(part[0]), part[1])),
    "alist": ("alist:checks.alist", lambda part: ldpc(",".join(part))),
}
"""How a code is written, by kind, and what makes it."""


def code_named(text: str) -> Code:
    """Parses a code written as kind:numbers, such as nr:972,1944."""
    kind, _, rest = text.partition(":")
    try:
        made: Code = NAMES[kind][1](rest.split(","))
    except InvalidArgument:
        raise
    except (KeyError, IndexError, ValueError) as error:
        examples = ", ".join(example for example, _ in NAMES.values())
        raise InvalidArgument(f"{text!r} names no code; write one of {examples}") from error
    return made


def _limits(code: Code, channel: Kind) -> dict[str, float]:
    """What no code of this rate, and nearly no code of this length, can pass; for bits only."""
    if code.symbols != 2 or not 0 < code.rate < 1:
        return {}
    finite = finite_length_limit(code.n, code.k, word_errors=1e-3, kind=channel) if code.n > 50 else None
    return {"shannon_limit": shannon_limit(float(code.rate), channel)} | (
        {"finite_length_limit": finite} if finite else {}
    )


@click.command("simulate", epilog="Example: bruit code simulate nr:972,1944 --levels 1,1.5 --words 2000 --json")
@click.argument("code")
@click.option(
    "--channel", type=click.Choice(KINDS), default="gaussian", show_default=True, help="The family of channels."
)
@click.option("--levels", required=True, help="Eb/N0 in dB, chances of an error or a loss, or values of ε: 1,1.5,2")
@click.option("--word-errors", type=click.IntRange(min=1), default=100, show_default=True, help="Stop a level here.")
@click.option("--words", type=click.IntRange(min=1), default=100_000, show_default=True, help="Send at most so many.")
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), help="Keep what is done, and go on from it.")
@click.option("--seed", type=int, help="Repeat the same draws; without it they come from the strong source.")
@json_option
def simulation(
    *,
    code: str,
    channel: str,
    levels: str,
    word_errors: int,
    words: int,
    file: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Send random messages over a noisy channel and count the words and bits that come out wrong.

    A code is written kind:numbers, such as hamming:3 or nr:972,1944; a kind that is not known lists all of them.
    """
    made, family = code_named(code), cast(Kind, channel)
    try:
        asked = [float(level) for level in levels.split(",")]
    except ValueError as error:
        raise InvalidArgument(f"levels {levels!r}: give numbers such as 1,1.5,2") from error
    rng = None if seed is None else np.random.default_rng(seed)
    kept = nullcontext() if file is None else writing(file)
    with kept, progress(code, quiet=as_json) as on_progress:
        frame = simulate(
            made, family, asked, word_errors=word_errors, words=words, rng=rng, file=file, on_progress=on_progress
        )
    limits = _limits(made, family)
    if as_json:
        print_json({"code": code, "n": made.n, "k": made.k, "channel": channel, **limits, "rows": frame.to_dicts()})
        return
    show(table(f"{code} ({made.n}, {made.k}) over {channel}", frame.columns, frame.rows()))
    for name, level in limits.items():
        show(f"{name.replace('_', ' ')}: {level:.4g}")
