"""`python -m benchmarks.inference coverage|size|power`: one line a setting, as soon as it is known."""

from __future__ import annotations

import argparse

from benchmarks.inference.designs import EPSILONS, HARDER, INTERVALS, NULLS, SIZES, coverage, size
from benchmarks.inference.published import COMPARISONS, PEOPLE


def main() -> None:
    """Prints a grid."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inference", description=__doc__)
    parser.add_argument("grid", choices=("coverage", "size", "power"))
    parser.add_argument("--times", type=int, default=2000, help="samples for each setting (2000)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only what has this in its name")
    parser.add_argument("--people", type=int, nargs="*", default=SIZES, help="sizes of the sample")
    parser.add_argument("--epsilon", type=float, nargs="*", default=EPSILONS)
    asked = parser.parse_args()
    if asked.grid == "power":
        for name, (whose, compared) in COMPARISONS.items():
            for epsilon, people in PEOPLE[name].items():
                if asked.only in name:
                    ours = compared.power_of_ours(people, epsilon, asked.times)
                    size_of_ours = compared.power_of_ours(people, epsilon, asked.times, real=False)
                    theirs = compared.power_of_published(people, epsilon, asked.times)
                    print(f"{name}, ε = {epsilon}, n = {people}: ours {ours:.3f}, {whose} {theirs:.3f}", end="; ")
                    print(f"ours where nothing is there {size_of_ours:.4f}", flush=True)
        return
    names, measure = (INTERVALS | HARDER, coverage) if asked.grid == "coverage" else (NULLS, size)
    for name in names:
        for people in asked.people if asked.only in name else ():
            for epsilon in asked.epsilon:
                print(
                    f"{name}, n = {people}, ε = {epsilon}: {measure(name, people, epsilon, asked.times):.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
