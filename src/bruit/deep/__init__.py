"""PyTorch training with DP-SGD."""

import bruit.deep.presence  # noqa: F401  # isort: skip  first, to say what is missing
from bruit.deep.batch_norm import replace_batch_norm
from bruit.deep.clipping import Clipping
from bruit.deep.engine import Engine
from bruit.deep.examination import Structure, examine
from bruit.deep.rules import RULES

__all__ = ["RULES", "Clipping", "Engine", "Structure", "examine", "replace_batch_norm"]
