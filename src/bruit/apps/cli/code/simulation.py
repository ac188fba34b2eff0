"""`bruit code simulate`: the error rates of a code over a channel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table, writing
from bruit.codes import (
    Bch,
    CcsdsTurbo,
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
    RaptorQ,
    ReedSolomon,
    Repetition,
    Siren,
    Siret,
    Verhoeff,
    ccsds,
    dvb_s2,
    finite_length_limit,
    golay,
    ldpc,
    nr,
    nr_polar,
    polar,
    qr,
    quadratic_residue,
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

SHORT = 50
"""Words of so few bits are not held to the normal approximation."""


def _convolutional(*generators: int | str, k: int = MESSAGE, feedback: int | str = 0, **more: Any) -> Convolutional:
    """A convolutional code whose generators and feedback are written in octal, as in the literature."""
    return Convolutional(tuple(int(str(mask), 8) for mask in generators), k, int(str(feedback), 8), **more)


NAMES: dict[str, tuple[str, Callable[..., Any]]] = {
    "parity": ("parity:7", Parity),
    "luhn": ("luhn:16", Luhn),
    "siren": ("siren", Siren),
    "siret": ("siret", Siret),
    "nir": ("nir", Nir),
    "iban": ("iban:FR", Iban),
    "verhoeff": ("verhoeff:8", Verhoeff),
    "damm": ("damm:8", Damm),
    "ean": ("ean:13", Ean),
    "isbn": ("isbn:13", Isbn),
    "repetition": ("repetition:3", Repetition),
    "hamming": ("hamming:3", Hamming),
    "bch": ("bch:31,16", Bch),
    "rs": ("rs:255,223", ReedSolomon),
    "ccsds": ("ccsds", ccsds),
    "qr": ("qr:44,16", qr),
    "raptorq": ("raptorq:100,120", RaptorQ),
    "convolutional": ("convolutional:171,133", _convolutional),
    "turbo": ("turbo:1024,3000", lambda k, length=None, **more: LteTurbo(k, length=length, **more)),
    "ccsds_turbo": ("ccsds_turbo:1784,1/3", CcsdsTurbo),
    "nr": ("nr:972,1944", nr),
    "wifi": ("wifi:648,1/2", wifi),
    "wimax": ("wimax:576,1/2", wimax),
    "dvb_s2": ("dvb_s2:16200,3/4", dvb_s2),
    "polar": ("polar:512,1024,paths=8", polar),
    "nr_polar": ("nr_polar:64,128", nr_polar),
    "golay": ("golay", golay),
    "reed_muller": ("reed_muller:1,5", reed_muller),
    "quadratic_residue": ("quadratic_residue:47", quadratic_residue),
    "crc": ("crc:100,NR 24A", Crc),
    "alist": ("alist:checks.alist", ldpc),
}
"""How a code is written, by kind, and what makes it from the same arguments in Python."""


def code_named(text: str) -> Code:
    """Parses a code written as kind:numbers and options, such as nr:972,1944 or polar:512,1024,paths=1."""
    kind, _, rest = text.partition(":")
    parts = [part.rpartition("=") for part in rest.split(",") if part]
    try:
        given = [_value(part) for name, _, part in parts if not name]
        made: Code = NAMES[kind][1](*given, **{name: _value(part) for name, _, part in parts if name})
    except InvalidArgument:
        raise
    except (KeyError, IndexError, ValueError, TypeError) as error:
        examples = ", ".join(example for example, _ in NAMES.values())
        raise InvalidArgument(f"{text!r} names no code; write one of {examples}") from error
    return made


def _value(text: str) -> int | float | str:
    """A whole number such as 8 or 0x11d, another number, or a name."""
    for read in (int, float, lambda number: int(number, 16) if number.startswith("0x") else number):
        with suppress(ValueError):
            return cast("int | float | str", read(text))
    return text


def _limits(code: Code, channel: Kind) -> dict[str, float]:
    """What no code of this rate, and nearly no code of this length, can pass; for bits only."""
    if code.symbols != 2 or not 0 < code.rate < 1:
        return {}
    limits = {"shannon_limit": shannon_limit(float(code.rate), channel)}
    if code.n <= SHORT:
        return limits
    with suppress(InvalidArgument):  # it grants no level to a code of very few message bits
        limits["finite_length_limit"] = finite_length_limit(code.n, code.k, word_errors=1e-3, kind=channel)
    return limits


@click.command("simulate", epilog=examples("bruit code simulate nr:972,1944 --levels 1,1.5 --words 2000 --json"))
@click.argument("code")
@click.option(
    "--channel", type=click.Choice(KINDS), default="gaussian", show_default=True, help="The kind of noise on the line."
)
@click.option(
    "--levels",
    required=True,
    help="The noise levels to try, such as 1,1.5,2: Eb/N0 in dB, chances of an error or a loss, or values of ε.",
)
@click.option(
    "--word-errors",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Go on to the next level after so many wrong words.",
)
@click.option(
    "--words",
    type=click.IntRange(min=1),
    default=100_000,
    show_default=True,
    help="Send at most so many words at each level.",
)
@click.option(
    "--file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep finished levels in this file, and go on from it.",
)
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

    A code is written kind:numbers, such as hamming:3 or nr:972,1944, with options as in Python behind them:
    polar:512,1024,paths=1. A kind that is not known lists all of them.
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
