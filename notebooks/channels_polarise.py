# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Channels polarise
#
# Take two uses of a noisy channel. Send the *sum* of two bits over the first and the second bit over the second. Whoever
# listens decides the sum first, which is harder than before, and then the second bit, which is easier: it was sent twice.
# Two equal channels have become a worse and a better one, and nothing was lost. Do it again with those, and again: almost
# every channel becomes useless or perfect. A polar code sends its message over the perfect ones.

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

from bruit import channels, codes
from bruit.apps import plots

plt.rcParams.update(plots.notebook_style(7, 4))
WORDS = 200 if SMALL else 4_000

# %% [markdown]
# ## One step by hand
#
# Over an erasure channel the arithmetic is exact. With loss z = 0.5 the sum of two bits is lost unless both arrive:
# 1 − (1 − z)² = 2z − z² = 0.75. The second bit, once the sum is known, is lost only if both are: z² = 0.25.

# %%
print(codes.polarise(0.5, steps=1))
print(codes.polarise(0.5, steps=2))
print("the mean stays:", [float(codes.polarise(0.5, steps=s).mean()) for s in range(5)])

# %% [markdown]
# ## Many steps
#
# Sorted, the losses become a step: half of the channels lose everything, half lose nothing. The place of the step is the
# capacity of the channel we started from.

# %%
for steps in (2, 6, 10, 16):
    losses = np.sort(codes.polarise(0.5, steps=steps))
    plt.plot(np.linspace(0, 1, losses.size), losses, label=f"{losses.size} channels")
plt.xlabel("share of the channels")
plt.ylabel("loss")
plt.title("Channels polarise")
plots.legend_above(plt.gca())
plt.show()

# %% [markdown]
# ## The same for randomised response
#
# A respondent who tells the truth with chance e^ε / (1 + e^ε) is a channel too: her bit comes out wrong with chance
# p = 1 / (1 + e^ε). The same recursion, started from 2√(p(1 − p)), bounds what the channels become that many of her answers
# would make. The step stands at the capacity 1 − h(p): the share of a bit that one answer carries. That is the composition
# attack at its best: a repetition code needs many answers a bit, a polar code comes near the fewest there can be.

# %%
steps = 10 if SMALL else 16
for epsilon in (0.5, 1.0, 2.0, 3.0):
    wrong = 1 / (1 + np.exp(epsilon))
    bounds = np.sort(codes.polarise(2 * np.sqrt(wrong * (1 - wrong)), steps=steps))
    capacity = channels.symmetric(2, epsilon=epsilon).capacity()
    line = plt.plot(np.linspace(0, 1, bounds.size), bounds, label=f"ε = {epsilon:g}")[0]
    plt.axvline(capacity, color=line.get_color(), linestyle=":")
plt.xlabel("share of the channels")
plt.ylabel("bound on the Bhattacharyya parameter")
plt.title("Dotted: the capacity of one answer")
plots.legend_above(plt.gca(), columns=4)
plt.show()

# %% [markdown]
# The bound is loose: it counts fewer good channels than there are, and only in the limit reaches the dotted lines.
#
# ## How many answers give a person away
#
# 64 bits of a person, and 1024 answers with ε = 1 each. A repetition code asks each bit 16 times, and misses some bit of
# most persons. The polar code of 5G spends the same answers on sums of bits, and finds nearly everybody whole. Each answer
# costs its ε: the budget, not a clumsy question, has to protect her.

# %%
answers = 1024
repeated = codes.Repetition(answers // 64, k=64)
polar = codes.nr_polar(64, answers)
for code in (repeated, polar):
    found = codes.simulate(
        code, "randomised response", [1.0], word_errors=WORDS, words=WORDS, rng=np.random.default_rng(1)
    )
    print(f"{str(code)[:40]:40}  share of persons not found whole: {found['word_error_rate'][0]:.4f}")

# %% [markdown]
# ## Lists
#
# Deciding bit by bit, one wrong decision spoils the rest. A list keeps the likeliest beginnings, and a checksum picks the
# right one at the end.

# %%
levels = [1.0, 1.5, 2.0]
for paths in (1, 2, 8):
    code = codes.polar(512, 1024, polynomial="NR 11", paths=paths)
    curve = codes.simulate(code, "gaussian", levels, word_errors=100, words=WORDS, rng=np.random.default_rng(2))
    plt.semilogy(
        levels,
        np.maximum(curve["word_error_rate"], 1e-4),
        marker="o",
        label="1 path" if paths == 1 else f"{paths} paths",
    )
plt.axvline(
    codes.finite_length_limit(1024, 512, word_errors=1e-2),
    color="grey",
    linestyle=":",
    label="normal approximation, 1 %",
)
plt.xlabel("Eb/N0, dB")
plt.ylabel("word error rate")
plt.title("Lists of likely beginnings")
plots.label_plainly(plt.gca().yaxis)
plots.legend_above(plt.gca())
plt.show()
