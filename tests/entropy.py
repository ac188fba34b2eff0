"""Entropy that a test sees again at its next run, so that a law checked at a level fails for a reason, not by chance.

The sources, ciphers and samplers are the shipped ones; only the bytes that would come from the operating system come
from the test's name and `BRUIT_TEST_SEED` (0 in the gate; any other number draws the whole suite anew). Programs that
a test starts in processes of their own keep the operating system's.
"""

import hashlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bruit.randomness import source


class NamedEntropy:
    """Bytes named by a test, a count and, in a forked child, the child."""

    def __init__(self, name: str) -> None:
        self.name, self.count, self.process = name, 0, os.getpid()

    def words(self, _: object, n_words: int, dtype: Any = np.uint32) -> NDArray[Any]:
        """What `OperatingSystem.generate_state` gives, from the name."""
        kind, child = np.dtype(dtype), os.getpid() if os.getpid() != self.process else 0
        self.count += 1
        named = f"{os.environ.get('BRUIT_TEST_SEED', '0')}|{self.name}|{self.count}|{child}"
        return np.frombuffer(hashlib.shake_256(named.encode()).digest(n_words * kind.itemsize), kind)


@pytest.fixture(autouse=True)
def named_entropy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys every strong source of this process by the name of the test."""
    if request.node.get_closest_marker("fresh_entropy") is not None:
        yield
        return
    group = request.node.get_closest_marker("xdist_group")
    suffix = f"@{group.args[0]}" if group else ""  # the same draws alone and side by side
    named = NamedEntropy(request.node.nodeid.removesuffix(suffix))
    monkeypatch.setattr(source.OperatingSystem, "generate_state", lambda *given, **more: named.words(*given, **more))
    source._rekey_all()
    if "torch" in sys.modules:
        _seed_torch(sys.modules["torch"], int(named.words(None, 1)[0]))
    yield


def _seed_torch(torch: Any, seed: int) -> None:
    """Seeds torch where it can draw; `torch.manual_seed` also notes the whole stack for every kind of device."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
