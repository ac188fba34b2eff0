"""Answers SQL privately: a SELECT becomes a question over registered tables, or is refused with the reason."""

from bruit.sql.asking import Answered, ask
from bruit.sql.rows import PublicTable
from bruit.sql.translating import Translated, translate

__all__ = ["Answered", "PublicTable", "Translated", "ask", "translate"]
