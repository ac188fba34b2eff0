"""`bruit survey`: plans a survey, randomises answers and estimates shares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import rich_click as click
from rich.markup import escape

from bruit.apps import plots
from bruit.apps.cli.survey.files import (
    FIGURES,
    randomise_answers,
    read_answers,
    read_survey,
    require_output,
    tally_reports,
)
from bruit.apps.cli.survey.plan import plan
from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, progress, show, table
from bruit.core.intervals import Covers
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local import Tally, decode, read_candidates, write_reports
from bruit.local.estimation.adjustment import Adjustment
from bruit.local.estimation.intervals import Method
from bruit.local.rappor import SELECTIONS, Decoder, RapporTally

EXAMPLE = examples(
    "bruit survey plan --categories single,married,divorced --epsilon 1 --people 2000 --save survey.json",
    "bruit survey randomise survey.json answers.csv reports.parquet",
    "bruit survey estimate reports.parquet",
)
ROWS = 60
"""Rows of a table on the screen; a CSV file has all."""

confidence_option = click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How often the intervals hold the truth."
)
csv_option = click.option(
    "--csv", type=click.Path(path_type=Path, dir_okay=False), help="Write the table to this CSV file."
)
figure_option = click.option(
    "--figure",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Draw the estimates into this file ({', '.join(FIGURES)}).",
)
protocol_option = click.option(
    "--protocol",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The protocol that the reports must follow, a file that `bruit survey plan --save` wrote.",
)


@click.group("survey", epilog=EXAMPLE)
def command() -> None:
    """Plan, randomise, estimate and decode a survey in which nobody sends a true answer.

    Plan it, noise each answer on its respondent's own device, then estimate the shares of a short list of answers, or
    decode which of many candidate texts were sent (RAPPOR).
    """


command.add_command(plan)


@command.command(epilog=examples("bruit survey randomise survey.json answers.csv reports.parquet --column status"))
@click.argument("protocol", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path))
@click.argument("reports", type=click.Path(path_type=Path))
@click.option("--column", help="The column of answers, where the file has several columns.")
@click.option("--seed", type=int, help="Repeat the same noise, for tests only: the guarantee then says `seeded`.")
@json_option
def randomise(
    *, protocol: Path, answers: Path, reports: Path, column: str | None, seed: int | None, as_json: bool
) -> None:
    """Turn answers into noised reports, on the respondents' own side.

    ANSWERS is CSV, Parquet, or a text file with one answer a line; REPORTS is a new Parquet file that describes its
    protocol. Whoever runs this sees the true answers: it is for a respondent's device, or for trying things out.
    """
    survey, column_of = read_survey(protocol), read_answers(answers, column)
    require_output(reports, (".parquet",))
    if reports.exists():
        raise InvalidArgument(f"{reports} exists and is left as it is: name another file")
    rng = None if seed is None else np.random.default_rng(seed)
    with progress("randomising", quiet=as_json) as on_progress:
        made = randomise_answers(survey, column_of, rng, on_progress)
    write_reports(made, reports)
    loss = float(survey.epsilon)
    told = {
        "protocol": type(survey).__name__,
        "reports": len(made),
        "epsilon": loss,
        "file": str(reports),
        "seeded": made.seeded,
    }
    if as_json:
        print_json(told)
    else:
        show(
            f"{len(made)} reports of {told['protocol']} in {escape(str(reports))}; "
            f"each cost its respondent at most ε = {loss:.4g}."
        )


@command.command(
    epilog=examples("bruit survey estimate reports.parquet --method exact --figure shares.png --csv shares.csv")
)
@click.argument("reports", type=click.Path(path_type=Path))
@protocol_option
@confidence_option
@click.option(
    "--method",
    type=click.Choice(get_args(Method)),
    default="exact",
    show_default=True,
    help="How intervals are computed.",
)
@click.option(
    "--adjust",
    type=click.Choice(get_args(Adjustment)),
    default="none",
    show_default=True,
    help="How shares below 0, or that do not add up to 1, are adjusted.",
)
@click.option("--joint", is_flag=True, help="Make intervals that hold for all categories at once.")
@click.option(
    "--this-table",
    is_flag=True,
    help="Make intervals for these respondents alone, not for a population they were drawn from.",
)
@figure_option
@csv_option
@json_option
def estimate(
    *,
    reports: Path,
    protocol: Path | None,
    confidence: float,
    method: Method,
    adjust: Adjustment,
    joint: bool,
    this_table: bool,
    figure: Path | None,
    csv: Path | None,
    as_json: bool,
) -> None:
    """Estimate the share of each answer from a reports file, or from a folder of them."""
    _require_outputs(figure, csv)
    with progress("tallying", quiet=as_json) as on_progress:
        tally = tally_reports(reports, protocol, on_progress)
    if not isinstance(tally, Tally):
        raise InvalidArgument(
            f"{reports.name} holds reports of {type(tally.protocol).__name__}, which have no shares of listed answers: "
            "use `bruit survey decode` for texts sent through Rappor, `protocol.estimate` in Python for a mean"
        )
    _require_crowd(tally.people)
    release = tally.protocol.estimate(
        tally,
        confidence,
        covers=Covers.TABLE if this_table else Covers.POPULATION,
        method=method,
        joint=joint,
        adjust=adjust,
    )
    rows = list(release.frame().select("label", "value", "low", "high").iter_rows())
    title = f"{type(tally.protocol).__name__}: {tally.people} reports"
    _write_results(release, rows, ["answer", "share", "low", "high"], title, figure=figure, csv=csv, as_json=as_json)


@command.command(
    "decode", epilog=examples("bruit survey decode reports.parquet --candidates pages.txt --figure found.png")
)
@click.argument("reports", type=click.Path(path_type=Path))
@click.option(
    "--candidates", required=True, type=click.Path(path_type=Path), help="A text file of texts to look for, one a line."
)
@protocol_option
@click.option("--level", type=float, default=0.05, show_default=True, help="The share of false discoveries allowed.")
@click.option(
    "--select", type=click.Choice(SELECTIONS), default="adaptive", show_default=True, help="How candidates are chosen."
)
@click.option(
    "--method",
    type=click.Choice(get_args(Decoder)),
    default="debiased",
    show_default=True,
    help="How the count of each candidate is estimated.",
)
@confidence_option
@figure_option
@csv_option
@json_option
def decode_reports(
    *,
    reports: Path,
    candidates: Path,
    protocol: Path | None,
    level: float,
    select: Any,
    method: Decoder,
    confidence: float,
    figure: Path | None,
    csv: Path | None,
    as_json: bool,
) -> None:
    """Find which candidate texts were sent through RAPPOR, and how often."""
    _require_outputs(figure, csv)
    listed = read_candidates(candidates)
    with progress("tallying", quiet=as_json) as on_progress:
        tally = tally_reports(reports, protocol, on_progress)
    if not isinstance(tally, RapporTally):
        name = type(tally.protocol).__name__
        raise InvalidArgument(f"{reports.name} holds reports of {name}: use `bruit survey estimate`")
    _require_crowd(int(tally.people.sum()))
    release = decode(tally, listed, level=level, confidence=confidence, method=method, select=select)
    rows = [
        (*row, p_value)
        for row, p_value in zip(
            release.frame().select("label", "value", "low", "high").iter_rows(), release.details["p_value"], strict=True
        )
    ]
    title = f"Rappor: {release.details['answers']} reports, {len(listed)} candidates, {len(rows)} found"
    heads = ["text", "share", "low", "high", "p-value"]
    _write_results(release, rows, heads, title, figure=figure, csv=csv, as_json=as_json)
    if not as_json:
        show(_limits_told(release))


def _require_crowd(answers: int) -> None:
    if answers == 1:
        raise InvalidArgument("one report alone says nothing of a crowd: collect more before estimating")


def _require_outputs(figure: Path | None, csv: Path | None) -> None:
    if figure is not None:
        require_output(figure, FIGURES)
    if csv is not None:
        require_output(csv, (".csv",))


def _write_results(
    release: Release[Any],
    rows: list[Any],
    heads: list[str],
    title: str,
    *,
    figure: Path | None,
    csv: Path | None,
    as_json: bool,
) -> None:
    """Prints the table, as text or JSON, and writes it to a CSV file and a figure where asked."""
    files = [path for path in (figure if rows else None, csv) if path is not None]
    if csv is not None:
        import polars

        polars.DataFrame(rows, schema=heads, orient="row").write_csv(csv)
    if figure is not None and rows:
        drawn = rows[:ROWS]
        names, bars = [str(row[0]) for row in drawn], [[row[place] for row in drawn] for place in (1, 2, 3)]
        plots.bars(figure, names, [plots.Bars("share", *bars)], title=title, y="share of the respondents")
    if as_json:
        print_json({**json.loads(release.to_json()), "files": [str(path) for path in files]})
        return
    show(table(title, heads, [(escape(str(row[0])), *row[1:]) for row in rows[:ROWS]]))
    if len(rows) > ROWS:
        show(f"… and {len(rows) - ROWS} more; --csv saves them all.")
    show(f"Guarantee: {escape(str(release.guarantee))}", *(f"saved {escape(str(path))}" for path in files))


def _limits_told(release: Release[Any]) -> str:
    found = release.details
    lasting = found["epsilon_forever"]
    forever = "infinite (f = 0 memoises the truth)" if lasting == "inf" else f"{lasting:.4g}"
    return (
        f"One report costs ε = {found['epsilon_once']:.4g}; any number of reports of one value, ε = {forever}. "
        "A respondent who reports several values pays for each, and several devices are several respondents.\n"
        f"Not found: {found['not_found']} of {found['candidates']} candidates. A text with a share of "
        f"{found['detection_limit']:.3%} is found {found['detection_power']:.0%} of the time, a rarer one less often; "
        f"a text that is no candidate, never. Texts not found hold about {found['unexplained']:.1%} of the reports."
    )
