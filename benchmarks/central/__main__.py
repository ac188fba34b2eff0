"""`python -m benchmarks.central`: rank errors beside JointExp in the settings of its paper, one line a setting."""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.central.published import rank_errors, settings


def main() -> None:
    """Prints the mean rank error of both sides with its standard error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.central", description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help="fresh tables for each setting (200)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for setting in settings():
        errors = rank_errors(setting, asked.tables, np.random.default_rng(asked.seed))
        ours, theirs = errors.mean(axis=1)
        spread, their_spread = errors.std(axis=1, ddof=1) / np.sqrt(asked.tables)
        print(
            f"{setting.neighbours}, {setting.law}, {setting.number} quantiles: ours {ours:.2f} ± {spread:.2f}, "
            f"JointExp {theirs:.2f} ± {their_spread:.2f}, ratio {ours / theirs:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
