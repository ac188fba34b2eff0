# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A model one may publish
#
# Fitting a model privately is one step of five. It is also *chosen* among others, *measured*, *saved*, and *used* by people who have
# neither the data nor the book that paid. Each step can give away what the fit had protected. This notebook walks them all on a
# made-up clinic.

# %%
# On a hosted notebook: this installs bruit once; where it is installed already, nothing happens.
import importlib.util
import os

REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")  # the folder of the clone that this notebook stands in
if importlib.util.find_spec("bruit") is None:
    get_ipython().run_line_magic("pip", f"install --quiet '{REPOSITORY}[learn,plot]'")
SMALL = "BRUIT_SMALL" in os.environ  # the tests of the project run everything at a small size

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas

import bruit
from bruit.apps import plots
from bruit.tables import among, within

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(0)

# %% [markdown]
# ## People
#
# Who comes back within a month? Age matters, and the ward; savings hardly.

# %%
PEOPLE = 4_000 if SMALL else 20_000
WARDS = ["surgery", "heart", "lungs", "bones"]


def clinic(people: int) -> tuple[pandas.DataFrame, np.ndarray]:
    """Invented patients, and whether they came back."""
    frame = pandas.DataFrame(
        {
            "age": rng.integers(18, 95, people),
            "ward": rng.choice(WARDS, people),
            "savings": np.rint(10 ** rng.uniform(0, 4.5, people)),
        }
    )
    odds = (frame["age"] - 65) / 12 + frame["ward"].map({"surgery": 0, "heart": 1.0, "lungs": 0.5, "bones": -1.0})
    return frame, np.where(rng.random(people) < 1 / (1 + np.exp(-odds)), "back", "well")


X, y = clinic(PEOPLE)
held = rng.random(PEOPLE) < 0.25  # a quarter of the people is kept for the figures
X.head()

# %% [markdown]
# ## What is public
#
# Bounds and categories are known before anybody looks at a row. With them no scaler, no imputer and no encoder is needed: those would
# learn from rows and leak. A book says what all steps together may cost.

# %%
DOMAIN = {
    "age": within(18, 95, grid=1),
    "ward": among(WARDS),
    "savings": within(0, 100_000, grid=1),
}
book = bruit.Ledger("clinic", epsilon=4, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
print(book)

# %% [markdown]
# ## Choose
#
# `GridSearchCV` compares settings by exact scores on private rows, and nobody pays for those. `PrivateSearch` tries settings a *random*
# number of times, scores them with noise on people held back, and gives out the best: for the price of three runs, however many
# there were. The price is known before the first fit.

# %%
search = bruit.learning.PrivateSearch(
    bruit.learning.LogisticRegression(domain=DOMAIN, classes=["well", "back"]),
    {"domain": [{**DOMAIN, "age": within(18, 30, grid=1)}, DOMAIN]},  # the first clamps away all that matters
    budget=book.budget(epsilon=2, delta=1e-6),
    tries=4,
)
print(search.quote().guarantee)
search.fit(X[~held], y[~held])
print(search.guarantee_)
print("chosen:", search.best_params_["domain"]["age"])

# %% [markdown]
# The guarantee after is the one before. What is left in the book:

# %%
print(book.remaining)

# %% [markdown]
# ## Measure
#
# A score on private rows is a statistic of private rows. `evaluate` buys accuracy, AUC and log loss on the people held back, with intervals
# for the population.

# %%
model = search.best_estimator_
figures = bruit.learning.evaluate(model, X[held], y[held], budget=book.budget(epsilon=1))
figures.to_pandas()

# %%
figures.plot()

# %% [markdown]
# The calibration curve comes with it: of the people whom the model gave such a chance, how many came back?

# %%
curve = figures.calibration.to_pandas()
middle = (curve["from"] + curve["to"]) / 2
fig, axes = plt.subplots()
axes.plot([0.5, 1], [0.5, 1], linestyle="--", color="grey")
axes.errorbar(
    middle, curve["right"], [curve["right"] - curve["low"], curve["high"] - curve["right"]], fmt="o", capsize=3
)
axes.set(xlabel="confidence of the model", ylabel="share that was right", title="Is it right as often as it says?")
plt.show()

# %% [markdown]
# ## Save, and load elsewhere
#
# The file holds numbers and a card: no rows, no book, no address, no code. Whoever loads it needs none of them.

# %%
path = Path(tempfile.mkdtemp()) / "readmission.bruit"
model.save(path, intended_use="Planning beds, not deciding about people.", figures=[figures])
again = bruit.learning.load(path)
print(again.card_.text)

# %%
visitors = pandas.DataFrame({"age": [25, 90], "ward": ["bones", "heart"], "savings": [10, 10_000]})
pandas.DataFrame(again.predict_proba(visitors).round(3), columns=again.classes_)

# %% [markdown]
# ## What it cost
#
# Two entries, three of four; the last ε is still there. A third question of 2 would be refused, and by whom: the book, not good will.

# %%
pandas.DataFrame(
    {
        "what": [entry.what for entry in book.entries],
        "ε": [float(entry.guarantee.epsilon) for entry in book.entries],
    }
)

# %%
try:
    bruit.learning.evaluate(model, X[held], y[held], budget=book.budget(epsilon=2))
except bruit.errors.BudgetExceeded as refusal:
    print(refusal)

# %% [markdown]
# The same in one command, from a CSV file and its schema: `bruit learn people.csv --schema people.toml --predict back …`.
#
# **Exercises.** (1) Put a `StandardScaler` before the model in a pipeline: what is refused, and why before the charge? (2) Score the model
# on the rows it was fitted on, with `evaluate`: is the price the same, and is the figure? (3) Give `curves=True` to
# the logistic regression. Whose logarithm does it learn, and what says so?
