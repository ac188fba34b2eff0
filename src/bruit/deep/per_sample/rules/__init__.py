"""Per-sample gradient rules, one for each kind of layer, from its input and its output gradient."""

from bruit.deep.per_sample.layer_hooks import Rule
from bruit.deep.per_sample.rules.registry import RULES, compiled_instead_of, instead_of, rule_of

__all__ = ["RULES", "Rule", "compiled_instead_of", "instead_of", "rule_of"]
