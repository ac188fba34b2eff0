"""scikit-learn estimators that spend from a privacy ledger, and estimators for locally randomised answers."""

from bruit.learning.clusters import KMeans
from bruit.learning.components import PCA
from bruit.learning.domain_encoder import DomainEncoder
from bruit.learning.evaluation import Evaluation, evaluate
from bruit.learning.linear_models.linear import LinearRegression
from bruit.learning.linear_models.logistic import LogisticRegression
from bruit.learning.naive_bayes import NaiveBayes
from bruit.learning.nearest_neighbours import NearestNeighbours, Student
from bruit.learning.publishing import ModelCard, load, to_onnx
from bruit.learning.randomised_answers import (
    ChannelLogistic,
    ChannelNaiveBayes,
    ChannelTree,
    Questionnaire,
    RandomisedForest,
)
from bruit.learning.selection import PrivateSearch, Selection, select
from bruit.learning.trees import AdditiveModel, BoostedTrees, DecisionTree, Forest

__all__ = [
    "PCA",
    "AdditiveModel",
    "BoostedTrees",
    "ChannelLogistic",
    "ChannelNaiveBayes",
    "ChannelTree",
    "DecisionTree",
    "DomainEncoder",
    "Evaluation",
    "Forest",
    "KMeans",
    "LinearRegression",
    "LogisticRegression",
    "ModelCard",
    "NaiveBayes",
    "NearestNeighbours",
    "PrivateSearch",
    "Questionnaire",
    "RandomisedForest",
    "Selection",
    "Student",
    "evaluate",
    "load",
    "select",
    "to_onnx",
]
