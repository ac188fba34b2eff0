"""The protocol between two collectors: one asks, the other answers; every step can be repeated after a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bruit.aggregation.collecting.collector import Collector
from bruit.aggregation.collecting.store import State
from bruit.errors import ProtocolError

Ask = Callable[[str, bytes], bytes]
"""`ask(step, message)` carries a message to the other collector and brings its answer."""

STEPS: Final = ("match", "verify", "settle", "commit", "open")
_NUMBER: Final = 4


def converse(collector: Collector, ask: Ask) -> State:
    """Runs the protocol of a closed task to its end by asking the other collector; resumes an interrupted run."""
    if collector.state is State.CLOSED:
        collector.match(ask("match", collector.nonces()), final=True)
    if collector.state is State.MATCHED:
        for number in collector.undecided():
            message = number.to_bytes(_NUMBER, "little") + collector.verifiers(number)
            collector.check(number, ask("verify", message))
        collector.settle(ask("settle", collector.decisions()))
    if collector.state in (State.VERIFIED, State.CHARGED):
        collector.charge()
        collector.draw()
    if collector.state is State.DRAWN:
        collector.hold(ask("commit", collector.commitment()))
    if collector.state is State.COMMITTED:
        collector.publish(ask("open", collector.opening()))
    return collector.state


def reply(collector: Collector, step: str, message: bytes) -> bytes:
    """Answers one step of the protocol for the collector that asks; never closes the task."""
    if step == "match":
        collector.match(message)
        return collector.batch
    if step == "verify":
        return collector.check(int.from_bytes(message[:_NUMBER], "little"), message[_NUMBER:])
    if step == "settle":
        own = collector.decisions()
        collector.settle(message)
        return own
    if step == "commit":
        collector.charge()
        collector.draw()
        collector.hold(message)
        return collector.commitment()
    if step == "open":
        collector.publish(message)
        return collector.opening()
    raise ProtocolError(f"{step!r} is no step: there are {', '.join(STEPS)}")
