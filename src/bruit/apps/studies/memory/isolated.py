"""Measures memory in a fresh process: `python -m bruit.apps.studies.memory.isolated MODEL BATCH 0|1`."""

import json
import sys

from bruit.apps.networks import NETWORKS
from bruit.deep.memory import measure


def main(model: str, batch_size: str, private: str) -> None:
    """Prints the memory at each stage of one training step as JSON."""
    make, shape = NETWORKS[model]
    stages = measure(make, shape, batch_size=int(batch_size), private=private == "1")
    sys.stdout.write(json.dumps([stage.to_json() for stage in stages]))


if __name__ == "__main__":
    main(*sys.argv[1:])
