"""Pre-trains the image network on noise pictures and writes its weights: `python -m bruit.deep.vision_pretraining`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from bruit.deep.vision_pretraining.contrast import Pretraining, pretrain
from bruit.deep.vision_pretraining.draws import Draws
from bruit.deep.vision_pretraining.eyes import Eyes, half_state
from bruit.deep.vision_pretraining.network import WIDTHS, Stages

STATISTICS_SEED, STATISTICS_COUNT = 12345, 8192
"""Of the noise pictures that features are centred and scaled by."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Pre-trains the network and writes its weights; prints a progress line each minute."""
    asked = _parser().parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    settings = Pretraining(
        seconds=asked.seconds,
        seed=asked.seed,
        batch=asked.batch,
        pool=asked.pool,
        widths=tuple(asked.widths),
        steps=asked.steps,
    )
    told = -60.0

    def on_step(step: int, seconds: float, loss: float, _: Stages) -> None:
        nonlocal told
        if seconds - told >= 60:
            told = seconds
            sys.stdout.write(f"{seconds:6.0f} s  step {step}  loss {loss:.3f}\n")

    eyes = Eyes(pretrain(settings, device, on_step=on_step))
    eyes.standardise(Draws(STATISTICS_SEED, device), count=min(STATISTICS_COUNT, 8 * settings.batch))
    torch.save(half_state(eyes.to(device)), asked.out)
    sys.stdout.write(f"wrote {asked.out}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bruit.deep.vision_pretraining", description=__doc__)
    parser.add_argument("--seconds", type=float, default=680, help="how long to train, not counting the compilation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=1024, help="how many pictures a step takes, each in two versions")
    parser.add_argument(
        "--pool", type=int, default=65536, help="how many generated pictures are kept and used again for some steps"
    )
    parser.add_argument(
        "--widths", type=int, nargs="+", default=list(WIDTHS), help="how many channels each stage of the network has"
    )
    parser.add_argument("--steps", type=int, default=None, help="stop after so many steps, before --seconds are over")
    parser.add_argument("--out", type=Path, default=Path("eyes.pt"))
    return parser


if __name__ == "__main__":
    main()
