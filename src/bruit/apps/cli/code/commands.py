"""`bruit code`: encode, decode and explain error-correcting codes and check digits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rich_click as click

from bruit.apps.cli.code.packets import raptorq
from bruit.apps.cli.code.qr_picture import qr
from bruit.apps.cli.code.simulation import simulation
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, writing
from bruit.codes import (
    Damm,
    Decoded,
    Ean,
    Hamming,
    Iban,
    Isbn,
    Luhn,
    Nir,
    Parity,
    ReedSolomon,
    Repetition,
    Siren,
    Siret,
    Verhoeff,
    spell,
    unspell,
)
from bruit.codes.envelopes import envelope, open_envelope
from bruit.codes.reed_solomon.worked_example import explain as explain_word
from bruit.codes.worked_steps import (
    automaton_steps,
    compact,
    hamming_steps,
    iban_steps,
    luhn_steps,
    nir_steps,
    parity_steps,
    repetition_steps,
)
from bruit.errors import InvalidArgument

EXAMPLE = examples(
    "bruit code hamming encode 1011",
    "bruit code rs decode 1 3 3 --k 1 --explain",
)
ENCODE_OR_DECODE = click.Choice(["encode", "decode"])
CHECK_OR_COMPLETE = click.Choice(["check", "complete"])
WRONG = 1
"""The exit status of a number that fails its check and of a word that cannot be decoded."""

explain_option = click.option("--explain", is_flag=True, help="Print every step.")


@click.group("code", epilog=EXAMPLE)
def command() -> None:
    """Encode, decode and explain error-correcting codes and check digits.

    A number that fails its check and a word that cannot be decoded end with exit status 1.
    """


command.add_command(simulation)
command.add_command(raptorq)
command.add_command(qr)


def _bits(text: str) -> list[int]:
    found = text.replace(" ", "")
    if not found or set(found) - {"0", "1"}:
        raise InvalidArgument(f"{text!r} is no word of bits: write 0 and 1")
    return [int(bit) for bit in found]


def _join_symbols(symbols: Any, between: str = "") -> str:
    return between.join(map(str, np.asarray(symbols).tolist()))


def _tell(document: dict[str, Any], line: str, steps: list[str], *, as_json: bool, good: bool = True) -> None:
    """Prints one answer, with its steps where there are any; exit status 1 where it is a refusal."""
    if as_json:
        print_json(document | ({"steps": steps} if steps else {}))
    else:
        for text in [*steps, line]:
            click.echo(text)
    if not good:
        raise SystemExit(WRONG)


def _tell_decoded(found: Decoded, steps: list[str], *, between: str, as_json: bool) -> None:
    good = bool(found.decoded)
    document = {
        "message": found.message.tolist(),
        "word": found.word.tolist(),
        "corrected": int(found.corrected),
        "positions": found.positions.tolist(),
        "decoded": good,
        "checks_left": None if found.checks is None else int(found.checks),
    }
    line = _join_symbols(found.message, between) if good else "not decoded: more is wrong than this code can correct"
    _tell(document, line, steps, as_json=as_json, good=good)


@command.command("hamming", epilog=examples("bruit code hamming decode 1001010 --explain"))
@click.argument("action", type=ENCODE_OR_DECODE)
@click.argument("word")
@click.option("--checks", type=int, default=None, help="How many check bits; if absent, the fewest that fit the word.")
@click.option(
    "--rows",
    default=None,
    help="The rows of the parity part P of the generator matrix [I | P], such as 110,101,011,111.",
)
@click.option("--extended", is_flag=True, help="Add one bit, by which two errors are noticed.")
@explain_option
@json_option
def hamming(
    *, action: str, word: str, checks: int | None, rows: str | None, extended: bool, explain: bool, as_json: bool
) -> None:
    """Encode a message or decode a word of a Hamming code, the message first."""
    bits = _bits(word)
    stated = tuple(rows.split(",")) if rows else None
    if checks is None:
        checks = len(stated[0]) if stated else _checks_for(len(bits), action, extended=extended)
    code = Hamming(checks, rows=stated, extended=extended)
    if action == "decode":
        _tell_decoded(code.decode(bits), hamming_steps(code, bits) if explain else [], between="", as_json=as_json)
        return
    sent = code.encode(bits)
    steps = [f"P          {' '.join(_join_symbols(row) for row in code.parity)}"] if explain else []
    _tell({"word": sent.tolist(), "n": code.n, "k": code.k}, _join_symbols(sent), steps, as_json=as_json)


def _checks_for(length: int, action: str, *, extended: bool) -> int:
    """The checks of the code whose messages or words have this length."""
    for checks in range(2, 17):
        n = 2**checks - 1
        if length == (n - checks if action == "encode" else n + extended):
            return checks
    raise InvalidArgument(
        f"{length} bits fit no whole Hamming code: messages have 1, 4, 11, 26… and words 3, 7, 15, 31…; "
        "state --rows for a shortened one"
    )


@command.command("repetition", epilog=examples("bruit code repetition decode '100 111 110 001 110 000'"))
@click.argument("action", type=ENCODE_OR_DECODE)
@click.argument("word")
@click.option(
    "--times", type=click.IntRange(min=1), default=3, show_default=True, help="How many copies of every bit are sent."
)
@explain_option
@json_option
def repetition(*, action: str, word: str, times: int, explain: bool, as_json: bool) -> None:
    """Say every bit several times, or believe what most copies say."""
    bits = _bits(word)
    if action == "encode":
        sent = Repetition(times, k=len(bits)).encode(bits)
        _tell({"word": sent.tolist()}, _join_symbols(sent), [], as_json=as_json)
        return
    if len(bits) % times:
        raise InvalidArgument(f"{len(bits)} bits are no whole number of groups of {times}")
    code = Repetition(times, k=len(bits) // times)
    _tell_decoded(code.decode(bits), repetition_steps(code, bits) if explain else [], between="", as_json=as_json)


@command.command("rs", epilog=examples("bruit code rs encode 3 --n 3", "bruit code rs decode 1 3 3 --k 1 --explain"))
@click.argument("action", type=ENCODE_OR_DECODE)
@click.argument("symbols", nargs=-1, type=int, required=True)
@click.option("--n", "length", type=int, help="How many symbols a word has (encode).")
@click.option("--k", "message", type=int, help="How many symbols a message has (decode).")
@click.option("--bits", type=int, help="How many bits a symbol has; if absent, the fewest that fit the word.")
@click.option(
    "--polynomial",
    type=lambda text: int(text, 0),
    metavar="INTEGER",
    help="The field's polynomial as bits, such as 0x11d.",
)
@click.option(
    "--first-root",
    type=int,
    default=1,
    show_default=True,
    help="The generator polynomial's first root, as a power of α.",
)
@click.option("--step", type=int, default=1, show_default=True, help="Use α to this power as the primitive element.")
@click.option("--erasures", default="", help="The positions of lost symbols, counted from 0, such as 0,5 (decode).")
@explain_option
@json_option
def reed_solomon(
    *,
    action: str,
    symbols: tuple[int, ...],
    length: int | None,
    message: int | None,
    bits: int | None,
    polynomial: int | None,
    first_root: int,
    step: int,
    erasures: str,
    explain: bool,
    as_json: bool,
) -> None:
    """Encode a message or decode a word of a Reed–Solomon code; symbols are numbers, the message first."""
    n, k = (length, len(symbols)) if action == "encode" else (len(symbols), message)
    if n is None or k is None:
        raise InvalidArgument("state --n to encode and --k to decode: the length of the word, and of the message")
    code = ReedSolomon(n, k, bits=bits, polynomial=polynomial, first_root=first_root, step=step)
    if action == "encode":
        sent = code.encode(symbols)
        steps = [f"generator  {_join_symbols(code.generator, ' ')}  (highest degree first)"] if explain else []
        _tell({"word": sent.tolist(), "n": n, "k": k}, _join_symbols(sent, " "), steps, as_json=as_json)
        return
    lost = _places(erasures)
    steps = explain_word(code, symbols, erasures=lost).lines() if explain else []
    _tell_decoded(code.decode(symbols, erasures=lost), steps, between=" ", as_json=as_json)


def _places(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise InvalidArgument(f"erasures {text!r}: give whole numbers such as 0,5") from error


def _check_or_complete(scheme: Any, steps: Callable[[str], list[str]]) -> Callable[..., None]:
    """The body that every scheme of check digits shares."""

    def run(*, action: str, number: str, explain: bool, as_json: bool, scheme: Any = scheme) -> None:
        if action == "complete":
            whole = scheme.complete(number)
            _tell({"number": whole}, whole, steps(whole) if explain else [], as_json=as_json)
            return
        good = bool(scheme.valid(number))
        document = {"number": compact(number), "valid": good, "chance": str(scheme.chance)}
        line = "valid" if good else f"not valid (a random number would pass once in {float(1 / scheme.chance):.4g})"
        _tell(document, line, steps(number) if explain else [], as_json=as_json, good=good)

    return run


def _scheme(name: str, line: str, example: str, scheme: Any, steps: Callable[[str], list[str]]) -> None:
    """Adds a command that checks and completes numbers of one kind."""
    _add(name, line, example, _check_or_complete(scheme, steps))


def _add(name: str, line: str, example: str, run: Any) -> None:
    run.__doc__ = line
    for decorate in (
        json_option,
        explain_option,
        click.argument("number"),
        click.argument("action", type=CHECK_OR_COMPLETE),
    ):
        run = decorate(run)
    command.command(name, epilog=examples(f"bruit code {name} {example}"))(run)


def _by_length(name: str, line: str, example: str, make: Callable[[int], Any]) -> None:
    """Adds a command for numbers whose scheme depends on their length, check digit included."""

    def run(*, action: str, number: str, explain: bool, as_json: bool) -> None:
        scheme = make(len(compact(number)) + (action == "complete"))
        body = _check_or_complete(scheme, automaton_steps(scheme))
        body(action=action, number=number, explain=explain, as_json=as_json)

    _add(name, line, example, run)


_by_length("verhoeff", "Verhoeff's digit, which notices every swap.", "complete 236 --explain", Verhoeff)
_by_length("damm", "Damm's digit, which notices every swap.", "check 5724 --explain", Damm)
_by_length("ean", "The number under a bar code: EAN, UPC, GTIN.", "check 4006381333931", Ean)
_by_length("isbn", "The number of a book, of 10 or 13 digits.", "complete 0-8044-2957 --explain", Isbn)
_scheme("luhn", "Luhn's check digit, of bank cards.", "check 972-487-086 --explain", Luhn(), luhn_steps)
_scheme("siren", "The nine digits of a French company.", "check 732829320", Siren(), luhn_steps)
_scheme("siret", "The fourteen digits of a French establishment.", "check 73282932000074", Siret(), luhn_steps)
_scheme("nir", "The French social-security number and its key.", "complete 2951099126111 --explain", Nir(), nir_steps)
_scheme("iban", "An international bank account number.", "check FR1420041010050500013M02606", Iban(), iban_steps)


@command.command("parity", epilog=examples("bruit code parity complete 1000001", "bruit code parity check 10000010"))
@click.argument("action", type=CHECK_OR_COMPLETE)
@click.argument("bits")
@explain_option
@json_option
def parity(*, action: str, bits: str, explain: bool, as_json: bool) -> None:
    """One bit that makes the number of ones even."""
    word = _join_symbols(_bits(bits))
    scheme = Parity(len(word) - (action == "check"))
    run = _check_or_complete(scheme, parity_steps)
    run(action=action, number=word, explain=explain, as_json=as_json)


@command.command("spell", epilog=examples("bruit code spell ERREUR", "bruit code spell --back Écho, Roméo"))
@click.argument("words", nargs=-1, required=True)
@click.option("--back", is_flag=True, help="Turn the words back into letters.")
@json_option
def spelling(*, words: tuple[str, ...], back: bool, as_json: bool) -> None:
    """Letters as words that are hard to mishear, and back."""
    text = unspell(" ".join(words)) if back else spell("".join(words))
    _tell({"text": text}, text, [], as_json=as_json)


@command.command("envelope", epilog=examples("bruit code envelope seal report.json report.sealed"))
@click.argument("action", type=click.Choice(["seal", "open"]))
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--checks", type=int, default=32, show_default=True, help="How many check bytes each word of 255 bytes has."
)
@click.option("--erasures", default="", help="The positions of lost bytes, counted from 0, such as 0,5 (open).")
@json_option
def envelope_command(*, action: str, source: Path, target: Path, checks: int, erasures: str, as_json: bool) -> None:
    """Seal a file against damage in transit, or open and repair it."""
    content = source.read_bytes()
    lost = _places(erasures)
    made = (
        envelope(content, checks=checks) if action == "seal" else open_envelope(content, erasures=lost, checks=checks)
    )
    with writing(target):
        target.write_bytes(made)
    document = {"bytes_read": len(content), "bytes_written": len(made)}
    _tell(document, f"{len(content)} bytes read, {len(made)} written to {target}", [], as_json=as_json)
