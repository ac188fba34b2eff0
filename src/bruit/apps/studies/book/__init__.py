"""The book of results: every study at full size, beside the documents, with how each page was made."""

from bruit.apps.studies.book.binding import bind, book_folder, is_current, page_state, write_index, written_page

__all__ = ["bind", "book_folder", "is_current", "page_state", "write_index", "written_page"]
