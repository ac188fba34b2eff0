"""UCI Adult: 48 842 people of the 1994 census of the United States, 15 columns."""

from typing import Literal

import polars

from bruit.apps.data.files import PublicFile, find

PUBLISHER = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult"

TRAINING = PublicFile(
    path="adult/adult.data",
    address=f"{PUBLISHER}/adult.data",
    digests=("5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",),
)
TEST = PublicFile(
    path="adult/adult.test",
    address=f"{PUBLISHER}/adult.test",
    digests=(
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",  # copies without the publisher's first line
    ),
)

TYPES = {
    "age": polars.Int64,
    "workclass": polars.String,
    "fnlwgt": polars.Int64,
    "education": polars.String,
    "education-num": polars.Int64,
    "marital-status": polars.String,
    "occupation": polars.String,
    "relationship": polars.String,
    "race": polars.String,
    "sex": polars.String,
    "capital-gain": polars.Int64,
    "capital-loss": polars.Int64,
    "hours-per-week": polars.Int64,
    "native-country": polars.String,
    "income": polars.String,
}


def adult(part: Literal["training", "test", "all"] = "training") -> polars.DataFrame:
    """The 32 561 people of the training file, the 16 281 of the test file, or all; `?` is a category of its own."""
    files = {"training": [TRAINING], "test": [TEST], "all": [TRAINING, TEST]}[part]
    return polars.concat([_read_file(file) for file in files])


def _read_file(file: PublicFile) -> polars.DataFrame:
    lines = find(file).read_text("ascii").replace(", ", ",").replace(".\n", "\n").splitlines()
    table = "\n".join(line for line in lines if line and not line.startswith("|"))
    return polars.read_csv(table.encode(), has_header=False, schema=TYPES)
