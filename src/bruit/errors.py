"""Every error bruit raises on purpose.

BruitError
├── InvalidArgument (ValueError)      an argument of the wrong kind or range
│   └── OutOfDomain                   bounds, categories or grids that describe no domain
├── PrivacyError                      the privacy rules say no
│   ├── BudgetMissing                 no budget was given
│   ├── BudgetExceeded                the book has too little left
│   ├── NeighboursDiffer              losses or books of different neighbours were mixed
│   └── NotPrivate                    no finite or no proved guarantee exists for what was asked
├── LedgerError                       the book itself
│   ├── TermsDiffer                   a book of this name exists on other terms
│   └── UnknownLedger                 no book of this name in this store
├── StorageError                      a database that cannot be used
│   ├── DatabaseInUse                 another server holds it
│   ├── SchemaTooNew                  written by a later bruit
│   └── SchemaTooOld                  written by an earlier bruit, and no way from there is known
├── ProtocolError                     a message of another collector or participant that is refused
├── BadFile                           a file that is cut, tampered with, or of another kind
├── MissingData (FileNotFoundError)   a data set that is not on this machine
├── MissingExtra (ImportError)        an optional part that is not installed
└── DecodingFailure                   a received word beyond what the code can correct

A message says what was asked, what is allowed and what to do. No message depends on the value of a private record.
"""


class BruitError(Exception):
    """The root of every error that bruit raises on purpose."""


class InvalidArgument(BruitError, ValueError):
    """An argument of the wrong kind or out of its range."""


class OutOfDomain(InvalidArgument):
    """Bounds, categories or a grid that describe no domain."""


class PrivacyError(BruitError):
    """The privacy rules do not allow what was asked."""


class BudgetMissing(PrivacyError):
    """A private answer was asked for without saying what pays for it."""

    def __init__(self, what: str, *, exact: bool = False) -> None:
        otherwise = ", or budget=bruit.WITHOUT_PRIVACY to ask for the exact algorithm by name" if exact else ""
        super().__init__(f"{what} needs a budget: give budget=ledger.budget(epsilon=...){otherwise}")


class BudgetExceeded(PrivacyError):
    """The book has less left than was asked; nothing was charged."""


class NeighboursDiffer(PrivacyError):
    """Losses or ledgers that are stated for different neighbouring relations cannot be added."""


class NotPrivate(PrivacyError):
    """No finite, or no proved, guarantee exists for what was asked."""


class LedgerError(BruitError):
    """A ledger that cannot be created or opened as asked."""


class TermsDiffer(LedgerError):
    """A ledger of this name already exists with another epsilon, delta, neighbours, person or accountant."""


class UnknownLedger(LedgerError):
    """No ledger of this name is in this store."""


class StorageError(BruitError):
    """A database that cannot be read or written."""


class DatabaseInUse(StorageError):
    """A database that another running server holds; a second server on it is refused."""


class SchemaTooNew(StorageError):
    """A database written by a later version of bruit."""


class SchemaTooOld(StorageError):
    """A database written by an earlier version of bruit from which there is no migration."""


class ProtocolError(BruitError):
    """A message of another collector or a participant that is truncated, out of turn, or contradicts an earlier one."""


class BadFile(BruitError):
    """A file that is truncated, tampered with, or of another kind."""


class MissingData(BruitError, FileNotFoundError):
    """A data set that is not on this machine."""


class MissingExtra(BruitError, ImportError):
    """An optional part of bruit that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part: pip install 'bruit[{extra}]'")


class DecodingFailure(BruitError):
    """A received word with more errors than the code can correct."""
