# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # RAPPOR: finding what a crowd has in common without learning what anyone has
#
# A browser maker wants to know which start pages people have, to find the ones that malware set. Nobody's page is its business.
# RAPPOR has every browser send a few noisy bits; a page that a few in a hundred share can be found, one that a single person
# has cannot.

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

from bruit import local
from bruit.apps import plots

plt.rcParams.update(plots.notebook_style(7, 4))
rng = np.random.default_rng(5)
PEOPLE = 20_000 if SMALL else 500_000

# %% [markdown]
# ## One report, step by step
#
# 1. The text sets *h* bits of a Bloom filter of *k* bits; which ones depends on the respondent's *cohort*.
# 2. **Once and for all**, each bit is replaced by a fair coin with chance *f* and remembered: asking again gives the same bits.
# 3. **At every report**, a remembered one is sent as 1 with chance *q*, a remembered zero with chance *p*.

# %%
rappor = local.Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
print(f"one report: ε = {float(rappor.law.once):.3f}")
for reports in (2, 7, 30):
    print(f"{reports:2} reports of one text: ε = {float(rappor.law.after(reports)):.3f}")
print(f"any number of reports: ε = {float(rappor.law.forever):.3f}")

# %% [markdown]
# The step in the middle is what makes repeated collection bearable. Without it, a hundred reports of a single person would be
# averaged until the noise is gone.
#
# ## A crowd

# %%
pages = [f"page-{number:03d}.example" for number in range(200)]
shares = np.exp(-np.arange(200) / 12)
shares /= shares.sum()
truth = rng.choice(pages, PEOPLE, p=shares)
tally = rappor.tally(rappor.randomise(truth, rng=rng))
found = local.decode(tally, pages)
print(f"{len(found.labels)} of 200 pages found among {PEOPLE} reports")
print(f"a page is found nine times in ten from a share of {found.details['detection_limit']:.2%}")

# %%
shown = min(15, len(found.labels))
low, high = found.interval.low[:shown], found.interval.high[:shown]
values = found.value[:shown]
fig, axes = plt.subplots(figsize=(7, 5))
places = np.arange(shown)
axes.barh(
    places, [shares[pages.index(label.split(" or ")[0])] for label in found.labels[:shown]], alpha=0.4, label="truth"
)
axes.errorbar(values, places, xerr=[values - low, high - values], fmt="o", capsize=3, label="found, 95 %")
axes.set(yticks=places, yticklabels=found.labels[:shown], xlabel="share", title="The most frequent pages")
axes.invert_yaxis()
plots.legend_above(axes)
plt.show()

# %% [markdown]
# ## How it is decoded
#
# The share of set bits in each cohort is unmixed (the law is known). Each candidate has a fingerprint of h bits in each
# cohort; a sparse regression finds which fingerprints explain the bits, and a test decides which are real. The rare ones are
# lost, and no cleverness gets them back: the detection limit falls only with the root of the number of reports.

# %%
numbers = np.geomspace(1e4, 1e8, 30)
fig, axes = plt.subplots()
for f in (0.0, 0.25, 0.5, 0.75):
    law = local.Rappor(bits=128, hashes=2, cohorts=16, f=f, p=0.5, q=0.75)
    limits = [local.detection_limit(law, people=int(number), candidates=200) for number in numbers]
    axes.plot(numbers, limits, label=f"f = {f}, one report ε = {float(law.law.once):.2f}")
axes.set(xlabel="reports", ylabel="least share that is found", xscale="log", yscale="log", title="What cannot be found")
plots.label_plainly(axes.xaxis)
plots.label_plainly(axes.yaxis)
plots.legend_above(axes)
plt.show()

# %% [markdown]
# ## What to tell the respondents
#
# Each *different* text is protected anew: somebody whose page changes every day spends every day. A person with three
# devices is three respondents. The number of the cohort is sent in clear and narrows down who reported.
#
# **Exercises.** (1) Add a text that is no candidate and holds 5 % of the mass. What does the decoder do with its bits? (2) Set
# f = 0 and ask the same person a thousand times: recover the page from the average. (3) Which is better for 20 possible
# answers, RAPPOR or `local.KRR`? Use `local.choose_protocol`.
