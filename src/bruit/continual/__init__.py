"""Statistics published every period for one price: running counts, sums, means, histograms and found keys."""

from bruit.continual.participation import Contribution, Participation, at_most, once, once_in
from bruit.continual.plan import Lattice
from bruit.continual.questions import Count, Histogram, Keys, Mean, StreamQuestion, Sum
from bruit.continual.recipes import StreamRecipe
from bruit.continual.spark_batches import update_from_spark
from bruit.continual.stream import Stream

__all__ = [
    "Contribution",
    "Count",
    "Histogram",
    "Keys",
    "Lattice",
    "Mean",
    "Participation",
    "Stream",
    "StreamQuestion",
    "StreamRecipe",
    "Sum",
    "at_most",
    "once",
    "once_in",
    "update_from_spark",
]
