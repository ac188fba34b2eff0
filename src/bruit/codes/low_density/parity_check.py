"""Sparse parity-check matrices, plain or quasi-cyclic (made of shifted identity blocks)."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from bruit.codes.word import as_array
from bruit.errors import BadFile, InvalidArgument


@dataclass(frozen=True, eq=False)
class ParityChecks:
    """A quasi-cyclic parity-check matrix: block e is an identity in block column column[e], shifted by shift[e].

    Block-row r holds the blocks row_start[r] to row_start[r + 1]; its check z reads the place (z + shift) mod lifting.
    A matrix without structure has lifting 1.
    """

    row_start: NDArray[np.int64]
    column: NDArray[np.int64]
    shift: NDArray[np.int64]
    columns: int
    lifting: int = 1

    @property
    def checks(self) -> int:
        """The number of rows of the expanded matrix."""
        return (self.row_start.size - 1) * self.lifting

    @property
    def variables(self) -> int:
        """The number of columns of the expanded matrix."""
        return self.columns * self.lifting

    @cached_property
    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The expanded matrix in CSR form: the start of each row, and the column indices."""
        if self.lifting == 1:
            return self.row_start, self.column
        place = np.arange(self.lifting)
        blocks = [
            (self.column[a:b] * self.lifting + (place[:, None] + self.shift[a:b]) % self.lifting).reshape(-1)
            for a, b in zip(self.row_start[:-1], self.row_start[1:], strict=True)
        ]
        degrees = np.repeat(np.diff(self.row_start), self.lifting)
        return np.concatenate([[0], np.cumsum(degrees)]), np.concatenate(blocks)

    def matrix(self) -> sparse.csr_array:
        """The expanded matrix as a SciPy sparse array."""
        start, columns = self.flat
        return sparse.csr_array((np.ones(columns.size, np.uint8), columns, start), shape=(self.checks, self.variables))


def parity_checks(matrix: ArrayLike | sparse.sparray | sparse.spmatrix) -> ParityChecks:
    """A `ParityChecks` from any matrix of zeros and ones, dense or sparse."""
    given: Any = matrix
    if not sparse.issparse(matrix):
        given = np.atleast_2d(as_array(given, "a parity-check matrix"))
    if given.dtype.kind not in "biuf" or given.ndim != 2:
        raise InvalidArgument(f"a parity-check matrix of {given.dtype} with {given.ndim} axes: give rows of 0 and 1")
    table = sparse.csr_array(given)
    table.sum_duplicates()
    table.eliminate_zeros()
    table.sort_indices()
    if table.nnz == 0 or not np.isin(table.data, (0, 1)).all():
        raise InvalidArgument("a parity-check matrix holds zeros and ones, and at least one 1")
    if (np.diff(table.indptr) == 0).any():
        raise InvalidArgument("a parity-check matrix has a row without a 1; leave it out")
    start, column = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    return ParityChecks(start, column, np.zeros_like(column), int(table.shape[1]))


def circulants(base: ArrayLike, lifting: int) -> ParityChecks:
    """A quasi-cyclic matrix from a table of shifts (−1 for a zero block), taken modulo `lifting`."""
    table = np.asarray(base, np.int64)
    rows, column = (np.ascontiguousarray(places) for places in np.nonzero(table >= 0))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=table.shape[0]))]).astype(np.int64)
    return ParityChecks(start, column, table[rows, column] % lifting, int(table.shape[1]), lifting)


def read_alist(path: str | Path) -> ParityChecks:
    """The parity-check matrix in a file of MacKay's alist format.                          [MacKay 1999]"""
    try:
        numbers = [[int(x) for x in line.split()] for line in Path(path).read_text().splitlines() if line.strip()]
        (columns, rows), lists = numbers[0], numbers[4 + numbers[0][0] : 4 + sum(numbers[0])]
        if len(lists) != rows:
            raise ValueError(f"{len(lists)} rows of {rows}")
        entries = [(r, c - 1) for r, row in enumerate(lists) for c in row if c > 0]
        if sorted(entries) != sorted(
            (r - 1, c) for c, col in enumerate(numbers[4 : 4 + columns]) for r in col if r > 0
        ):
            raise ValueError("its two lists differ")
    except OSError as error:
        raise BadFile(f"{path} cannot be read as an alist file: {error.strerror or error}") from error
    except (ValueError, IndexError) as error:
        raise BadFile(f"{path} is not a whole alist file: {error}") from error
    where = np.array(entries).T
    return parity_checks(
        sparse.coo_array((np.ones(len(entries), np.uint8), (where[0], where[1])), shape=(rows, columns))
    )
