"""`bruit belief`: the range of an attacker's belief after an answer."""

import rich_click as click

from bruit.apps.cli.terminal.examples import examples
from bruit.apps.cli.terminal.output import json_option, print_json, show, table
from bruit.privacy.beliefs import EPSILONS, PRIORS, belief, premium

EXAMPLE = examples(
    "bruit belief",
    "bruit belief --prior 0.5 --epsilon 'ln 3' --premium 2000",
)


@click.command("belief", epilog=EXAMPLE)
@click.option("--prior", "priors", multiple=True, help="How strongly the fact is believed before the answer, 0 to 1.")
@click.option("--epsilon", "epsilons", multiple=True, help="The ε of the answer.")
@click.option(
    "--delta",
    default="0",
    show_default=True,
    help="The δ of the answer; only 0 has a bound that holds for every answer.",
)
@click.option(
    "--premium", "fair", help="Also show the most that an expected insurance premium of this size can become."
)
@json_option
def command(*, priors: tuple[str, ...], epsilons: tuple[str, ...], delta: str, fair: str | None, as_json: bool) -> None:
    """What an attacker may come to believe after an answer of a given epsilon.

    Each entry is the strongest belief in a fact about one person that any answer can lead to. --prior and --epsilon may
    be repeated; without them, the usual table is shown.
    """
    rows, columns = priors or PRIORS, epsilons or EPSILONS
    found = [[belief(prior, epsilon, delta=delta) for epsilon in columns] for prior in rows]
    costs = [] if fair is None else [premium(fair, epsilon) for epsilon in columns]
    if as_json:
        beliefs = [vars(cell) for row in found for cell in row]
        bounds = [{"epsilon": cell.epsilon, "at_most": cost} for cell, cost in zip(found[0], costs, strict=False)]
        print_json({"beliefs": beliefs, "premiums": bounds})
        return
    heads = ["before", *(f"ε={cell.epsilon:g}" for cell in found[0])]
    cells = [[f"{100 * row[0].prior:g}", *(f"{100 * cell.high:.2f}" for cell in row)] for row in found]
    show(table("Percent: the strongest belief after the answer", heads, cells))
    for cell, cost in zip(found[0], costs, strict=False):
        show(f"A premium of {float(fair or 0):g} becomes at most {cost:.2f} at ε = {cell.epsilon:g}.")
