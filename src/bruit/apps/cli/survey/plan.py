"""`bruit survey plan`: chooses a protocol before anyone is asked."""

from __future__ import annotations

import json
from math import isinf
from pathlib import Path
from typing import Any

import rich_click as click
from rich.markup import escape

from bruit.apps.cli.survey.files import require_output
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.local import (
    FrequencyProtocol,
    LocalProtocol,
    Rappor,
    Warner,
    detection_limit,
    offers,
    read_candidates,
)

KINDS: dict[str, Any] = {name: LocalProtocol.kinds[name] for name, offer in sorted(offers().items()) if offer.by_name}
"""Protocols that a list of categories and an epsilon make."""

DIGITS = 4
"""Of an error: two that agree in these are equal."""

NAMES = ("best", *KINDS, "Warner", "Rappor")
EXAMPLES = examples(
    "bruit survey plan --categories single,married,divorced --people 2000 --epsilon 1 --save survey.json",
    "bruit survey plan --protocol Rappor --f 0.5 --p 0.5 --q 0.75 --people 1000000 --save pages.json",
)


@click.command(epilog=EXAMPLES)
@click.option("--categories", help="The allowed answers, separated by commas.")
@click.option("--categories-file", type=click.Path(path_type=Path), help="The allowed answers in a file, one a line.")
@click.option("--other", is_flag=True, help="Count every answer that is not listed as OTHER.")
@click.option(
    "--protocol",
    type=click.Choice(NAMES),
    default="best",
    show_default=True,
    help="The protocol; `best` is the one with the least error.",
)
@click.option("--epsilon", help="The ε of one report.")
@click.option("--people", type=click.IntRange(min=1), help="How many people will answer.")
@click.option(
    "--error",
    type=float,
    help="The half-width of the intervals you want, such as 0.02; shows how many people that needs.",
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How often the intervals hold the truth."
)
@click.option("--bits", type=int, default=128, show_default=True, help="Rappor: how many bits the Bloom filter has.")
@click.option("--hashes", type=int, default=2, show_default=True, help="Rappor: how many bits one value sets.")
@click.option(
    "--cohorts",
    type=int,
    default=16,
    show_default=True,
    help="Rappor: how many groups of people there are, each with hash functions of its own.",
)
@click.option("--f", "permanent", help="Rappor: the chance that a bit is replaced by a fair coin once and for all.")
@click.option("--p", "if_zero", default="0.5", show_default=True, help="Rappor: the chance to report a 0 as 1.")
@click.option("--q", "if_one", default="0.75", show_default=True, help="Rappor: the chance to report a 1 as 1.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Rappor: how many texts will be looked for.",
)
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), help="Save the protocol as JSON.")
@json_option
def plan(*, save: Path | None, as_json: bool, **asked: Any) -> None:
    """Choose a protocol and see what it costs and what it will tell; no data is touched.

    Give two of --epsilon, --people and --error and the third follows. For texts that cannot be listed, take
    --protocol Rappor with --f and --people.
    """
    if save is not None:
        require_output(save, (".json",))
    survey, rows = _rappor(asked) if asked["protocol"] == "Rappor" else _frequencies(asked)
    if save is not None:
        save.write_text(json.dumps(survey.to_json(), ensure_ascii=False, indent=2), encoding="utf-8")
    if as_json:
        print_json({**rows, "saved": None if save is None else str(save), "description": survey.to_json()})
        return
    show(
        table("The plan", ["what", "value"], [(_column_title(name), _describe(value)) for name, value in rows.items()])
    )
    if save is not None:
        show(f"saved {escape(str(save))}")


def _frequencies(asked: dict[str, Any]) -> tuple[LocalProtocol, dict[str, Any]]:
    epsilon, people, error, confidence = (asked[name] for name in ("epsilon", "people", "error", "confidence"))
    if sum(part is not None for part in (epsilon, people, error)) != 2:
        raise InvalidArgument("give two of --epsilon, --people and --error, and the third follows")
    protocol, why = _cheapest(asked) if epsilon is None else _choose(asked, epsilon, people or 1000)
    needed = people or protocol.people_for(error=error, confidence=confidence)
    rows = {
        "protocol": type(protocol).__name__,
        "why": why,
        "categories": ", ".join(protocol.categories.labels),
        "epsilon": float(protocol.epsilon),
        "people": needed,
        "error": protocol.expected_error(needed, confidence=confidence),
        "confidence": confidence,
    }
    return protocol, rows


