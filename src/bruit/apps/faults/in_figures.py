"""Faults in numbers that are shown: guarantees, forecasts, intervals, ties and accountants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import audit, central, local, tables
from bruit.apps.faults.fault import Check, Fault, Test, check_fault
from bruit.channels import ONE
from bruit.core.guarantee import Guarantee
from bruit.core.losses import Gaussian, Pure, Sampled, Scheme, ZeroConcentrated, parallel
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, REPLACE_ONE
from bruit.errors import NotPrivate
from bruit.ledger import Ledger
from bruit.local.rappor.protocol import Rappor
from bruit.privacy import RenyiBounded, delta, epsilon
from bruit.privacy.groups import LossCurve
from bruit.privacy.pld.distribution import TOLERANCE, trade_offs
from bruit.privacy.pld.dominating_pairs import cases

ROUNDS = 10
REPORTS = 7


def faults() -> Iterator[Fault]:
    """The planted faults, each beside what the package does."""
    listed: tuple[tuple[str, str, Test, Check, Check], ...] = (
        ("guarantee rounded to nearest", "ε = 1.00049 is printed as 1.", "promise", _nearest, _above),
        ("forecast of a public size", "The error of a mean is forecast as if its size were public and it is not.",
         "promise", _cheap_forecast, _true_forecast),
        ("promise of a first report", "Seven reports of one answer are promised what the first one loses.",
         "promise", _first_promised, _all_promised),
        ("a change of mind taken for hidden", "What memoised answers cost is promised to people whose answers changed.",
         "promise", _memories_alone, _fresh_noise),
        ("rounds taken for people", "Ten reports of each respondent are counted as ten respondents.",
         "promise", _rounds_added, _rounds_known),
        ("saved after the report", "A device dies between its report and its file, and counts one value less.",
         "ledger", _saved_late, _saved_early),
        ("ties in the order given", "Canaries with equal scores keep the order that knows who was included.",
         "audit", _kept_order, _drawn_order),
        ("accountant above the sum", "A grid prices a sampled pure loss above its own sum.",
         "promise", _grid_alone, _never_above),
        ("bulk taken for the tail", "A guess far above the tail chooses the grid, and δ at a tiny rate is hundreds of "
         "times too high.", "promise", _loose_delta, _closed_form),
        ("the same part every time", "Of parallel parts the worst is composed, as if a person were in one part of all.",
         "promise", _same_part, _any_part),
        ("k times epsilon for a group", "A family of three keeps the δ of one.",
         "promise", _same_delta, _group_delta),
        ("a family without its failures", "The curve of a book tells nothing of what it keeps for chances of failure.",
         "promise", _curve_alone, _with_failures),
        ("an odometer without its failures", "What may fail is no part of the δ that an odometer's loss may pass with.",
         "promise", _whole_delta, _delta_left),
    )  # fmt: skip
    yield from (check_fault(*each) for each in listed)


SAID = Guarantee(Fraction("1.00049"), Fraction(0), REPLACE_ONE, EACH_ROW, "basic")


def _nearest(_rng: np.random.Generator) -> bool:
    return Fraction(f"{float(SAID.epsilon):.4g}") < SAID.epsilon


def _above(_rng: np.random.Generator) -> bool:
    return Fraction(str(SAID).split()[2]) < SAID.epsilon


FORECAST: dict[str, Any] = {"epsilon": 1, "neighbours": ADD_OR_REMOVE_ONE, "domain": tables.within(0, 100, grid=1)}


def _cheap_forecast(rng: np.random.Generator) -> bool:
    return _mean_noise(rng) > 100 / 2 / 500 * 3  # of a public size: the noise of a sum, over 500


def _true_forecast(rng: np.random.Generator) -> bool:
    return _mean_noise(rng) > central.expected_error("mean", expected_size=500, **FORECAST) * 1.5


def _mean_noise(rng: np.random.Generator) -> float:
    book = Ledger("planted", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    table = tables.read(polars.DataFrame({"x": [50] * 500}), person=EACH_ROW)
    found = central.mean(table["x"].within(0, 100, grid=1), budget=book.budget(epsilon=1), rng=rng)
    return float(np.max(np.asarray(found.noise)))


ASKED = local.LongitudinalKRR(["a", "b"], epsilon=1, forever=2)


def _first_promised(_rng: np.random.Generator) -> bool:
    return ASKED.after(REPORTS) > ASKED.epsilon


def _all_promised(_rng: np.random.Generator) -> bool:
    return ASKED.after(REPORTS) > ASKED.guarantee().epsilon


def _memories_alone(_rng: np.random.Generator) -> bool:
    return _change_seen() > ASKED.states * ASKED.forever


def _fresh_noise(_rng: np.random.Generator) -> bool:
    return _change_seen() > ASKED.after_changes(2 * REPORTS)


def _change_seen() -> float:
    """How well reports that follow a change tell it from one answer given throughout: of both, the law of all."""
    first, second = ASKED.permanent, ASKED.instantaneous
    kept, moved = second.keep / ONE, second.other / ONE
    followed = [kept**REPORTS, moved**REPORTS]
    each = [(first.keep * followed[place] + first.other * followed[1 - place]) / ONE for place in (0, 1)]
    same = (kept * moved) ** REPORTS
    return log(each[0] ** 2 / same)


PARTS = Pure(1, neighbours=ADD_OR_REMOVE_ONE), Gaussian("1.5", neighbours=ADD_OR_REMOVE_ONE)
TIMES = 4


def _same_part(_rng: np.random.Generator) -> bool:
    return _costs_more(max(delta(part * TIMES, epsilon=TIMES, by="pld") for part in PARTS))


def _any_part(_rng: np.random.Generator) -> bool:
    try:
        stated = delta(parallel(*PARTS) * TIMES, epsilon=TIMES, by="pld")
    except NotPrivate:
        stated = delta(parallel(*PARTS) * TIMES, epsilon=TIMES, by="rdp")
    return _costs_more(stated)


def _costs_more(stated: Fraction) -> bool:
    """Whether somebody who was in the first part of all releases but one has lost more."""
    first, second = PARTS
    return delta(first * (TIMES - 1) + second, epsilon=TIMES, by="pld") > stated


def _rounds_added(rng: np.random.Generator) -> bool:
    return _miscovers(rng, known=False)


def _rounds_known(rng: np.random.Generator) -> bool:
    return _miscovers(rng, known=True)


def _miscovers(rng: np.random.Generator, *, known: bool) -> bool:
    """Whether fewer than nine in ten of sixty 95 % intervals hold the share, after ten rounds of 200 respondents."""
    held = 0
    for _ in range(60):
        memoised, tally = ASKED.memoise((rng.random(200) < 0.5).astype(np.int32), rng=rng), ASKED.empty()
        for place in range(ROUNDS):
            tally = tally + ASKED.tally(ASKED.respond(memoised, rng=rng), round=place + 1 if known else 1)
        interval = ASKED.estimate(tally).interval
        assert interval is not None
        held += bool(np.asarray(interval.low)[0] <= 0.5 <= np.asarray(interval.high)[0])
    return held < 54


def _saved_late(rng: np.random.Generator) -> bool:
    return _forgets(rng, late=True)


def _saved_early(rng: np.random.Generator) -> bool:
    return _forgets(rng, late=False)


def _forgets(rng: np.random.Generator, *, late: bool) -> bool:
    """Whether a device that dies after its report knows nothing of what that cost; `late` saves after the report."""
    protocol = Rappor(bits=16, hashes=2, cohorts=1, f="0.5", p="0.5", q="0.75")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        client = local.RapporClient(protocol, path=path, rng=rng)
        before = path.read_bytes()
        client.report("a text", rng=rng)
        if late:
            path.write_bytes(before)
        return local.RapporClient.load(path).distinct != 1


CANARIES = 200


def _coins(rng: np.random.Generator) -> NDArray[np.bool_]:
    return np.sort(rng.random(CANARIES) < 0.5)[::-1]


def _kept_order(rng: np.random.Generator) -> bool:
    """Whether an audit is fooled by ties: equal scores ranked in the order given, included canaries first."""
    return not audit.audit_one_run(-np.arange(CANARIES), _coins(rng), claimed=0.1, alarm=1e-6).passes


def _drawn_order(rng: np.random.Generator) -> bool:
    return not audit.audit_one_run(np.zeros(CANARIES), _coins(rng), claimed=0.1, alarm=1e-6, rng=rng).passes


TINY = Sampled(Pure("0.045871", neighbours=ADD_OR_REMOVE_ONE), rate="0.1409353", scheme=Scheme.POISSON)


def _grid_alone(_rng: np.random.Generator) -> bool:
    found = [trade_offs(counted, [1], 8e-10, TOLERANCE)[0].epsilon(8e-10) for counted in cases(TINY)]
    return max(found) > float(epsilon(TINY, delta=0, by="basic"))


def _never_above(_rng: np.random.Generator) -> bool:
    return epsilon(TINY, delta="8e-10", by="pld") > epsilon(TINY, delta=0, by="basic")


RARE = Sampled(Gaussian("0.7", neighbours=ADD_OR_REMOVE_ONE), rate="0.00001", scheme=Scheme.POISSON)
TRUE_DELTA = 9.1e-13
"""Of RARE at an epsilon of 0.031, by the closed form of one step."""


def _loose_delta(_rng: np.random.Generator) -> bool:
    return float(delta(RARE, epsilon="0.031", by="rdp")) > 1.02 * TRUE_DELTA


def _closed_form(_rng: np.random.Generator) -> bool:
    return float(delta(RARE, epsilon="0.031", by="pld")) > 1.02 * TRUE_DELTA


ONE_PERSON = Guarantee(Fraction(1), Fraction(1, 10**6), LOCAL, EACH_ROW, "pld")


def _too_small(delta: Fraction) -> bool:
    return delta < ONE_PERSON.delta * Fraction(1 + exp(1) + exp(2)) * Fraction(999, 1000)


def _same_delta(_rng: np.random.Generator) -> bool:
    return _too_small(ONE_PERSON.delta)


def _group_delta(_rng: np.random.Generator) -> bool:
    return _too_small(ONE_PERSON.for_people(3).delta)


FAILING: dict[str, Any] = {"delta": "0.05", "failures": "0.04", "neighbours": ADD_OR_REMOVE_ONE, "person": EACH_ROW}
"""Books that keep most of their δ for answers which, with that chance, tell somebody's record."""

