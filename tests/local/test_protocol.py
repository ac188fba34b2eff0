"""What every public protocol must do, of whichever kind: one door in and out of files, and a seed that is told."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit import local
from bruit.errors import BadFile
from bruit.local import LocalProtocol, protocol_from_json, read_protocol, read_reports, tally_files, tally_from_json
from bruit.local.files import joined
from bruit.privacy import Assumption, Guarantee

ANSWERS = ["a", "b", "c"]
ONE_LOSS: dict[str, Any] = {"epsilon": 2}
TWO_LOSSES: dict[str, Any] = {"epsilon": 1, "forever": 2}
FREQUENCIES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("KRR", "SUE", "OUE", "OLH", "BLH", "HadamardResponse", "SubsetSelection"), ONE_LOSS),
    **dict.fromkeys(("LongitudinalKRR", "LongitudinalOUE", "LOLOHA"), TWO_LOSSES),
    **{key: {"epsilon": 2, "hashes": 2, "width": 4} for key in ("CountMeanSketch", "HadamardSketch")},
    "DBitFlip": {"epsilon": 2, "chosen": 2},
    "BasicRappor": {"f": 0.5, "p": 0.25, "q": 0.75},
}
MAKERS: dict[str, Callable[[], LocalProtocol]] = {
    **{
        name: (lambda name=name, said=said: getattr(local, name)(ANSWERS, **said))  # type: ignore[misc]
        for name, said in FREQUENCIES.items()
    },
    "Warner": lambda: local.Warner(epsilon=2),
    "ForcedYes": lambda: local.ForcedYes(),
    "OneBitMean": lambda: local.OneBitMean(0, 10, grid=1, epsilon=2),
    "PiecewiseMean": lambda: local.PiecewiseMean(0, 10, grid=1, epsilon=2, mixed=True),
    "Rappor": lambda: local.Rappor(bits=70, hashes=2, cohorts=2, f=0.5, p=0.25, q=0.75),
}
"""One of each public protocol; a test finds those that miss."""

ELSEWHERE = {"Attributes", "PrefixRounds", "PrefixSearch"}
"""The first takes a table and gives a release for each attribute: its own test below; the others have a folder."""


def public() -> set[str]:
    """The names of all public classes that randomise."""
    things = {name: getattr(local, name) for name in local.__all__}
    return {
        name
        for name, thing in things.items()
        if inspect.isclass(thing) and hasattr(thing, "randomise") and not inspect.isabstract(thing)
    }


def values_of(protocol: LocalProtocol) -> list[Any]:
    """Sixty answers that the protocol takes."""
    if isinstance(protocol, local.FrequencyProtocol):
        return [*protocol.categories.listed] * (60 // len(protocol.categories.listed))
    return [*range(10)] * 6 if isinstance(protocol, local.MeanProtocol) else ANSWERS * 20


def guarantee_of(tally: Any) -> Guarantee:
    """What the release of a tally promises: estimated, or decoded where texts were sent."""
    if isinstance(tally.protocol, local.Rappor):
        return local.decode(tally, ANSWERS).guarantee
    return tally.protocol.estimate(tally).guarantee  # type: ignore[no-any-return]


@pytest.fixture(params=sorted(MAKERS))
def protocol(request: pytest.FixtureRequest) -> LocalProtocol:
    return MAKERS[request.param]()


def test_every_public_protocol_is_tested_here() -> None:
    assert public() == set(MAKERS) | ELSEWHERE
    assert {name: type(make()).__name__ for name, make in MAKERS.items()} == {name: name for name in MAKERS}


def test_a_seed_is_told_in_every_guarantee(protocol: LocalProtocol) -> None:
    values = values_of(protocol)
    seeded = protocol.tally(protocol.randomise(values, rng=np.random.default_rng(1)))
    strong = protocol.tally(protocol.randomise(values))
    assert Assumption.SEEDED in guarantee_of(seeded).assumes
    assert Assumption.SEEDED in guarantee_of(strong + seeded).assumes
    assert Assumption.SEEDED not in guarantee_of(strong).assumes


@pytest.mark.parametrize("how", ["split", "sample", "fake"])
def test_a_seed_is_told_for_several_attributes(how: Any) -> None:
    protocol = local.Attributes({"one": ANSWERS, "two": 3}, epsilon=2, how=how)
    table = {"one": ANSWERS * 20, "two": [0, 1, 2] * 20}
    for rng in (None, np.random.default_rng(1)):
        releases = protocol.estimate(protocol.tally(protocol.randomise(table, rng=rng)))
        assert {Assumption.SEEDED in one.guarantee.assumes for one in releases.values()} == {rng is not None}


def test_one_door_for_every_kind(protocol: LocalProtocol, tmp_path: Path) -> None:
    reports = protocol.randomise(values_of(protocol), rng=np.random.default_rng(1))
    path = tmp_path / "r.parquet"
    local.write_reports(reports, path)
    again, whole = read_reports(path), protocol.tally(reports)
    assert again.protocol == read_protocol(path) == protocol_from_json(json.dumps(protocol.to_json())) == protocol
    assert (type(again), len(again), again.seeded) == (type(reports), len(reports), True)
    assert protocol.tally(again) == whole == tally_files(path) == protocol.empty() + whole
    assert tally_from_json(whole.to_json()) == tally_from_json(json.dumps(whole.to_json())) == whole
    assert protocol.tally(joined([reports, protocol.randomise(values_of(protocol))])).seeded


def test_an_empty_file_tells_its_seed(protocol: LocalProtocol, tmp_path: Path) -> None:
    for rng in (None, np.random.default_rng(1)):
        local.write_reports(protocol.randomise([], rng=rng), tmp_path / "r.parquet")
        assert tally_files(tmp_path / "r.parquet").seeded is (rng is not None)
        assert len(read_reports(tmp_path / "r.parquet")) == 0


@pytest.mark.parametrize(
    "text", ["{", "[]", "3", '{"protocol": []}', '{"protocol": "LocalProtocol"}', '{"protocol": 1}']
)
def test_what_describes_nothing_is_refused(text: str) -> None:
    with pytest.raises(BadFile):
        protocol_from_json(text)
    with pytest.raises(BadFile):
        tally_from_json(text)
    with pytest.raises(BadFile):
        tally_from_json(json.dumps({"protocol": json.loads(text) if text != "{" else {}, "seeded": True}))


def test_rng_is_a_keyword_in_every_public_callable() -> None:
    called = {name: getattr(local, name) for name in local.__all__}
    methods = {
        f"{name}.{method}": function
        for name, kind in called.items()
        if inspect.isclass(kind)
        for method, function in inspect.getmembers(kind, inspect.isfunction)
        if not method.startswith("_") or method == "__init__"
    }
    functions = {name: one for name, one in called.items() if inspect.isfunction(one)} | methods
    assert "KRR.randomise" in functions
    for name, function in functions.items():
        given = inspect.signature(function).parameters.get("rng")
        assert given is None or given.kind is inspect.Parameter.KEYWORD_ONLY, name


def test_every_offer_makes_a_protocol_of_its_kind_within_its_epsilon() -> None:
    for name, offer in local.offers().items():
        protocol = offer.example(1)
        assert type(protocol).__name__ == name
        assert 0 < protocol.epsilon <= 1


def test_every_public_protocol_is_offered_or_protects_nobody() -> None:
    public = {getattr(local, name) for name in local.__all__ if isinstance(getattr(local, name), type)}
    kinds = {kind for kind in public if issubclass(kind, local.LocalProtocol) and not inspect.isabstract(kind)}
    assert {kind.__name__ for kind in kinds if kind.offer is None} == {"ForcedYes"}
