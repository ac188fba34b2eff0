"""scikit-learn estimators that spend from a ledger, and estimators that know their channel."""

from bruit.learning.answers import ChannelLogistic, ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.learning.neighbours import Neighbours, Student

__all__ = [
    "ChannelLogistic",
    "ChannelNaiveBayes",
    "ChannelTree",
    "Neighbours",
    "Questionnaire",
    "RandomisedForest",
    "Student",
]
