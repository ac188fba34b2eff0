"""Alternates ours and the peers in fresh processes and makes the rows."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.case import Case, Peer
from benchmarks.environments import ROOT, NoPeers, last_line, python_of_peers

THREAD_SETTINGS = (
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
OURS = -1

Say = Callable[[str], None]


@dataclass
class Side:
    """The figures of ours, or of one peer, over the rounds."""

    number: int
    python: str = sys.executable
    figures: list[float] = field(default_factory=list)
    trouble: str = ""
    most: float = math.inf

    @property
    def median(self) -> float | None:
        """The middle figure; None where the side could not run."""
        return statistics.median(self.figures) if self.figures and not self.trouble else None

    @property
    def spread(self) -> float | None:
        """The range of the middle half of the figures as a share of the median."""
        if self.median is None or len(self.figures) < 2 or self.median == 0:
            return None
        low, _, high = statistics.quantiles(self.figures, n=4, method="inclusive")
        return (high - low) / self.median


def rows(area: str, case: Case, *, rounds: int, say: Say) -> list[dict[str, object]]:
    """The rows of one case: one a peer, or one without any."""
    sides = [Side(OURS), *(_side(area, number, peer) for number, peer in enumerate(case.peers))]
    for turn in range(case.rounds or rounds):
        for side in sides if turn % 2 == 0 else reversed(sides):
            if not side.trouble and turn < side.most:
                say(f"{case.name}: round {turn + 1}, {'ours' if side.number < 0 else case.peers[side.number].name}")
                _play(area, case, side)
    return _table(case, sides)


def _side(area: str, number: int, peer: Peer) -> Side:
    most = math.inf if peer.rounds is None else peer.rounds
    if peer.here or peer.ours:
        return Side(number, most=most)
    try:
        return Side(number, python=str(python_of_peers(area)), most=most)
    except NoPeers as error:
        return Side(number, trouble=str(error))


def _play(area: str, case: Case, side: Side) -> None:
    command = [side.python, "-m", "benchmarks.work", area, case.name, str(side.number)]
    ended = subprocess.run(command, cwd=ROOT, env=_surroundings(case), capture_output=True, text=True, check=False)
    if ended.returncode:
        side.trouble = last_line(ended.stderr)
        return
    told = json.loads(ended.stdout.splitlines()[-1])
    if told["bruit"] and side.number != OURS and not case.peers[side.number].ours:
        side.trouble = "the peer's process imported bruit"
        return
    side.figures.append(told["figure"])


def _surroundings(case: Case) -> dict[str, str]:
    beside = ROOT.parent / "shared" / "data"
    data = {"BRUIT_DATA": str(beside)} if beside.is_dir() else {}
    threads = {} if case.threads is None else dict.fromkeys(THREAD_SETTINGS, str(case.threads))
    return {**data, **os.environ, **threads}


def _table(case: Case, sides: Sequence[Side]) -> list[dict[str, object]]:
    ours, others = sides[0], sides[1:]
    if not others:
        return [_row(case, ours, None)]
    return [_row(case, ours, other) for other in others]


def _row(case: Case, ours: Side, other: Side | None) -> dict[str, object]:
    peer = None if other is None else case.peers[other.number]
    figure, against = ours.median, None if other is None else other.median
    ratio = None if figure is None or against is None else case.ratio(figure, against)
    return {
        "name": case.name,
        "unit": case.unit,
        "better": case.better,
        "ours": figure,
        "peer": against,
        "peer_name": None if peer is None else peer.name,
        "ratio": ratio,
        "goal": _goal(case, peer),
        "met": _met(case, peer, figure, ratio),
        "ours_spread": ours.spread,
        "peer_spread": None if other is None else other.spread,
        "trouble": "; ".join(side.trouble for side in (ours, other) if side is not None and side.trouble),
    }


def _goal(case: Case, peer: Peer | None) -> str:
    sign = "≥" if case.better == "higher" else "≤"
    figure = [] if case.goal is None else [f"ours {sign} {case.goal:.4g} {case.unit}"]
    times = [] if peer is None or peer.times is None else [f"ratio ≥ {peer.times:.4g}"]
    return " and ".join(figure + times)


def _met(case: Case, peer: Peer | None, ours: float | None, ratio: float | None) -> bool | None:
    """Whether every goal is reached; None where there is none or it could not be measured."""
    verdicts: list[bool | None] = []
    if case.goal is not None:
        verdicts.append(None if ours is None else case.reaches(ours, case.goal))
    if peer is not None and peer.times is not None:
        verdicts.append(None if ratio is None else ratio >= peer.times)
    if not verdicts or (None in verdicts and False not in verdicts):
        return None
    return False not in verdicts
