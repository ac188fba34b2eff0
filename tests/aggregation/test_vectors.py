"""Every vector of the specification, byte by byte: an oracle from outside."""

from typing import Any

import numpy as np
import pytest
from aggregation import vdaf

from bruit.aggregation import Prio3, Verification, _kernels
from bruit.aggregation.fields import FIELD128

pytestmark = vdaf.NEEDED


def verifications(scheme: Prio3, vector: dict[str, Any]) -> list[Verification]:
    reports, key = vector["reports"], vdaf.rows([vector["verify_key"]])[0]
    nonces, public = (vdaf.rows([report[name] for report in reports]) for name in ("nonce", "public_share"))
    shares = [vdaf.rows([report["input_shares"][a] for report in reports]) for a in range(scheme.shares)]
    return [scheme.verify(key, a, nonces, public, shares[a]) for a in range(scheme.shares)]


@pytest.mark.parametrize("name", vdaf.WHOLE)
def test_shares_are_those_of_the_specification(name: str) -> None:
    vector = vdaf.load(name)
    scheme, reports = vdaf.scheme_of(name, vector), vector["reports"]
    bits = scheme.circuit.encode([report["measurement"] for report in reports])
    measurements = np.zeros((*bits.shape, 2), np.uint64)
    measurements[..., 0] = bits
    nonces, rand = (vdaf.rows([report[each] for report in reports]) for each in ("nonce", "rand"))
    split = scheme.shard_encoded(measurements, nonces, rand)
    assert vdaf.texts(split.public) == [report["public_share"] for report in reports]
    for aggregator, shares in enumerate(split.shares):
        assert vdaf.texts(shares) == [report["input_shares"][aggregator] for report in reports]


@pytest.mark.parametrize("name", vdaf.WHOLE)
def test_verification_and_sums_are_those_of_the_specification(name: str) -> None:
    vector = vdaf.load(name)
    scheme, reports = vdaf.scheme_of(name, vector), vector["reports"]
    checks = verifications(scheme, vector)
    for aggregator, check in enumerate(checks):
        assert vdaf.texts(check.verifiers) == [report["verifier_shares"][0][aggregator] for report in reports]
    holds, seeds = scheme.decide([check.verifiers for check in checks])
    assert holds.all()
    if scheme.joint:
        assert vdaf.texts(seeds) == [report["verifier_messages"][0] for report in reports]
    accepted = scheme.accept(checks)
    assert accepted.all()
    totals = [scheme.aggregate(check.outputs, accepted) for check in checks]
    assert [scheme.elements.encode(total).hex() for total in totals] == ["".join(each) for each in vector["agg_shares"]]
    assert list(scheme.unshard(totals)) == np.atleast_1d(vector["agg_result"]).tolist()


@pytest.mark.parametrize("name", vdaf.REFUSED)
def test_what_the_specification_refuses_is_refused(name: str) -> None:
    vector = vdaf.load(name)
    scheme = vdaf.scheme_of(name, vector)
    checks = verifications(scheme, vector)
    (failing,) = [step for step in vector["operations"] if not step["success"]]
    if failing["operation"] == "verify_next":  # the message of the round is not the seed that the collector has
        given = vdaf.rows([report["verifier_messages"][0] for report in vector["reports"]])
        assert not (given == checks[failing["aggregator_id"]].seeds).all(axis=1).any()
    else:
        assert not scheme.decide([check.verifiers for check in checks])[0].any()
    if "bad_verifier_message" not in name:
        assert not scheme.accept(checks).any()


def test_the_xof_is_that_of_the_specification() -> None:
    vector = vdaf.load("XofTurboShake128")
    tag, seed = bytes.fromhex(vector["dst"]), bytes.fromhex(vector["seed"])
    prefix = np.frombuffer(len(tag).to_bytes(2, "little") + tag + bytes([len(seed)]), np.uint8)
    binder = vdaf.rows([vector["binder"]])[0]
    sponge, out = np.zeros(26, np.uint64), np.zeros(32, np.uint8)
    _kernels.begin(sponge, prefix, np.frombuffer(seed, np.uint8))
    _kernels.absorb(sponge, binder)
    _kernels.squeeze_seed(sponge, out)
    assert out.tobytes().hex() == vector["derived_seed"]
    elements = np.zeros((vector["length"], 2), np.uint64)
    _kernels.begin(sponge, prefix, np.frombuffer(seed, np.uint8))
    _kernels.absorb(sponge, binder)
    _kernels.finish(sponge)
    _kernels.squeeze_elements(sponge, True, FIELD128.words, elements)
    assert elements.tobytes().hex() == vector["expanded_vec_field128"]