def _cheapest(asked: dict[str, Any]) -> tuple[FrequencyProtocol, str]:
    """The protocol that reaches the error at the least epsilon; some reach it at none."""
    question = {"error": asked["error"], "people": asked["people"], "confidence": asked["confidence"]}
    least: dict[FrequencyProtocol, float] = {}
    refusal: InvalidArgument | None = None
    for one in _all(asked, "1"):
        try:
            least[one] = one.epsilon_for(**question)
        except InvalidArgument as error:
            refusal = error
    if refusal is not None and not least:
        raise refusal
    best = min(least, key=least.__getitem__)
    return best.at(least[best]), f"it reaches this error at the least epsilon, {least[best]:.4g}"


def _choose(asked: dict[str, Any], epsilon: Exact, people: int) -> tuple[FrequencyProtocol, str]:
    """The protocol whose worst share errs least; of equal ones the one with the shorter report."""
    if asked["protocol"] != "best":
        return _all(asked, epsilon)[0], "it was asked for"
    errors = {one: one.expected_error(people, confidence=asked["confidence"]) for one in _all(asked, epsilon)}
    best = min(errors, key=lambda one: (float(f"{errors[one]:.{DIGITS}g}"), _rank(one)))
    listed = sorted((error, type(one).__name__) for one, error in errors.items() if one is not best)
    others = ", ".join(f"{name} {error:.{DIGITS}g}" for error, name in listed)
    return best, f"its error with {people} people, {errors[best]:.{DIGITS}g}, is the least; the others': {others}"


def _rank(protocol: FrequencyProtocol) -> int:
    offer = protocol.offer
    assert offer is not None
    assert offer.rank is not None  # only ranked protocols are compared
    return offer.rank


def _all(asked: dict[str, Any], epsilon: Exact) -> list[FrequencyProtocol]:
    """The protocol that was asked for, or every protocol that may be the best."""
    name = asked["protocol"]
    if name == "Warner":
        if asked["categories"] not in (None, "no,yes", "yes,no") or asked["categories_file"] or asked["other"]:
            raise InvalidArgument("Warner's question has the answers no and yes; leave --categories out")
        return [Warner(epsilon=epsilon)]
    kinds = [one for one in KINDS.values() if one.offer.rank is not None] if name == "best" else [KINDS[name]]
    return [kind(_categories(asked), epsilon=epsilon, other=asked["other"]) for kind in kinds]


def _categories(asked: dict[str, Any]) -> list[str]:
    listed, file = asked["categories"], asked["categories_file"]
    if (not listed) == (file is None):
        raise InvalidArgument("give the allowed answers, such as --categories yes,no,unsure, or in --categories-file")
    if file is not None:
        return list(read_candidates(file))
    return [text.strip() for text in listed.split(",") if text.strip()]


def _rappor(asked: dict[str, Any]) -> tuple[LocalProtocol, dict[str, Any]]:
    for name in ("categories", "categories_file", "epsilon", "error"):
        if asked[name] is not None:
            raise InvalidArgument(
                f"--{name.replace('_', '-')} is not for Rappor: its noise is --f, --p and --q, and texts need no list"
            )
    if asked["permanent"] is None or asked["people"] is None:
        raise InvalidArgument("Rappor needs --f, such as 0.5, and --people, how many will report")
    noise = {"f": asked["permanent"], "p": asked["if_zero"], "q": asked["if_one"]}
    protocol = Rappor(bits=asked["bits"], hashes=asked["hashes"], cohorts=asked["cohorts"], **noise)
    limit = detection_limit(protocol, people=asked["people"], candidates=asked["candidates"])
    rows = {
        "protocol": "Rappor",
        "epsilon_of_one_report": float(protocol.law.once),
        "epsilon_of_a_value_forever": "inf" if isinf(protocol.law.forever) else float(protocol.law.forever),
        "people": asked["people"],
        "people_in_a_cohort": asked["people"] // asked["cohorts"],
        "candidates": asked["candidates"],
        "least_share_found": limit,
        "limits": "each different value costs epsilon anew; several devices are several respondents; "
        "small cohorts say little and narrow down who reported",
    }
    return protocol, rows


def _column_title(name: str) -> str:
    return "error of the worst share" if name == "error" else name.replace("_", " ")


def _describe(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
