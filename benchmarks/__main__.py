"""`python -m benchmarks AREA [--json]`: ours beside the peers, alternating, in processes that time only the work."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys

from benchmarks.case import Case
from benchmarks.rounds import rows

AREAS = (
    "privacy",
    "randomness",
    "ledger",
    "local",
    "central",
    "continual",
    "inference",
    "learning",
    "deep",
    "codes",
    "anonymity",
    "aggregation",
    "synthetic",
    "web",
)


def cases_of(area: str) -> list[Case] | None:
    """The cases of an area, or None where nobody has written them yet."""
    if importlib.util.find_spec(f"benchmarks.{area}") is None:
        return None
    cases: list[Case] = importlib.import_module(f"benchmarks.{area}").CASES
    return cases


def main(arguments: list[str] | None = None) -> int:
    """Runs an area, or all of them; the exit status says whether ours ran everywhere, not whether every goal is met."""
    asked = _parser().parse_args(arguments)
    if asked.device == "cuda":
        from benchmarks.deep.gpu import on_device

        return on_device(asked.case)
    table: list[dict[str, object]] = []
    for area in AREAS if asked.area == "all" else (asked.area,):
        cases = cases_of(area)
        if cases is None:
            _say(f"{area}: no cases are written yet (benchmarks/{area}.py does not exist)")
            continue
        for case in cases:
            if asked.case in case.name:
                found = [{"area": area, **row} for row in rows(area, case, rounds=asked.rounds, say=_say)]
                _say_figures(found)
                table += found
    if asked.json:
        print(json.dumps(table, ensure_ascii=False, indent=1))
    elif table:
        _show(table)
    return int(any(row["ours"] is None for row in table))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("area", choices=(*AREAS, "all"))
    parser.add_argument("--json", action="store_true", help="rows for machines, on standard output")
    parser.add_argument("--case", default="", metavar="TEXT", help="only the cases whose name contains this")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="cuda: the networks of deep, on a GPU")
    parser.add_argument("--rounds", type=int, default=5, help="processes for each side of each case (5)")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_figures(found: list[dict[str, object]]) -> None:
    """Tells the figures of a case at once, so that a run of hours that is ended early is not lost."""
    for row in found:
        ours, peer = (_figure(row[side], row[f"{side}_spread"]) for side in ("ours", "peer"))
        beside = f", {row['peer_name']} {peer}" if row["peer_name"] else ""
        _say(f"= {row['name']} ({row['unit']}): ours {ours}{beside}{row['trouble'] and ', trouble: '}{row['trouble']}")


def _show(table: list[dict[str, object]]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(
        title="Ours beside the peers: medians, ± half of the middle half of the rounds; ratio > 1: ours better"
    )
    for heading in ("name", "unit", "ours", "peer", "peer_name", "ratio", "goal", "met", "trouble"):
        shown.add_column(heading, justify="right" if heading in ("ours", "peer", "ratio") else "left")
    for row in table:
        shown.add_row(
            f"{row['area']}: {row['name']}",
            f"{row['unit']} ({row['better']})",
            _figure(row["ours"], row["ours_spread"]),
            _figure(row["peer"], row["peer_spread"]),
            str(row["peer_name"] or "–"),
            _figure(row["ratio"], None),
            str(row["goal"] or "–"),
            {True: "yes", False: "NO", None: "–"}[row["met"]],  # type: ignore[index]
            str(row["trouble"]),
        )
    Console(width=None if sys.stdout.isatty() else 200).print(shown)


def _figure(value: object, spread: object) -> str:
    if not isinstance(value, float):
        return "–"
    return f"{value:.4g}" + (f" ± {50 * spread:.0f} %" if isinstance(spread, float) else "")


if __name__ == "__main__":
    sys.exit(main())
