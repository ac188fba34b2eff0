# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # A table that was never anyone's
#
# Counts can be protected by noise. A synthetic table is made from such counts alone: first single columns, then the pairs of
# columns in which the invented rows are most wrong, again and again, until the price is spent. Nobody's row is copied. The table
# can be handed on, and each answer it gives says how far the true one may be.

# %%
# On a hosted notebook: this installs bruit once; where it is installed already, nothing happens.
import importlib.util
import os

REPOSITORY = os.environ.get("BRUIT_REPOSITORY", "..")  # the folder of the clone that this notebook stands in
if importlib.util.find_spec("bruit") is None:
    get_ipython().run_line_magic("pip", f"install --quiet '{REPOSITORY}[learn,plot]'")
SMALL = "BRUIT_SMALL" in os.environ  # the tests of the project run everything at a small size

# %%
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

import bruit
from bruit.apps import data, plots
from bruit.tables import among, within

plt.rcParams.update(plots.notebook_style(7, 4))
people, test = data.adult("training"), data.adult("test")
if SMALL:
    people = people.head(4000)

# %% [markdown]
# ## What is stated beforehand
#
# Every column is declared: categories by their list, numbers by bounds, a grid and the edges of their cells. All of this is
# public knowledge about a census; none of it is read off the table.

# %%
columns = {
    "age": within(15, 89, grid=1, missing=15),
    "hours-per-week": within(0, 99, grid=1, missing=0),
    "marital-status": among(["Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed"]),
    "sex": among(["Female", "Male"], drop_others=True),
    "relationship": among(["Husband", "Wife", "Own-child", "Not-in-family", "Unmarried"]),
    "education-num": within(1, 16, grid=1, missing=1),
    "income": among(["<=50K", ">50K"], drop_others=True),
}
edges = {"age": list(range(20, 90, 5)), "hours-per-week": [20, 35, 40, 45, 55]}
book = bruit.Ledger("census", epsilon=2, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
release = bruit.synthetic.synthesise(
    bruit.tables.read(people, person=bruit.EACH_ROW),
    columns,
    edges=edges,
    budget=book.budget(epsilon=1, delta="1e-5"),
    impossible=[{"relationship": "Husband", "age": (15, 19), "marital-status": "Widowed"}],
    rng=np.random.default_rng(0),  # seeded, so that this page repeats; leave it out for a real release
)
made = release.value
print(release.guarantee)
print(made.frame().head(5))

# %% [markdown]
# ## Answers that say how far to trust them
#
# A count inside a combination that was measured has the interval of its own noise. Elsewhere the whole synthesis is rehearsed on
# the synthetic table, which is public, and the errors seen there are scaled by a small audit that was paid for.

# %%
for where in (
    {"sex": "Female"},
    {"sex": "Female", "income": ">50K"},
    {"age": (20, 39), "sex": "Male", "income": ">50K"},
):
    answer = made.count(where)
    print(
        where,
        round(answer.value),
        "between",
        round(float(answer.interval.low)),
        "and",
        round(float(answer.interval.high)),
    )

# %% [markdown]
# ## One pair of columns, true and synthetic

# %%
marginal = made.marginal("education-num", "income")
rich = marginal.value[:, 1]
low, high = (ends.reshape(marginal.value.shape)[:, 1] for ends in (marginal.interval.low, marginal.interval.high))
truth = [people.filter(pl.col("education-num") == year, pl.col("income") == ">50K").height for year in range(1, 17)]
figure, axes = plt.subplots()
axes.bar(range(1, 17), truth, color="#d0d4dc", label="true table")
axes.errorbar(
    range(1, 17), rich, [rich - low, high - rich], fmt="o", color="#b3431e", capsize=3, label="synthetic, 95 %"
)
axes.set(xlabel="years of education", ylabel="people above 50 000 dollars", title="Income by education")
plots.legend_above(axes)
plt.show()

# %% [markdown]
# ## Train on invented people, test on real ones

# %%
features = [name for name in columns if name != "income"]


def auc(training: pl.DataFrame) -> float:
    """How well a model trained on a table ranks the real test people."""
    encoder = OneHotEncoder(handle_unknown="ignore").fit(training[features].to_numpy())
    model = LogisticRegression(max_iter=300).fit(encoder.transform(training[features].to_numpy()), training["income"])
    return roc_auc_score(
        test["income"] == ">50K", model.predict_proba(encoder.transform(test[features].to_numpy()))[:, 1]
    )


print("trained on the true table:", round(auc(people), 3))
print("trained on the synthetic one:", round(auc(made.frame().drop_nulls()), 3))
