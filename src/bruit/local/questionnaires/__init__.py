"""Several questions per respondent: one protocol per question, one table of reports."""

from bruit.local.questionnaires.questionnaire import Questionnaire

__all__ = ["Questionnaire"]
