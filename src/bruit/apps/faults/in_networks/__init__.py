"""Faults of networks in which one sample of a batch sees another."""

from bruit.apps.faults.in_networks.samples_apart import faults

__all__ = ["faults"]
