# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Private deciles
#
# Nine incomes that cut a table into tenths say a lot about it and little about anybody, if drawn with care. Three ideas, in the
# order in which people had them: walk along the counts until a noisy threshold is crossed; weigh every possible answer by
# how many records stand between it and the truth; draw all nine at once.

# %%
# On a hosted notebook: this installs bruit once; where it is installed already, nothing happens.
import importlib.util
import os

REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")  # the folder of the clone that this notebook stands in
if importlib.util.find_spec("bruit") is None:
    get_ipython().run_line_magic("pip", f"install --quiet '{REPOSITORY}[plot]'")
SMALL = "BRUIT_SMALL" in os.environ  # the tests of the project run everything at a small size

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import bruit
from bruit.apps import plots

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(3)  # so that the figures repeat themselves; a real release leaves `rng` out
REPEATS = 5 if SMALL else 60

# %% [markdown]
# ## Why not just add noise?
#
# The median of 100 incomes can jump from 0 to 200 000 when one person leaves. Noise that hides such a jump drowns the
# answer. Sensitivity in *value* is hopeless; sensitivity in *rank* is one: a person who leaves moves every rank by at
# most one. All three methods add their noise to ranks.
#
# ## AboveThreshold
#
# Ask "are there n/2 records below 1000? below 2000? …" and stop at the first yes. Adding noise to the threshold once and to
# each count is enough: the noes are free, only the crossing costs.

# %%
incomes = np.clip(np.exp(rng.normal(10.2, 0.5, 5_000)), 0, 200_000)
edges = np.linspace(0, 200_000, 101)[1:]
counts = np.searchsorted(np.sort(incomes), edges)
epsilon = 1.0
noisy_threshold = len(incomes) / 2 + rng.laplace(0, 2 / epsilon)
noisy_counts = counts + rng.laplace(0, 4 / epsilon, len(edges))
stop = int(np.argmax(noisy_counts >= noisy_threshold))
print(f"stopped at {edges[stop]:.0f}; the median is {np.median(incomes):.0f}")

fig, axes = plt.subplots()
axes.plot(edges, noisy_counts, ".", markersize=4, label="noisy counts")
axes.axhline(noisy_threshold, linestyle="--", label="noisy threshold")
axes.axvline(edges[stop], color=plots.COLOURS[1], label="stops here")
axes.set(xlabel="income", ylabel="records below", xlim=(0, 80_000), title="AboveThreshold looks for the median")
plots.legend_above(axes)
plt.show()

# %% [markdown]
# (NumPy's floating-point Laplace noise is fine for a picture and **not** for a release: its lowest bits give the true count
# away. `bruit` draws integers exactly.)
#
# ## Weigh every answer
#
# The *inverse sensitivity* of an answer z is the number of records that would have to change for z to be the median. The
# mechanism draws z with weight exp(−ε·length/2). Around the truth, the weight falls as fast as records get in between: where
# they are dense the answer is sharp.

# %%
grid = np.linspace(0, 80_000, 2_000)
length = np.abs(np.searchsorted(np.sort(incomes), grid) - len(incomes) / 2)
fig, axes = plt.subplots()
for price in (0.01, 0.1, 1.0):
    weight = np.exp(-price * length / 2)
    axes.plot(grid, weight / weight.sum() / (grid[1] - grid[0]), label=f"ε = {price}")
axes.set(
    xlabel="answer",
    ylabel="density",
    xlim=(15_000, 40_000),
    yscale="log",
    ylim=(1e-7, 3e-2),
    title="The median by inverse sensitivity",
)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# ## All nine at once
#
# `central.quantiles` draws the nine cuts jointly: the weight of nine cuts depends on how many records fall into each of the ten
# parts. One price buys all nine.

# %%
people = bruit.tables.read(pl.DataFrame({"income": incomes}), person=bruit.EACH_ROW)
column = people["income"].within(0, 200_000, grid=100)
ledger = bruit.Ledger("payroll", epsilon=1.0, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
deciles = bruit.central.quantiles(column, bruit.DECILES, budget=ledger.budget(epsilon=1.0), rng=rng)
for share, value, truth in zip(
    range(10, 100, 10), deciles.value, np.quantile(incomes, np.arange(1, 10) / 10), strict=True
):
    print(f"{share} %: {value:8.0f}   (table: {truth:8.0f})")
print(deciles.guarantee)

# %% [markdown]
# The book is empty now: a second question is refused before the table is read.

# %%
try:
    bruit.central.quantiles(column, bruit.DECILES, budget=ledger.budget(epsilon=1.0))
except bruit.errors.BudgetExceeded as refusal:
    print(refusal)

# %% [markdown]
# ## Which method is best?
#
# The same table again and again, at several ε. The error is counted in ranks: how many records lie between the answer and the
# true decile.

# %%
METHODS = ("joint", "recursive", "exponential", "histogram")
EPSILONS = (0.1, 0.5, 1.0, 3.0)
ordered = np.sort(incomes)


def rank_error(method: str, epsilon: float) -> float:
    """The mean rank error of nine deciles in one release."""
    book = bruit.Ledger("trial", epsilon=epsilon, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    found = bruit.central.quantiles(
        column, bruit.DECILES, budget=book.budget(epsilon=epsilon), method=method, steps=200, rng=rng
    )
    return float(np.abs(np.searchsorted(ordered, found.value) - np.arange(1, 10) / 10 * len(ordered)).mean())


fig, axes = plt.subplots()
for method in METHODS:
    errors = np.array([[rank_error(method, price) for _ in range(REPEATS)] for price in EPSILONS])
    spread = errors.std(axis=1, ddof=1) / np.sqrt(REPEATS)
    axes.errorbar(EPSILONS, errors.mean(axis=1), 2 * spread, marker="o", capsize=3, label=method)
axes.set(
    xlabel="ε", ylabel="mean rank error, records", xscale="log", yscale="log", title="Nine deciles of 5000 incomes"
)
plots.label_plainly(axes.xaxis)
plots.label_plainly(axes.yaxis)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# The report behind this notebook (*Arbitrages statistiques dans l’apprentissage automatique confidentiel*, 2022) proves bounds for the first two methods. They are honest and far from tight: at n = 10 000
# the bound on the median of uniform data is 0.166, what happens is a hundred times better. `bruit study deciles` draws both.
#
# **Exercises.** (1) The histogram method does not get better than the width of its steps: find the line in the figure. (2) Give
# half of the people the same income. Which method suffers? (3) The maximum is quantile 1. Why can no additive noise release it?
