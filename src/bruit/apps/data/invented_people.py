"""An invented table of people, for documentation pages and first tries."""

import numpy as np
import polars

SEED = 1974
ILLNESSES = ("none", "asthma", "diabetes", "depression", "cancer")
SHARES = (0.62, 0.14, 0.12, 0.09, 0.03)
CITIES = ("Lyon", "Lisboa", "Leeds", "Lagos", "Lima")


def people(rows: int = 2000) -> polars.DataFrame:
    """Invented people, one per row, with an address, an income and an illness; the same at every call."""
    rng = np.random.default_rng(SEED)
    identities = [f"p{number:05d}" for number in range(1, rows + 1)]
    return polars.DataFrame(
        {
            "id": identities,
            "email": [f"{identity}@example.org" for identity in identities],
            "age": np.clip(rng.normal(44, 17, rows).round(), 18, 95).astype(np.int64),
            "sex": rng.choice(["f", "m"], rows),
            "city": rng.choice(CITIES, rows),
            "income": (np.exp(rng.normal(10.2, 0.5, rows)) / 100).round().astype(np.int64) * 100,
            "illness": rng.choice(ILLNESSES, rows, p=SHARES),
        }
    )
