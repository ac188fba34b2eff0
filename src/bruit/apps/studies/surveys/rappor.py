"""RAPPOR decoding: the thesis's two simulations and two collections, at its parameters.

[docs/spec.md S2.20]
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.plots.style import COLOURS
from bruit.apps.studies.surveys.rappor_populations import CASES, MALWARE, Case
from bruit.core.release import Release
from bruit.local import decode
from bruit.randomness import generator

REPEATS = {"small": 2, "full": 64}
LEVEL = 0.05
RANKS = 60
"""How many of the most frequent texts a figure shows, beside rarer ones that were found."""


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs every case several times; writes all repeats, their means, one collection's texts per case, and figures."""
    folder.mkdir(parents=True, exist_ok=True)
    source = generator(rng)
    rows = sweeps.run(
        decode_once,
        {"case": list(CASES)},
        repeats=REPEATS[size],
        rng=source,
        file=folder / f"sweep_{size}.jsonl",
        on_progress=on_progress,
    )
    means = average_repeats(rows)
    rows.write_csv(folder / "repeats.csv")
    means.write_csv(folder / "cases.csv")
    files = [folder / "repeats.csv", folder / "cases.csv"]
    for name in CASES:
        texts = one_collection(CASES[name], source)
        texts.write_csv(folder / f"{name}.csv")
        files += [folder / f"{name}.csv", plot_findings(folder / f"{name}.png", name, texts)]
    figures = headline(means)
    return Findings(summarise(figures), tuple(files), figures)


def decode_once(*, rng: np.random.Generator, case: str) -> Mapping[str, float]:
    """One collection: how many texts were found, how many of these falsely, and the detection limit."""
    asked = CASES[case]
    release = decode(asked.tally(rng), asked.candidates, level=LEVEL)
    truth = asked.shares
    false = sum(label not in truth for label in release.labels)
    frequent = [label for label, share in truth.items() if share > asked.frequent]
    return {
        "true": float(len(release.labels) - false),
        "false": float(false),
        "false_share": false / max(1, len(release.labels)),
        "frequent": float(len(frequent)),
        "frequent_found": float(len(set(frequent) & set(release.labels))),
        "malware_found": float(MALWARE in release.labels) if MALWARE in truth else float("nan"),
        **{f"p_below_{level:g}": float((release.details["p_value"] < level).sum()) for level in (1e-10, 1e-31)},
        "mass_found": float(sum(truth.get(label, 0.0) for label in release.labels)),
        "covered": _coverage(release, asked),
        "detection_limit": float(release.details["detection_limit"]),
        "spread": float(release.details["spread"]),
    }


def _coverage(release: Release[Any], case: Case) -> float:
    """How many of the intervals of frequent texts hold the true share; the rare are found when they look large."""
    assert release.interval is not None
    ends = zip(release.labels, release.interval.low, release.interval.high, strict=True)
    held = [low <= case.shares[label] <= high for label, low, high in ends if case.shares.get(label, 0) > case.frequent]
    return float(np.mean(held)) if held else float("nan")


def average_repeats(rows: polars.DataFrame) -> polars.DataFrame:
    """The mean of each result over the repeats, one row per case."""
    numbers = [name for name in rows.columns if name not in ("case", "repeat")]
    means = rows.group_by("case", maintain_order=True).agg(polars.col(numbers).fill_nan(None).mean())
    facts = polars.DataFrame(
        {
            "case": list(CASES),
            "reports": [case.answers for case in CASES.values()],
            "candidates": [len(case.candidates) for case in CASES.values()],
            "epsilon_once": [float(case.protocol.law.once) for case in CASES.values()],
            "epsilon_forever": [float(case.protocol.law.forever) for case in CASES.values()],
        }
    )
    return facts.join(means, on="case", how="left", maintain_order="left")


