"""Learning from answers that people randomised themselves (local differential privacy)."""

from bruit.learning.randomised_answers.forest import RandomisedForest
from bruit.learning.randomised_answers.logistic import ChannelLogistic
from bruit.learning.randomised_answers.naive_bayes import ChannelNaiveBayes
from bruit.learning.randomised_answers.tree import ChannelTree
from bruit.local.questionnaires import Questionnaire

__all__ = ["ChannelLogistic", "ChannelNaiveBayes", "ChannelTree", "Questionnaire", "RandomisedForest"]
