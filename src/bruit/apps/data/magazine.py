"""A survey on extramarital affairs: 6 366 women, asked by Redbook magazine in 1974. [Fair 1978]"""

from importlib.util import find_spec
from pathlib import Path

import polars

from bruit.errors import MissingExtra


def fair() -> polars.DataFrame:
    """The survey as statsmodels ships it, with the column `unfaithful`: whether any time was spent in an affair."""
    found = find_spec("statsmodels")
    if found is None or found.origin is None:
        raise MissingExtra("the survey of the demo", "demo")
    # Read beside the package and not through it: importing statsmodels takes longer than the rest of the tour.
    table = polars.read_csv(Path(found.origin).parent / "datasets" / "fair" / "fair.csv", infer_schema_length=None)
    return table.with_columns(unfaithful=polars.col("affairs") > 0)
