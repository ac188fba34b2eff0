"""What the tests of networks share."""

import pytest
from torch import Tensor

from bruit.deep.checks.isolation import Isolation


@pytest.fixture
def strayed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches whose pass was not the one that was proved."""
    sizes: list[int] = []

    def note(self: Isolation, inputs: tuple[Tensor, ...], targets: Tensor) -> bool:
        sizes.append(len(targets))
        return False

    monkeypatch.setattr(Isolation, "renew", note)
    return sizes