def one_collection(case: Case, rng: np.random.Generator) -> polars.DataFrame:
    """The texts of one collection with their true shares, and the estimates of those found.

    In the normal case every number is estimated, found or not: there the whole law is wanted.
    """
    tally = case.tally(rng)
    found = set(decode(tally, case.candidates, level=LEVEL).labels)
    everything = case.title.startswith("Normal")
    listed = tuple(case.shares) if everything else case.candidates
    release = decode(tally, listed, level=LEVEL, select="none" if everything else "adaptive")
    truth = polars.DataFrame({"label": listed, "true_share": [case.shares.get(text, 0.0) for text in listed]})
    table = truth.join(release.frame().drop("noise"), on="label", how="left", maintain_order="left")
    return table.with_columns(found=polars.col("label").is_in(list(found)), malware=polars.col("label") == MALWARE)


def plot_findings(path: Path, name: str, texts: polars.DataFrame) -> Path:
    """Plots one collection: the true shares as a line, the estimates as points with intervals."""
    case, is_normal = CASES[name], name.startswith("normal")
    shown = texts if is_normal else texts.filter((polars.col("true_share") > 0) | polars.col("found"))
    if not is_normal:
        shown = shown.sort("true_share", descending=True, maintain_order=True)
        shown = polars.concat([shown.head(RANKS), shown.slice(RANKS).filter("found").head(RANKS // 4)])
    shown = shown.with_columns(place=polars.Series(range(len(shown))) + (0 if is_normal else 1))
    with plots.save_figure(path) as axes:
        real = shown.filter(polars.col("true_share") > 0)
        axes.plot(real["place"], real["true_share"], linestyle="--", color=COLOURS[0], label="truth")
        estimated = shown.filter(polars.col("value").is_not_null())
        for label, colour, some in (
            (
                "estimate, 95 % interval",
                COLOURS[1],
                estimated.filter(~polars.col("malware"), polars.col("true_share") > 0),
            ),
            ("the malware", COLOURS[3], estimated.filter("malware")),
            ("nobody has it", COLOURS[6], estimated.filter(polars.col("true_share") == 0)),
        ):
            if len(some):
                value, low, high = (some[end].to_numpy().clip(0, 1) for end in ("value", "low", "high"))
                reach = np.maximum([value - low, high - value], 0)
                axes.errorbar(some["place"], value, reach, fmt="o", markersize=4, capsize=2, color=colour, label=label)
        axes.axhline(0, color="#666666", linewidth=0.8)
        axes.set_xlabel("value" if is_normal else "rank of the text")
        axes.set_ylabel("share of the reports, at least 0")
        axes.set_title(f"{case.title}, ε = {float(case.protocol.law.once):.3g} a report")
        plots.legend_above(axes)
    return path


def headline(means: polars.DataFrame) -> dict[str, float]:
    """The headline numbers by name, as the summary quotes them."""
    shares = ("true", "false", "false_share", "frequent_found", "frequent", "mass_found", "detection_limit")
    wanted = (*shares, "p_below_1e-10", "p_below_1e-31")
    figures = {f"{row['case']}: {name}": float(row[name]) for row in means.iter_rows(named=True) for name in wanted}
    caught = means.filter(polars.col("case") == "windows")["malware_found"][0]
    return figures | {"windows: malware_found": float(caught)}


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""

    def of(case: str, name: str) -> float:
        return figures[f"{case}: {name}"]

    exponential = [
        f"{of(name, 'true'):.1f} true strings and {of(name, 'false'):.1f} false ({of(name, 'false_share'):.1%}) among "
        f"{name.rpartition('-')[2]} candidates, {of(name, 'frequent_found'):.2f} of the {of(name, 'frequent'):.0f} "
        "above 1 %"
        for name in ("exponential-200", "exponential-1000")
    ]
    normal = ", ".join(f"{of(f'normal-{size}', 'true'):.0f}" for size in (10_000, 100_000, 1_000_000))
    return (
        f"A million reports of the exponential law give {'; '.join(exponential)}. Of the normal law {normal} values "
        "are found from 10 000, 100 000 and a million reports. On the Windows case "
        f"{of('windows', 'frequent_found'):.1f} of the {of('windows', 'frequent'):.0f} processes from 2.5 % are found, "
        f"the malware at 2.6 % in {of('windows', 'malware_found'):.0%} of the collections, "
        f"on the Chrome case {of('chrome', 'frequent_found'):.1f} of {of('chrome', 'frequent'):.0f} homepages; what is "
        f"found there holds {of('chrome', 'mass_found'):.0%} of the mass."
    )
