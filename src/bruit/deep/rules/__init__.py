"""One rule for each kind of layer: from its input and its output gradient to the shares of its parameters."""

from bruit.deep.rules.registry import RULES, Rule, rule_of

__all__ = ["RULES", "Rule", "rule_of"]
