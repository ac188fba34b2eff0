"""scikit-learn estimators that spend from a ledger, and estimators that know their channel."""

from bruit.learning.answers import ChannelLogistic, ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.learning.clusters import KMeans
from bruit.learning.components import PCA
from bruit.learning.linear import LinearRegression
from bruit.learning.logistic import LogisticRegression
from bruit.learning.naive_bayes import NaiveBayes
from bruit.learning.neighbours import Neighbours, Student
from bruit.learning.selection import Selection, select
from bruit.learning.trees import AdditiveModel, BoostedTrees, Forest, Tree

__all__ = [
    "PCA",
    "AdditiveModel",
    "BoostedTrees",
    "ChannelLogistic",
    "ChannelNaiveBayes",
    "ChannelTree",
    "Forest",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "NaiveBayes",
    "Neighbours",
    "Questionnaire",
    "RandomisedForest",
    "Selection",
    "Student",
    "Tree",
    "select",
]
