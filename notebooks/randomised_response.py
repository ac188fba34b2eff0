# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Randomised response, from theory to learning
#
# Every person holds a value out of k. Before it leaves, a coin decides whether the true value or another one is sent. Nobody
# can be blamed for what they sent; yet the crowd can be counted, and even learned from. This notebook proves it, measures
# it on 48 842 people of UCI Adult, and shows where learning fails and how knowing the channel repairs it.

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

from bruit.apps import data, plots
from bruit.apps.data.census_categories import CATEGORIES
from bruit.learning import ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.local import KRR

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(0)  # so that the figures repeat themselves; a real survey leaves `rng` out
REPEATS = 3 if SMALL else 10
PEOPLE = 4_000 if SMALL else None

# %% [markdown]
# ## The channel
#
# k-ary randomised response keeps a value with chance $p = e^\varepsilon/(k-1+e^\varepsilon)$, and otherwise sends any other one, each with
# chance $q = 1/(k-1+e^\varepsilon)$. For any report $y$ and values $x, x'$ the ratio $\Pr[y\mid x]/\Pr[y\mid x']$ is at most $p/q = e^\varepsilon$:
# that is ε-privacy, and no trust is needed.

# %%
EPSILON = 1.0
k = 7
p = np.exp(EPSILON) / (k - 1 + np.exp(EPSILON))
q = 1 / (k - 1 + np.exp(EPSILON))
print(f"p = {p:.4f}, q = {q:.4f}, p/q = {p / q:.4f} = e^ε")

# %% [markdown]
# ## The estimator is unbiased
#
# Let $f_i$ people hold value $i$ and $r_i$ reports say $i$. A holder reports $i$ with chance $p$, anybody else with chance $q$:
#
# $$\mathbb{E}\,r_i = p f_i + q(N-f_i) \quad\Rightarrow\quad \hat f_i = \frac{r_i - qN}{p-q} = \frac{(k-1+e^\varepsilon)\,r_i - N}{e^\varepsilon-1}, \qquad \mathbb{E}\,\hat f_i = f_i.$$
#
# Its variance is that of $N$ independent coins, divided by $(p-q)^2$:
#
# $$\mathrm{Var}\,\hat f_i = \frac{f_i\,p(1-p) + (N-f_i)\,q(1-q)}{(p-q)^2}.$$
#
# ## Experiment A: marital status at ε = 1
#
# One survey of everybody, the estimate with its interval beside the truth.

# %%
adult = data.adult("all")
truth = adult["marital-status"].value_counts(sort=True)
labels, counts = truth["marital-status"].to_list(), truth["count"].to_numpy()
N = counts.sum()
krr = KRR(labels, epsilon=EPSILON)
one = krr.estimate(krr.tally(krr.randomise(adult["marital-status"], rng=rng)))
print(one.frame().with_columns(truth=counts / N))

# %%
places = np.arange(k)
fig, axes = plt.subplots()
axes.barh(places, counts / N, alpha=0.4, label="truth")
value, low, high = (np.clip(ends, 0, 1) for ends in (one.value, one.interval.low, one.interval.high))  # shares
axes.errorbar(
    value,
    places,
    xerr=[np.maximum(value - low, 0), np.maximum(high - value, 0)],
    fmt="o",
    capsize=3,
    label="one survey, 95 %",
)
axes.set(yticks=places, yticklabels=labels, xlabel="share", title="One survey at ε = 1")
axes.invert_yaxis()
plots.legend_above(axes)
plt.show()

# %% [markdown]
# Is the interval honest? Repeat the survey many times and compare the dispersion with the formula. The line printed below the
# figure is the bias in units of its own standard error: numbers around one mean *no bias*.

# %%
surveys = 40 if SMALL else 400
everybody = np.repeat(np.arange(k), counts)
plain = KRR(k, epsilon=EPSILON)
estimates = np.array([plain.estimate(plain.tally(plain.randomise(everybody, rng=rng))).value for _ in range(surveys)])
theory = np.sqrt((q * (1 - q) / (p - q) ** 2 + counts / N * (1 - p - q) / (p - q)) / N)
fig, axes = plt.subplots()
axes.errorbar(
    places,
    estimates.std(axis=0, ddof=1),
    estimates.std(axis=0) * 2 / np.sqrt(2 * surveys),
    fmt="o",
    capsize=3,
    label="measured",
)
axes.plot(places, theory, "s", fillstyle="none", label="theory")
axes.set(xticks=places, ylabel="deviation of a share", ylim=(0, None), title="How far one survey strays")
axes.set_xticklabels(labels, rotation=25, ha="right")
plots.legend_above(axes)
plt.show()
print(np.abs(estimates.mean(axis=0) - counts / N) / theory * np.sqrt(surveys))

