# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Private neighbours
#
# To classify a record, look at the k most similar ones whose class is known and let them vote. The voters are people, and the
# answer tells something about them: with k = 1 it tells one person's class. This notebook adds noise to the votes, finds what
# that costs, and ends with a student who may answer for ever.

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
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import bruit
from bruit.apps import plots
from bruit.learning import NearestNeighbours, Student

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(0)
REPEATS = 2 if SMALL else 20
images, digits = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(images, digits, test_size=300, stratify=digits, random_state=0)
domain = {f"pixel {number}": bruit.tables.within(0, 16, grid=1) for number in range(64)}
CLASSES = list(range(10))

# %% [markdown]
# ## The exact vote

# %%
exact = {}
for k in (1, 5, 21, 51, 101):
    model = NearestNeighbours(k, domain=domain, classes=CLASSES, budget=bruit.WITHOUT_PRIVACY).fit(X_train, y_train)
    exact[k] = float((model.predict(X_test) == y_test).mean())
print(exact)

# %% [markdown]
# ## How much noise?
#
# If one person joins, leaves or changes, at most one voter is exchanged: one class may lose a vote **and another gain one**. The
# votes move by 2 in all, not by 1. The slides behind this notebook (*Privacidade diferencial*) add Laplace noise of scale 1/ε, which is calibrated
# for 1; what it really costs is 2ε *for each question*. And noise must be added to **every** class of a public list:
# noising only the classes that got votes tells which ones got none.


# %%
def accuracy(k: int, epsilon: float, questions: int = 300, method: str = "permute-and-flip") -> float:
    """One book, one fit, as many questions as were paid for."""
    book = bruit.Ledger(
        "digits", epsilon=questions * epsilon, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
    )
    model = NearestNeighbours(
        k,
        per_query=epsilon,
        method=method,
        domain=domain,
        classes=CLASSES,
        budget=book.budget(epsilon=questions * epsilon),
    ).fit(X_train, y_train)
    return float((model.predict(X_test[:questions]) == y_test[:questions]).mean())


EPSILONS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
fig, axes = plt.subplots()
for k in (5, 21, 51, 101):
    found = np.array([[accuracy(k, epsilon) for _ in range(REPEATS)] for epsilon in EPSILONS])
    (line, *_) = axes.errorbar(EPSILONS, found.mean(axis=1), found.std(axis=1), marker="o", capsize=3, label=f"k = {k}")
    axes.axhline(exact[k], color=line.get_color(), linestyle=":", linewidth=1)
axes.set(xlabel="ε for each question", ylabel="accuracy", ylim=(0, 1), title="Dotted: the exact vote")
plots.legend_above(axes)
plt.show()

# %% [markdown]
# The noise does not grow with k, the votes do: a private vote wants many voters, far more than the exact one. Too many, and
# neighbours are no longer neighbours.
#
# ## The bill
#
# Each question was paid for. Three hundred questions at ε = 1 are ε = 300: no privacy worth the name. Under one *total* the
# questions must share.

# %%
fig, axes = plt.subplots()
for method, delta in (("permute-and-flip", 0), ("gaussian", 1e-5)):
    means, spreads = [], []
    totals = (1.0, 3.0, 10.0, 30.0)
    for total in totals:
        scores = []
        for _ in range(REPEATS):
            book = bruit.Ledger(
                "digits", epsilon=total, delta=delta, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW
            )
            model = NearestNeighbours(
                51,
                queries=300,
                method=method,
                domain=domain,
                classes=CLASSES,
                budget=book.budget(epsilon=total, delta=delta),
            ).fit(X_train, y_train)
            scores.append(float((model.predict(X_test) == y_test).mean()))
        means.append(np.mean(scores))
        spreads.append(np.std(scores))
    axes.errorbar(totals, means, spreads, marker="o", capsize=3, label=method)
axes.set(
    xlabel="total ε of 300 questions", ylabel="accuracy", xscale="log", ylim=(0, 1), title="All questions in one ε"
)
plots.label_plainly(axes.xaxis)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# Gaussian noise composes better: 300 questions cost about √300 times one of them, not 300 times.
#
# ## The student
#
# If there are public records without labels, let the private voters label *those*, once. A student who learns from the
# labels has seen no private record; everything it says is post-processing. It may answer for ever, be copied, be published.

# %%
public, X_exam, _, y_exam = train_test_split(X_test, y_test, test_size=150, random_state=0)
for total in (3.0, 10.0):
    book = bruit.Ledger("digits", epsilon=total, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    student = Student(
        51, public=public, domain=domain, classes=CLASSES, budget=book.budget(epsilon=total, delta=1e-5)
    ).fit(X_train, y_train)
    print(f"total ε = {total}: {float((student.predict(X_exam) == y_exam).mean()):.1%}; {student.guarantee_}")

# %% [markdown]
# 1 500 people and ten classes are a hard case: `bruit study knn` shows larger tables, where a student of 30 000 people at a total
# of ε = 1 loses hardly anything.
#
# **Exercises.** (1) `method="document"` charges the true price of the slides' noise: compare what is left in the book. (2) Write
# down two neighbouring tables for which noise on the observed classes only is not private at any ε. (3) Why does scaling the
# columns by the data's own standard deviation break the promise, and what does `domain=` do instead?
