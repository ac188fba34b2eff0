"""Learning from answers that people randomised themselves."""

from bruit.learning.answers.forest import RandomisedForest
from bruit.learning.answers.logistic import ChannelLogistic
from bruit.learning.answers.naive_bayes import ChannelNaiveBayes
from bruit.learning.answers.questionnaire import Questionnaire
from bruit.learning.answers.tree import ChannelTree

__all__ = ["ChannelLogistic", "ChannelNaiveBayes", "ChannelTree", "Questionnaire", "RandomisedForest"]
