"""The guarantee statement of a data set, for a data-protection officer's files."""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any

from bruit.core.intervals import Covers
from bruit.core.neighbours import Neighbours
from bruit.ledger.books.entries import Entry
from bruit.ledger.ledger import Ledger
from bruit.ledger.subjects import describe_subject

_MEANING = {
    Neighbours.ADD_OR_REMOVE_ONE: "is in the data or not",
    Neighbours.REPLACE_ONE: "is exchanged for another",
    Neighbours.LOCAL: "gives one answer or another",
}

_PUBLIC = {
    Neighbours.ADD_OR_REMOVE_ONE: "",
    Neighbours.REPLACE_ONE: " How many {units} there are is not hidden.",
    Neighbours.LOCAL: " Who answered is not hidden.",
}

BEYOND = "what one person loses is the sum over all books with their rows; other books are not seen here"

LARGEST_WRITTEN = 700
"""The largest ε whose factor is written out; beyond it floats end."""

_TRUST = {
    Neighbours.ADD_OR_REMOVE_ONE: "a curator who holds the exact data and publishes only what stands below",
    Neighbours.REPLACE_ONE: "a curator who holds the exact data and publishes only what stands below",
    Neighbours.LOCAL: "nobody: each answer is noised before it leaves the person",
}


def statement(ledger: Ledger) -> dict[str, Any]:
    """The statement in JSON types: terms, guarantee, and every entry; rationals as texts."""
    terms, spent, left, promise = ledger.terms, ledger.spent, ledger.remaining, ledger.guarantee
    up_to_now = ledger.odometer
    return {
        "book": ledger.name,
        "promise": sentence(ledger),
        "unit": terms.person,
        "neighbours": terms.neighbours.value,
        "trust": _TRUST[terms.neighbours],
        "beyond": BEYOND,
        "epsilon": str(terms.epsilon),
        "delta": str(terms.delta),
        "accounting": terms.accounting,
        "assumptions": [assumed.value for assumed in promise.assumes],
        "spent": {"epsilon": float(spent.epsilon), "delta": float(spent.delta), spent.measure: float(spent.total)},
        "odometer": {"epsilon": float(up_to_now.epsilon), "delta": float(up_to_now.delta)},
        "left": {"epsilon": float(left.epsilon), "delta": float(left.delta), left.measure: float(left.total)},
        "entries": [describe_entry(line) for line in ledger.entries],
    }


def sentence(ledger: Ledger) -> str:
    """The guarantee of a ledger as one sentence in plain words."""
    terms, rows = ledger.terms, ledger.terms.person == "each row"
    unit = "one row" if rows else f"one person (a value of {terms.person!r})"
    failure = f" and a further {_figure(terms.delta, 3)} (δ)" if terms.delta else ""
    public = _PUBLIC[terms.neighbours].format(units="rows" if rows else "people")
    return (
        "Whatever is released from this book, and however each question depends on the answers before it: "
        f"whether {unit} {_MEANING[terms.neighbours]} changes the probability of any conclusion by at most "
        f"{_factor(terms.epsilon)} (ε = {_figure(terms.epsilon)}){failure}.{public}"
    )


def _factor(epsilon: Fraction) -> str:
    """The factor e^ε; as a power where its digits would say nothing."""
    return f"a factor of {math.exp(epsilon):.4g}" if epsilon <= LARGEST_WRITTEN else "a factor of e to the ε"


def describe_entry(line: Entry) -> dict[str, Any]:
    """One entry in JSON types."""
    total, total_delta = line.total.exact
    release = None if line.release is None else _finite(json.loads(line.release.to_json()))
    return {
        "number": line.number,
        "when": line.when.isoformat(timespec="seconds"),
        "what": line.what,
        "who": line.who,
        "loss": line.loss.to_json(),
        "guarantee": line.guarantee.to_json(),
        "running_total": {"sum": float(total), "delta": float(total_delta)},
        "partition": line.partition,
        "cell": line.cell,
        "accountant": line.accountant,
        "asked": describe_subject(release),
        "state": line.state,
        "release": release,
    }