# %% [markdown]
# ## Experiment B: learning from what was sent
#
# Predict the marital status from seven other answers. Training people send the seven and the label, test people the seven,
# each through its own channel at ε. Losses add: a training person pays 8ε, a test person 7ε. A figure \"at ε = 1\" is one at 8 and 7.

# %%
ATTRIBUTES = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
LABEL = "marital-status"
training, test = data.adult("training"), data.adult("test")
training = training if PEOPLE is None else training.head(PEOPLE)
asked = Questionnaire({name: CATEGORIES[name] for name in (*ATTRIBUTES, LABEL)}, label=LABEL, epsilon=1.0)
print(f"for a training person, for a test person: {float(asked.training_epsilon):.0f}, {float(asked.test_epsilon):.0f}")

# %% [markdown]
# ## Why the test labels stay untouched
#
# Everything that *people send* is randomised: that is the world being simulated. The test labels are not sent by anybody; they are
# the experimenter's yardstick. Judged on randomised labels, a model that is right with chance $a$ would score
# $q + (p-q)a$: at ε = 0.1 everything between 0.141 and 0.157. One would measure the noise and not the model.
#
# ## Experiment C: accuracy against ε
#
# The project's forest fits the randomised data as if it were true. The other two know the channel: naive Bayes unmixes the
# counts it is made of, the tree unmixes the histograms in its nodes.


# %%
def accuracies(epsilon: float) -> dict[str, float]:
    """One survey of everybody, and how often each model is right on the true test labels."""
    asked = Questionnaire({name: CATEGORIES[name] for name in (*ATTRIBUTES, LABEL)}, label=LABEL, epsilon=epsilon)
    sent = asked.randomise(training, rng=rng), asked.randomise_label(training[LABEL], rng=rng)
    received, true = asked.randomise(test, rng=rng), test[LABEL].to_numpy()
    models = {
        "forest on noisy data": RandomisedForest(asked, n_estimators=10, random_state=int(rng.integers(2**31))),
        "naive Bayes, unmixed": ChannelNaiveBayes(asked),
        "tree, unmixed": ChannelTree(asked),
    }
    return {name: float((model.fit(*sent).predict(received) == true).mean()) for name, model in models.items()}


EPSILONS = (0.1, 1.0, 5.0) if SMALL else (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
rows = pl.DataFrame([{"epsilon": epsilon, **accuracies(epsilon)} for epsilon in EPSILONS for _ in range(REPEATS)])
summary = rows.group_by("epsilon", maintain_order=True).agg(
    pl.all().mean().name.suffix(" mean"), pl.all().std().name.suffix(" std")
)
print(summary)

# %%
fig, axes = plt.subplots()
for name in rows.columns[1:]:
    mean, spread = summary[f"{name} mean"].to_numpy(), summary[f"{name} std"].to_numpy()
    reach = np.minimum([mean, 1 - mean], spread)  # a share stays within 0 and 1
    axes.errorbar(summary["epsilon"], mean, reach, marker="o", capsize=3, label=name)
majority = float((test[LABEL] == labels[0]).mean())
axes.axhline(majority, color="grey", linestyle="--", label="always the majority")
axes.set(xlabel="ε per attribute", ylabel="accuracy on true labels", xscale="log", title="Learned from noised answers")
plots.label_plainly(axes.xaxis)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# The forest learns the *noise* well: below ε = 1 it is worse than always naming the majority, because the most frequent *report* is
# barely ahead of the others. The same data, read through the inverse of the channel, names the most frequent report until there is
# anything to learn: from ε = 0.5 on that is the true majority, below it may be any status, which is where the long bars come from.
# `bruit study krr-learning` runs this at full size.
#
# **Exercises.** (1) Show that the estimates add up to N. (2) Four times as many people halve the error: check it. (3) Spend all of 8ε
# on the label and `relationship` alone (`split=`): what happens, and why?
