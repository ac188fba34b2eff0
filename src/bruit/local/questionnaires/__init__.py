"""Several questions at once: one protocol a question, one table of reports."""

from bruit.local.questionnaires.questionnaire import Questionnaire

__all__ = ["Questionnaire"]
