"""Decision trees, forests, boosting and additive models on histograms, exact or private."""

from bruit.learning.trees.additive import AdditiveModel
from bruit.learning.trees.boosted import BoostedTrees
from bruit.learning.trees.forest import Forest
from bruit.learning.trees.tree import DecisionTree

__all__ = ["AdditiveModel", "BoostedTrees", "DecisionTree", "Forest"]