def page(description: dict[str, Any]) -> str:
    """The statement as one self-contained, printable HTML page."""
    facts = {
        "Unit of protection": description["unit"],
        "Neighbours": description["neighbours"],
        "Trusted": description["trust"],
        "Beyond this book": description.get("beyond", BEYOND),
        "ε of the whole": _number(description["epsilon"]),
        "δ of the whole": _number(description["delta"]),
        "Accounting": description["accounting"],
        "Assumes": ", ".join(description["assumptions"]) or "nothing beyond the above",
        "Spent": _pairs(description["spent"]),
        "Left": _pairs(description["left"]),
    }
    if "odometer" in description:  # statements of 1.0 have none
        facts["Spent up to now, valid whenever it is read"] = _pairs(description["odometer"])
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items())
    lines = "".join(map(_line, description["entries"]))
    heads = "".join(
        f"<th>{head}</th>" for head in ("", "when", "what", "asked of", "who", "ε", "δ", "assumes", "released")
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(description["book"])}</title>'
        f"<style>{_STYLE}</style><h1>Privacy statement: {escape(description['book'])}</h1>"
        f"<p>{escape(description['promise'])}</p><table>{rows}</table><h2>Every charge</h2>"
        f"<table><tr>{heads}</tr>{lines}</table></html>\n"
    )


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.3rem .6rem;"
    "text-align:left;vertical-align:top}td:last-child{overflow-wrap:anywhere}"
)


def _line(entry: dict[str, Any]) -> str:
    guarantee, release = entry["guarantee"], entry["release"]
    place = f" ({entry['partition']}: {entry['cell']})" if entry["partition"] else ""
    released = _without_release(entry) if release is None else f"{release['method']}: {_values(release)}"
    cells = (
        str(entry["number"]),
        entry["when"],
        entry["what"] + place,
        entry.get("asked") or "",
        entry["who"],
        _number(guarantee["epsilon"]),
        _number(guarantee["delta"]),
        ", ".join(guarantee["assumes"]),
        released,
    )
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _without_release(entry: dict[str, Any]) -> str:
    """What to say of an entry without a release; statements of 1.0 do not tell whether it is open."""
    return "paid; releases nothing by itself" if entry.get("state") == "finished" else "charged; nothing was kept"


def _values(release: dict[str, Any]) -> str:
    """Every label with its value and its interval, then what the intervals promise."""
    values, labels, interval = _flat(release["value"]), release["labels"], release["interval"]
    ranges = [""] * len(values) if interval is None else _ranges(interval)
    promised = "" if interval is None else f"; {_coverage(interval)}"
    if not len(values) == len(labels) == len(ranges):
        return f"{release['value']}{', '.join(ranges)}{promised}"
    named = zip(labels, values, ranges, strict=True)
    return ", ".join(f"{label} = {value}{between}" for label, value, between in named) + promised


def _ranges(interval: dict[str, Any]) -> list[str]:
    ends = zip(_flat(interval["low"]), _flat(interval["high"]), strict=True)
    return [f" ({_end(low)} to {_end(high)})" for low, high in ends]


def _coverage(interval: dict[str, Any]) -> str:
    together = "all together" if interval["joint"] else "each"
    whose = interval["covers"] if interval["covers"] == Covers.TABLE else f"the {interval['covers']}"
    return f"intervals at {100 * interval['confidence']:.6g} % {together}, for {whose}"


def _end(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)


def _flat(value: Any) -> list[Any]:
    return [item for each in value for item in _flat(each)] if isinstance(value, list) else [value]


def _number(text: str) -> str:
    return "∞" if text == "inf" else _figure(Fraction(text))


def _figure(number: Fraction, digits: int = 6) -> str:
    """A few digits of a number of any size, also of one that no float can hold."""
    if number == 0 or sys.float_info.min <= abs(number) <= sys.float_info.max:
        return f"{float(number):.{digits}g}"
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.{digits}g}"


def _pairs(amounts: dict[str, float]) -> str:
    names = {"epsilon": "ε", "delta": "δ"}
    return ", ".join(f"{names.get(name, name)} = {value:.6g}" for name, value in amounts.items() if name != "ε")


def _finite(value: Any) -> Any:
    """Replaces infinities, which JSON does not know, by texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
