"""Protocols for answers that are asked again: permanent noise kept on the device."""
