"""The cases of `deep`: private training steps beside plain ones; `gpu` times the networks on a device."""

from benchmarks.deep.steps import CASES

__all__ = ["CASES"]
