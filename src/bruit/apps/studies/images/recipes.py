"""The recipes of the private heads: how long, how steeply and with what preparation each study trains.

Each was chosen on held-out training images of its own data set by scores that nobody paid for; the tests were not
looked at. What was chosen on other images tells nothing of one's own: `paid_search` draws from it.
"""

from __future__ import annotations

from collections.abc import Mapping

from bruit.deep.features import Over, Recipe, Whitening

MNIST = {
    1.17: Recipe(200, 8, 0.1, average=True, mean_share=0.0225, whitenings=(Whitening(0.16, 0.004, 0.5),)),
    3.0: Recipe(200, 32, 0.1, average=True, mean_share=0.0225, whitenings=(Whitening(0.16, 0.001, 0.5),)),
}
"""Over scattering maps; on the last 5 000 of the training images, among 70 recipes each."""


def _over_channels(steps: int, rate: float, share: float, floor: float, *, average: bool = False) -> Recipe:
    whitening = Whitening(share, floor, 0.5, Over.CHANNELS)
    return Recipe(steps, rate, 0.2, mean_share=0.02, whitenings=(whitening,), average=average)


CIFAR10: Mapping[str, Mapping[float, Recipe]] = {
    "scattering": {epsilon: _over_channels(60, 64, 0.03, 0.001) for epsilon in (1.0, 3.0, 8.0)},
    "eyes": {
        1.0: _over_channels(60, 48, 0.1, 0.001),
        3.0: _over_channels(80, 64, 0.1, 0.001),
        8.0: _over_channels(120, 128, 0.1, 0.0003, average=True),
    },
    "eyes, three sizes": {
        1.0: _over_channels(60, 32, 0.1, 0.001),
        3.0: _over_channels(80, 64, 0.1, 0.001),
        8.0: _over_channels(120, 128, 0.1, 0.0003),
    },
}
"""On 5 000 of the training images, among 63, 41 and 53 recipes at ε = 3."""

FLOWERS = {
    1.0: Recipe(60, 8, 0.2, mean_share=0.04),
    2.0: Recipe(100, 8, 0.05, mean_share=0.04),
    4.0: Recipe(60, 16, 0.2, mean_share=0.04),
    8.3: Recipe(100, 16, 0.05, mean_share=0.08, whitenings=(Whitening(0.06, 0.004, 0.5),)),
}
"""Over three frozen networks; at δ = 1e-4 on the 818 flowers for validation, in 126 trials each."""


def chosen_elsewhere(data: str, over: Over) -> list[Recipe]:
    """The recipes chosen on the other data sets, each with its whitening (applied over `over`) and without."""
    chosen = {
        "mnist": [*MNIST.values()],
        "cifar10": [each for kind in CIFAR10.values() for each in kind.values()],
        "flowers": [*FLOWERS.values()],
    }
    found = []
    for recipe in (each for name, recipes in chosen.items() if name != data for each in recipes):
        there = tuple(Whitening(each.share, each.floor, each.power, over) for each in recipe.whitenings)
        found += [_with(recipe, there), _with(recipe, ())]
    return list(dict.fromkeys(found))


def _with(recipe: Recipe, whitenings: tuple[Whitening, ...]) -> Recipe:
    return Recipe(
        recipe.steps,
        recipe.rate,
        recipe.clip,
        average=recipe.average,
        mean_share=recipe.mean_share,
        whitenings=whitenings,
    )
