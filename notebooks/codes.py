# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation: {extension: .py, format_name: percent}
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Codes: the noise you remove
#
# The coin that protects an answer in a survey is the same mathematical object as a telephone line that garbles bits. Privacy
# asks how little an output says about its input; coding asks how to make it say everything again. This notebook walks from
# one parity bit to the codes of spacecraft, over the very channels of `bruit.local`.

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
rng = np.random.default_rng(7)
WORDS = 2_000 if SMALL else 100_000

# %% [markdown]
# ## Noticing
#
# A check digit cannot mend anything, but it notices. Luhn's digit ends every card number.

# %%
luhn = codes.Luhn(9)
print(luhn.valid(["972-487-086", "927-487-086"]), "— two digits were swapped, and it shows")
print(codes.Parity(7).complete("1000001"), "is the letter A with its parity bit")

# %% [markdown]
# ## Repeating
#
# Say everything three times and believe the majority.

# %%
code = codes.Repetition(3, 6)
sent = code.encode([0, 1, 1, 0, 1, 0])
received = np.array([1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
print(sent, "sent")
print(received, "received")
print(code.decode(received).message, "read")

# %% [markdown]
# ## Hamming's idea
#
# Three checks, each over a different half of the bits: their verdicts spell the number of the wrong bit.

# %%
hamming = codes.Hamming(3)
word = hamming.encode([1, 0, 1, 1])
print(word, "sent")
for place in range(7):
    garbled = word.copy()
    garbled[place] ^= 1
    assert (hamming.decode(garbled).message == [1, 0, 1, 1]).all()
print("any single wrong bit is mended; the price is a rate of", hamming.rate)

# %% [markdown]
# ## Reed–Solomon: whole bytes at a time
#
# A message of k symbols is a polynomial; n of its values are sent. Any k right ones fix it. Two symbols buy the correction of
# one error anywhere, or of two erasures whose place is known. It reads scratched discs and torn QR codes.

# %%
rs = codes.ReedSolomon(255, 223)
text = b"Noise you add to protect people, and noise you remove to hear the truth.".ljust(223)
word = rs.encode(text)
noisy = channels.symmetric(256, error=0.05).send(word, rng=rng)
decoded = rs.decode(noisy)
print(bytes(noisy[:72].astype(np.uint8)).decode("latin-1"))
print(bytes(np.asarray(decoded.message[:72], np.uint8)).decode())
print(f"{int(decoded.corrected)} symbols mended")

# %% [markdown]
# A QR symbol is a Reed–Solomon word laid out in a square. Tear off a corner, and read it all the same.

# %%
sent = codes.qr_symbol(b"noise is a channel", level="H")
torn = sent.copy()
torn[-8:, -8:] = rng.integers(0, 2, (8, 8)).astype(bool)
found = codes.read_qr_symbol(torn)
fig, panels = plt.subplots(1, 3)
symbols = {"sent": sent, "received": torn, "repaired": found.modules}
for panel, (name, modules) in zip(panels, symbols.items(), strict=True):
    panel.imshow(modules, cmap="gray_r", interpolation="nearest")
    panel.set_title(name)
    panel.axis("off")
plt.show()
print(f"{found.content.decode()!r}, {found.corrected} codewords mended")

# %% [markdown]
# ## How far can one go? Shannon's limit
#
# A channel that flips a bit with chance e carries 1 − h(e) bits a send, and no code does better. Here is what several codes
# leave of the errors, at the rate they cost.

# %%
errors = np.array([0.005, 0.01, 0.02, 0.05, 0.1])
fig, axes = plt.subplots()
for name, one in {
    "three copies": codes.Repetition(3),
    "five copies": codes.Repetition(5),
    "Hamming(7,4)": codes.Hamming(3),
}.items():
    messages = rng.integers(0, 2, (WORDS, one.k))
    left = []
    for error in errors:
        garbled = channels.binary(error=float(error)).send(one.encode(messages), rng=rng)
        left.append(float((one.decode(garbled).message != messages).mean()))
    left = np.where(np.array(left) > 0, left, np.nan)  # where none was wrong a logarithmic axis has no place
    axes.plot(errors, left, "o-", label=f"{name}, rate {float(one.rate):.2f}")
axes.plot(errors, errors, "--", color="grey", label="no code")
axes.set(
    xlabel="chance of a flip",
    ylabel="share of wrong bits",
    xscale="log",
    yscale="log",
    title="What codes leave of the errors",
)
plots.label_plainly(axes.xaxis)
plots.label_plainly(axes.yaxis)
plots.legend_above(axes)
plt.show()
for error in (0.01, 0.1):
    print(f"flips {error}: capacity {channels.binary(error=error).capacity():.3f} bits a send")

# %% [markdown]
# ## Privacy is bad coding on purpose
#
# Randomised response at ε is a line that flips with chance 1/(1+e^ε). Its capacity is what one answer can leak. And repeating
# the question is a repetition code: a person who is asked n times at ε pays n·ε, and is read as clearly as the code allows.
# That is composition.

# %%
fig, axes = plt.subplots()
epsilons = np.linspace(0.05, 5, 60)
axes.plot(epsilons, [channels.binary(error=float(1 / (1 + np.exp(price)))).capacity() for price in epsilons])
axes.set(xlabel="ε", ylabel="capacity in bits", title="What one answer of randomised response can carry")
plt.show()
answer = channels.binary(error=float(1 / (1 + np.e)))
for times in (1, 5, 25, 75):
    votes = answer.send(np.ones((WORDS // 10, times), np.int64), rng=rng).sum(axis=1)
    print(f"asked {times:2} times at ε = 1: read rightly {np.mean(2 * votes > times):.1%}, and ε = {times} spent")

# %% [markdown]
# **Exercises.** (1) Two wrong bits in a Hamming word: what happens, and what does `extended=True` change? (2) Cut 16 symbols out of
# the Reed–Solomon word (erasures) and add 8 errors. (3) At which ε does a yes-or-no answer carry half a bit?
