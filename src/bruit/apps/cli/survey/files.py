"""The files of `bruit survey`: protocols, answers, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars

from bruit.apps.cli.terminal.output import OnProgress
from bruit.core.neighbours import EACH_ROW
from bruit.errors import BadFile, InvalidArgument
from bruit.local import (
    FrequencyProtocol,
    LocalProtocol,
    MeanProtocol,
    ReportsKind,
    TallyKind,
    protocol_from_json,
    tally_files,
)
from bruit.local.files import joined
from bruit.tables import read
from bruit.tables.column_names import no_column
from bruit.tables.reading import KINDS

FIGURES: Final = (".png", ".svg", ".pdf")
_PIECE: Final = 1 << 16


def read_survey(path: Path) -> LocalProtocol:
    """Reads the protocol from a JSON file that `bruit survey plan --save` wrote."""
    try:
        block = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path.name} cannot be read; give the file that `bruit survey plan --save` wrote") from error
    except ValueError as error:
        raise BadFile(f"{path.name} is no whole JSON file: it was cut half-way or is of another kind") from error
    try:
        return protocol_from_json(block)
    except BadFile as error:
        raise BadFile(f"{path.name}: {error}") from error


def read_answers(path: Path, column: str | None) -> polars.Series:
    """Reads the answers as texts from a CSV or Parquet file, or from a text file with one per line.

    A line is at most one answer, whatever it holds: no quote of one respondent hides the answers of others.
    """
    answers = _of_table(path, column) if path.suffix.lower() in KINDS else _of_lines(path, column)
    if len(answers) == 0:
        raise InvalidArgument(f"{path.name} holds no answer: an empty survey makes no reports")
    return answers


def _of_table(path: Path, column: str | None) -> polars.Series:
    table = read(path, person=EACH_ROW)
    names = list(table.columns)
    if column is None and len(names) != 1:
        raise InvalidArgument(f"{path.name} has {len(names)} columns; say which with --column")
    if column is not None and column not in names:
        raise no_column(repr(column), names, where=f"{path.name}: ")
    return table.opened.collect([column or names[0]]).to_series().cast(polars.String)


def _of_lines(path: Path, column: str | None) -> polars.Series:
    if column is not None:
        raise InvalidArgument(f"{path.name} is a text with one answer a line: it has no columns, leave out --column")
    try:
        with path.open(encoding="utf-8") as lines:
            return polars.Series([line.removesuffix("\n") for line in lines], dtype=polars.String)
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path.name} cannot be read as answers: give CSV, Parquet, or a text with one a line") from error


def randomise_answers(
    survey: LocalProtocol, answers: polars.Series, rng: np.random.Generator | None, on_progress: OnProgress
) -> ReportsKind:
    """Noised reports of the answers, made in batches so that progress can be reported."""
    if isinstance(survey, MeanProtocol):
        name = type(survey).__name__
        raise InvalidArgument(f"{name} is for a mean; here answers are listed or texts: call its randomise in Python")
    if not isinstance(survey, FrequencyProtocol) and answers.null_count():
        raise InvalidArgument("an answer is missing; leave the respondent out, or write what it stands for")
    parts = []
    for start in range(0, len(answers), _PIECE):
        parts.append(survey.randomise(_match_categories(survey, answers.slice(start, _PIECE)), rng=rng))
        on_progress(min(start + _PIECE, len(answers)), len(answers))
    return joined(parts)


def _match_categories(survey: LocalProtocol, answers: polars.Series) -> Any:
    """Turns the texts of a file into the protocol's own categories, which may be numbers."""
    if not isinstance(survey, FrequencyProtocol) or all(isinstance(one, str) for one in survey.categories.listed):
        return answers
    known = {str(one): one for one in survey.categories.listed}
    return [known.get(text, text) for text in answers]


def tally_reports(path: Path, protocol: Path | None, on_progress: OnProgress) -> TallyKind:
    """The tally of a reports file, or of a folder of them."""
    return tally_files(path, None if protocol is None else read_survey(protocol), on_progress=on_progress)


def require_output(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuses an output file that cannot be written, before any work is done."""
    if path.suffix not in suffixes:
        raise InvalidArgument(f"{path.name}: its name must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise InvalidArgument(f"{path.name}: there is no folder {path.parent} to write it to; make it first")
