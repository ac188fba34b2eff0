# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # The budget of a private training, before it starts
#
# DP-SGD adds Gaussian noise to the sum of clipped gradients of a random batch, thousands of times. What does the whole run
# cost? That can be known before the first step, from six numbers: how many records, how large a batch, how much noise,
# how many epochs, which δ, and what *neighbours* means. This notebook draws ε against each of them.

# %%
# On a hosted notebook: this installs bruit once; where it is installed already, nothing happens.
import importlib.util
import os

REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")  # the folder of the clone that this notebook stands in
if importlib.util.find_spec("bruit") is None:
    get_ipython().run_line_magic("pip", f"install --quiet '{REPOSITORY}[plot,notebooks]'")
SMALL = "BRUIT_SMALL" in os.environ  # the tests of the project run everything at a small size

# %%
import matplotlib.pyplot as plt
import numpy as np

import bruit
from bruit import privacy
from bruit.apps import plots

plt.rcParams.update(plots.notebook_style(7, 4))
RUN = {
    "size": 60_000,
    "batch_size": 64,
    "noise_multiplier": 1.0,
    "epochs": 15,
    "delta": 1e-5,
    "neighbours": bruit.ADD_OR_REMOVE_ONE,
}
plan = privacy.plan(**RUN)
print(f"{plan.steps} steps, each record in a batch with chance {plan.rate:.3%}, ε = {float(plan.epsilon):.3f}")

# %% [markdown]
# ## One run, several accountants
#
# The thesis behind this notebook uses Rényi privacy with the simplest conversion and gets ε = 1.17 for these numbers. The same
# run, bounded more tightly, costs 0.61. Nothing about the training changed: only the proof got better.

# %%
for by, what in {
    "rdp-simple": "Rényi, simple conversion",
    "rdp": "Rényi, better conversion",
    "pld": "privacy loss distribution",
}.items():
    found = privacy.plan(**RUN, by=by)
    print(f"{what:28} ε = {float(found.epsilon):.4f}" + (f" at order {found.order:g}" if found.order else ""))

# %% [markdown]
# Why is there an order? A Rényi guarantee holds for every α at once; each gives an ε, and the smallest counts.

# %%
orders = privacy.order_curve(plan.loss, delta=1e-5)
fig, axes = plt.subplots()
for conversion in ("simple", "improved"):
    best = orders.sort(conversion).row(0, named=True)
    (line,) = axes.plot(orders["order"], orders[conversion], label=f"{conversion} conversion")
    axes.plot(best["order"], best[conversion], "o", color=line.get_color())
axes.set(xlabel="order α", ylabel="ε at δ = 1e-5", ylim=(0, 6), xlim=(1, 20), title="Every order gives a bound")
plots.legend_above(axes)
plt.show()

# %% [markdown]
# ## ε against each of the six
#
# `privacy.curve` takes a sequence for whatever is to vary and gives one row for each combination.

# %%
points = 5 if SMALL else 15
AXES = {
    "size": np.geomspace(2_000, 90_000, points).round().astype(int).tolist(),
    "batch_size": np.geomspace(16, 1024, points).round().astype(int).tolist(),
    "noise_multiplier": np.linspace(0.6, 3, points).round(3).tolist(),
    "epochs": np.unique(np.linspace(1, 60, points).round().astype(int)).tolist(),
    "delta": np.geomspace(1e-12, 1e-5, points).tolist(),
}
fig, all_axes = plt.subplots(2, 3, figsize=(12, 6.5), layout="constrained")
for axes, (name, values) in zip(all_axes.flat, AXES.items(), strict=False):
    rows = privacy.curve(**{**RUN, name: values})
    axes.plot(rows[name], rows["epsilon"], "o-", markersize=4)
    axes.set(
        xlabel=name.replace("_", " "), ylabel="ε", xscale="log" if name in {"size", "batch_size", "delta"} else "linear"
    )
    if axes.get_xscale() == "log":
        plots.label_plainly(axes.xaxis)
    if name == "size":
        axes.tick_params(axis="x", which="both", labelrotation=30)  # long numbers would run into one another
axes = all_axes.flat[-1]
for noise in (0.8, 1.0, 1.5):
    rows = privacy.curve(**{**RUN, "noise_multiplier": noise, "batch_size": AXES["batch_size"]})
    axes.plot(rows["batch_size"], rows["epsilon"], "o-", markersize=3, label=f"noise {noise}")
axes.set(xlabel="batch size", ylabel="ε", xscale="log", title="noise × batch")
plots.label_plainly(axes.xaxis)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# Three lessons hide in these curves.
#
# * **More records are cheaper.** Each is sampled more rarely.
# * **Epochs cost less and less**: ε grows like the root of the number of steps, not like the number.
# * **Large batches cost more ε but need less noise per record**: the noise is added once per batch. At the same ε, a larger
#   batch with more noise trains better. That is why private training uses batches of thousands.
#
# ## The other way round
#
# Give a target and the noise is found.

# %%
for target in (0.5, 1, 3, 8):
    found = privacy.plan(
        **{key: value for key, value in RUN.items() if key != "noise_multiplier"}, target_epsilon=target
    )
    print(f"ε = {target}: noise {float(found.noise_multiplier):.3f}")

# %% [markdown]
# ## Play with it
#
# With `ipywidgets` installed, sliders appear below; without it the cell prints one line. `bruit serve` has the same explorer
# in the browser.


# %%
def told(size: int = 60_000, batch_size: int = 64, noise: float = 1.0, epochs: int = 15) -> None:
    """One plan in a sentence."""
    found = privacy.plan(**{**RUN, "size": size, "batch_size": batch_size, "noise_multiplier": noise, "epochs": epochs})
    print(f"{found.steps} steps, ε = {float(found.epsilon):.3f} at δ = 1e-5")


if importlib.util.find_spec("ipywidgets") is not None:
    from ipywidgets import interact

    interact(told, size=(1_000, 90_000, 1_000), batch_size=(16, 4096, 16), noise=(0.5, 5.0, 0.1), epochs=(1, 100))
else:
    told()

# %% [markdown]
# ## What it assumes
#
# The batches are drawn by independent coins (Poisson sampling), as `bruit.deep` does. Batches from a shuffled data set are not
# covered by these formulas. And the noise is taken to be exactly Gaussian, which floating-point numbers are not quite: the
# guarantee of a training says `assumes: idealised arithmetic`.
#
# **Exercises.** (1) Why does `plan` refuse a δ of 1/size? (2) Find two settings with the
# same ε and the same number of gradient evaluations, of which one has half the noise per record. (3) Replace
# `ADD_OR_REMOVE_ONE` by `REPLACE_ONE` and explain the factor.
