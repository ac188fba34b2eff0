"""One rule for each kind of layer: from its input and its output gradient to the shares of its parameters."""

from bruit.deep.rules.registry import RULES, compiled_instead_of, instead_of, rule_of
from bruit.deep.watching import Rule

__all__ = ["RULES", "Rule", "compiled_instead_of", "instead_of", "rule_of"]