BOOK = Ledger("planted", epsilon=1, by="zcdp", **FAILING)
FAMILY = 3


def _curve_alone(_rng: np.random.Generator) -> bool:
    limit = ZeroConcentrated(BOOK.book.limit.exact[0], neighbours=ADD_OR_REMOVE_ONE)
    return _too_rare(replace(BOOK.guarantee, curve=LossCurve(limit, "zcdp")))


def _with_failures(_rng: np.random.Generator) -> bool:
    return _too_rare(BOOK.guarantee)


def _too_rare(promised: Guarantee) -> bool:
    """Whether the stated δ of a family is too small when the failures of its members are independent."""
    return promised.for_people(FAMILY).delta < 1 - (1 - BOOK.terms.failures) ** FAMILY


ORDER, LIKELY, UNLIKELY = 3, 0.04, 1e-6
"""A Rényi order, and the chances of one answer with and without somebody: it comes seldom and tells much."""


def _whole_delta(_rng: np.random.Generator) -> bool:
    return _is_passed(kept="0")


def _delta_left(_rng: np.random.Generator) -> bool:
    return _is_passed(kept="0.04")


def _is_passed(kept: str) -> bool:
    """Whether the loss passes the odometer with a larger chance than δ, failures among it."""
    with_one, without = (np.array([chance, 1 - chance]) for chance in (LIKELY, UNLIKELY))
    divergence = log((with_one**ORDER * without ** (1 - ORDER)).sum()) / (ORDER - 1)
    loss = RenyiBounded(divergence, order=ORDER, neighbours=ADD_OR_REMOVE_ONE)
    book = Ledger("planted", epsilon=20, by=("rdp", ORDER), **(FAILING | {"failures": kept}))
    book.budget(loss).charge(loss, what="planted")
    failing = float(BOOK.terms.failures)
    passed = failing + (1 - failing) * LIKELY * (log(LIKELY / UNLIKELY) > book.odometer.epsilon)
    return bool(passed > book.terms.delta)
