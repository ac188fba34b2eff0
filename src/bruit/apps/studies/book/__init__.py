"""The book of results: every study at full size, beside the documents, with how each page was made."""

from bruit.apps.studies.book.binding import (
    bind,
    book_folder,
    is_current,
    page_provenance,
    page_state,
    write_index,
    written_page,
)
from bruit.apps.studies.book.pages import space_thousands, write_value

__all__ = [
    "bind",
    "book_folder",
    "is_current",
    "page_provenance",
    "page_state",
    "space_thousands",
    "write_index",
    "write_value",
    "written_page",
]
