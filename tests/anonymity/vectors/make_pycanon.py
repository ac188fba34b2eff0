"""Writes pycanon.json: what pycanon 1.3.5 says of Adult, read from the folder that BRUIT_DATA names.

Run in the peers' environment: BRUIT_DATA=... .benchmarks/anonymity/bin/python tests/anonymity/vectors/make_pycanon.py
"""

import json
import os
from pathlib import Path

import pandas
from pycanon import anonymity

COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country income"
)
CASES = [
    (32561, ["age", "education", "marital-status", "race", "sex", "native-country"], "income"),
    (5000, ["sex", "race"], "hours-per-week"),
    (5000, ["sex", "relationship"], "occupation"),
    (5000, ["sex", "marital-status"], "education-num"),
    (2000, ["sex"], "income"),
]


def main() -> None:
    """Asks pycanon for each case."""
    path = Path(os.environ["BRUIT_DATA"]) / "adult" / "adult.data"
    table = pandas.read_csv(path, names=COLUMNS.split(), skipinitialspace=True, keep_default_na=False)
    found = []
    for rows, quasi, sensitive in CASES:
        part = table.head(rows)
        found.append(
            {
                "rows": rows,
                "quasi": quasi,
                "sensitive": sensitive,
                "k": int(anonymity.k_anonymity(part, quasi)),
                "l": int(anonymity.l_diversity(part, quasi, [sensitive])),
                "entropy_l": int(anonymity.entropy_l_diversity(part, quasi, [sensitive])),
                "t": float(anonymity.t_closeness(part, quasi, [sensitive])),
            }
        )
    Path(__file__).with_name("pycanon.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
