"""The files of `bruit survey`: protocols, answers, reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars

from bruit.apps.cli.output import OnProgress
from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.local import (
    FrequencyProtocol,
    Rappor,
    RapporReports,
    RapporTally,
    Reports,
    Tally,
    protocol_from_json,
    rappor_from_json,
    read_protocol,
    read_rappor_protocol,
    tally_files,
    tally_rappor_files,
    write_rappor_reports,
    write_reports,
)

FIGURES: Final = (".png", ".svg", ".pdf")
_PIECE: Final = 1 << 16

Survey = FrequencyProtocol | Rappor


def read_survey(path: Path) -> Survey:
    """The protocol in a JSON file that `bruit survey plan --save` wrote."""
    try:
        block = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path.name} cannot be read; give the file that `bruit survey plan --save` wrote") from error
    except ValueError as error:
        raise BadFile(f"{path.name} is no whole JSON file: it was cut half-way or is of another kind") from error
    try:
        is_rappor = isinstance(block, dict) and block.get("protocol") == "Rappor"
        return rappor_from_json(block) if is_rappor else protocol_from_json(block)
    except BadFile as error:
        raise BadFile(f"{path.name}: {error}") from error


def read_answers(path: Path, column: str | None) -> polars.Series:
    """The answers in a CSV or Parquet file, or in a text file with one a line, as texts."""
    try:
        if path.suffix == ".parquet":
            frame = polars.read_parquet(path)
        elif path.suffix == ".csv":
            frame = polars.read_csv(path, infer_schema=False)
        else:
            frame = polars.DataFrame({"answer": path.read_text(encoding="utf-8").splitlines()})
    except (polars.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path.name} cannot be read as answers: give CSV, Parquet, or a text with one a line") from error
    if column is None and frame.width != 1:
        raise InvalidArgument(f"{path.name} has {frame.width} columns; say which with --column")
    if column is not None and column not in frame.columns:
        raise InvalidArgument(f"{path.name} has no column {column!r}; it has {', '.join(frame.columns)}")
    answers = frame[column or frame.columns[0]].cast(polars.String)
    if len(answers) == 0:
        raise InvalidArgument(f"{path.name} holds no answer: an empty survey makes no reports")
    return answers


def randomised(
    survey: Survey, answers: polars.Series, rng: np.random.Generator | None, on_progress: OnProgress
) -> Reports | RapporReports:
    """Reports of the answers, some at a time so that progress can be told."""
    if isinstance(survey, Rappor) and answers.null_count():
        raise InvalidArgument("an answer is missing; leave the respondent out, or write what it stands for")
    parts: list[Any] = []
    for start in range(0, len(answers), _PIECE):
        piece = answers.slice(start, _PIECE)
        parts.append(survey.randomise(piece if isinstance(survey, Rappor) else _listed(survey, piece), rng))
        on_progress(min(start + _PIECE, len(answers)), len(answers))
    values = np.concatenate([part.values for part in parts])
    if isinstance(survey, Rappor):
        return RapporReports(survey, np.concatenate([part.cohorts for part in parts]), values, parts[0].seeded)
    return Reports(survey, values, parts[0].seeded)


def _listed(survey: FrequencyProtocol, answers: polars.Series) -> Any:
    """Texts of a file as the answers that the protocol lists, which may be numbers."""
    if all(isinstance(one, str) for one in survey.answers.listed):
        return answers
    known = {str(one): one for one in survey.answers.listed}
    return [known.get(text, text) for text in answers]


def write_survey_reports(reports: Reports | RapporReports, path: Path) -> None:
    """Writes reports of either kind."""
    if isinstance(reports, RapporReports):
        write_rappor_reports(reports, path)
    else:
        write_reports(reports, path)


def tallied(path: Path, protocol: Path | None, on_progress: OnProgress) -> Tally | RapporTally:
    """The tally of a reports file or of a folder of them, one file after the other."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise InvalidArgument(f"{path.name} holds no Parquet file of reports")
    survey = _described(files[0]) if protocol is None else read_survey(protocol)
    if isinstance(survey, Rappor):
        return tally_rappor_files(path, survey, on_progress=on_progress)
    tally = survey.empty()
    for number, file in enumerate(files):
        tally += tally_files(file, survey)
        on_progress(number + 1, len(files))
    return tally


def _described(file: Path) -> Survey:
    """The protocol that a reports file names, whichever kind it is of."""
    try:
        return read_protocol(file)
    except BruitError as other:
        try:
            return read_rappor_protocol(file)
        except BruitError:
            raise other from None


def checked_output(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuses a file that cannot be written before any work is done."""
    if path.suffix not in suffixes:
        raise InvalidArgument(f"{path.name}: its name must end in {' or '.join(suffixes)}")
    if not path.parent.is_dir():
        raise InvalidArgument(f"{path.name}: there is no folder {path.parent} to write it to; make it first")
