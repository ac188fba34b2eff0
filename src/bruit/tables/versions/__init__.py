"""Tables registered in a book, their versions, and the cells of a table that are paid for side by side."""
