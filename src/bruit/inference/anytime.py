"""Evidence that may be looked at every day: e-values from daily noisy counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from bruit.channels import ratio_of
from bruit.core.losses import DiscreteLaplace
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import AddedNoise, Floats, NoiseLaw, NormalNoise, ReportNoise
from bruit.inference.noisy_counts import Axis, Block
from bruit.inference.sources import Source, cells

TILTS: Final = tuple(float(size) for size in np.geomspace(0.02, 2.0, 10))
"""The changes in log odds of one category that make up the alternatives; the bet is shared equally between them."""

REACH: Final = 0.9
"""Tilts above this share of 1 / scale are left out: beyond 1 / scale, Laplace noise has no exponential moments."""


def e_values(sources: Sequence[Source], *, null: Mapping[str, float]) -> Floats:
    """The evidence against stated shares after each day's counts, one e-value a day; stop whenever it is large enough.

    Whoever rejects the null when an e-value first reaches 20 is wrong with chance at most 1/20, however often and for
    however long they look; it needs people of their own every day. [Ville 1939; Ramdas et al. 2023]

    With log ratios l = log(p1 / p0) one person multiplies exp(l . counts) by 1 on average under the null, so their
    number, private as it is, does not matter; noise multiplies it by its own exponential moment, which is known:
    e = exp(l . noisy counts) / E exp(l . noise). The bet is shared equally among small and large changes of each
    category.
    """
    tables = [cells(source) for source in sources]
    if not tables:
        raise InvalidArgument("give the counts of one day at least")
    logs: Floats = np.zeros(1)
    found = []
    for table in tables:
        table.require_axes(1, "an e-value")
        (block,) = table.blocks
        logs = logs + _log_bets(block, _shares(table.axes[0], null))
        largest = float(np.max(logs))
        found.append(float(np.exp(largest) * np.mean(np.exp(logs - largest))))
    return np.array(found)


def _shares(axis: Axis, null: Mapping[str, float]) -> Floats:
    if set(null) != set(axis.labels):
        raise InvalidArgument(f"null={sorted(null)}: give the share of each of {', '.join(axis.labels)}")
    shares = np.array([float(null[label]) for label in axis.labels])
    if (shares <= 0).any() or abs(shares.sum() - 1) > 1e-9:
        raise InvalidArgument("null: shares are above zero and add up to one")
    return shares


def _alternatives(shares: Floats) -> Floats:
    """Shares with the odds of one category raised or lowered, one a row."""
    sizes = np.concatenate([np.array(TILTS), -np.array(TILTS)])
    tilted = shares * np.exp(np.eye(shares.size)[:, None, :] * sizes[None, :, None])
    return np.asarray((tilted / tilted.sum(-1, keepdims=True)).reshape(-1, shares.size))


def _log_bets(block: Block, null: Floats) -> Floats:
    """The logarithm of what each alternative's bet of one is worth after a day; one that cannot be paid stays one."""
    others, values = _alternatives(null), block.values.reshape(-1)
    if isinstance(block.law, ReportNoise):
        if not block.law.one_place:
            raise InvalidArgument("an e-value of randomised answers needs reports of one answer each: KRR or Warner")
        support = block.law.support
        reports = support.gap * values + block.law.people * support.false
        return np.asarray(np.log(support.mix(others) / support.mix(null)) @ reports)
    ratios = np.log(others / null)
    return np.asarray(np.where(_payable(block.law, ratios), ratios @ values - _log_moments(block.law, ratios), 0.0))


def _payable(law: NoiseLaw, ratios: Floats) -> Floats:
    if not isinstance(law, AddedNoise) or not isinstance(law.noise.loss, DiscreteLaplace):
        return np.ones(len(ratios), bool)
    return np.asarray(np.abs(ratios).max(1) * float(law.noise.loss.scale) < REACH)


def _log_moments(law: NoiseLaw, ratios: Floats) -> Floats:
    """The logarithm of E exp(l . noise); discrete Gaussian noise has no larger one than normal noise.

    [Canonne, Kamath and Steinke 2020]
    """
    if isinstance(law, AddedNoise) and isinstance(law.noise.loss, DiscreteLaplace):
        ratio = ratio_of(float(law.noise.loss.scale))
        inside = np.clip(ratios, -REACH * -np.log(ratio), REACH * -np.log(ratio))
        grown = 4 * ratio / (1 - ratio) ** 2 * np.sinh(inside / 2) ** 2
        return np.asarray(-np.log1p(-grown).sum(1))
    assert isinstance(law, AddedNoise | NormalNoise)
    return np.asarray(law.variance * np.square(ratios).sum(1) / 2)
