"""The numbers of the thesis (S2): patients, premiums, budgets, table 1, bytes of memory, RAPPOR's ε."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import polars

from bruit.anonymity import risk
from bruit.apps.studies.budget import REFERENCE
from bruit.apps.studies.images.flowers_document import DELTA, SOUND_DELTA, TABLE, row_epsilon
from bruit.apps.studies.meaning.belief import PRINTED as BELIEFS
from bruit.apps.studies.printed.lecture import YES
from bruit.apps.studies.printed.rows import CORRECTED, GIVEN, LEFT, LOST, Printed, spaced
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.local import ForcedYes, FrequencyProtocol, Rappor, two_coins
from bruit.privacy import plan
from bruit.privacy.beliefs import belief_table, premium

PATIENTS = {
    "age": ["18-30", "18-30", "35-45", "35-45", "60+", "60+"],
    "district": ["Besançon", "Besançon", "Montbéliard", "Montbéliard", "Besançon", "Besançon"],
    "treated for": ["asthma", "HIV", "cancer", "HIV", "leukaemia", "leukaemia"],
}
"""The generalised table of the thesis's six patients."""

NORMAL = "10 000, 100 000, a million"
MISPRINTED = (3, 4)
"""Rows of table 1 that print σ = 1 and the ε of σ = 1.1."""


def rows() -> Iterator[Printed]:
    """Every number of the thesis but those of memory."""
    yield from anonymity_rows()
    yield from coin_rows()
    yield from belief_rows()
    yield from budget_rows()
    yield from digits_rows()
    yield from flower_rows()
    yield from cifar_rows()
    yield from rappor_rows()


def anonymity_rows() -> Iterator[Printed]:
    """What searches, places and a generalised table give away."""
    why = "Counts of others, who may not be published again; invented people stand in the study."
    yield Printed("S2.1", "searches and people of AOL", "20 million, 650 000", LOST, why, "attacks")
    yield Printed("S2.1", "viewers of Netflix", "500 000", LOST, why, "attacks")
    yield Printed("S2.1", "points of place and hour that single somebody out", "4", LEFT, why, "attacks")
    found = risk(polars.DataFrame(PATIENTS), ["age", "district"], "treated for")
    yield Printed("S2.1", "k of the six patients", "2", str(found.k))
    yield Printed("S2.1", "chance to name a patient, at most", "1/k", f"1/{found.k}", "k = 2.")
    ours = f"{found['treated for'].certain} of 6"
    yield Printed("S2.1", "patients whose treatment is certain", "2 (60+, Besançon)", ours, "The same two.")


def coin_rows() -> Iterator[Printed]:
    """Coins, and how far one record moves a sum and a histogram."""
    for name, protocol, theirs in (("forced yes", ForcedYes(), "2r − 1"), ("two coins", two_coins(), "2r − 1/2")):
        given_yes, given_no = _chances(protocol)
        slope = 1 / (given_yes - given_no)
        yield Printed("S2.2", f"share of yes from {name}", theirs, f"{slope}r − {slope * given_no}")
    ours = f"{float(two_coins().epsilon):.4f}"
    yield Printed("S2.4", "ε of two coins", "ln 3", ours, "ln 3 = 1.0986.")
    given_yes, given_no = _chances(two_coins())
    yield Printed("S2.4", "odds of a yes after two coins", "3:1", f"{given_yes / given_no}:1")
    zero, one = (np.bincount([value], minlength=2) for value in (0, 1))
    moved = int(abs(np.arange(2) @ (one - zero)))
    yield Printed("S2.4", "how far one replaced record moves a sum of bits", "1", f"{moved}")
    yield Printed("S2.4", "how far one replaced record moves a histogram", "2", f"{int(np.abs(one - zero).sum())}")


def _chances(protocol: FrequencyProtocol) -> tuple[Fraction, Fraction]:
    """The chance of a yes from those whose answer is yes, and from the others."""
    given_yes, given_no = (
        Fraction(float(np.asarray(each)[YES])) for each in (protocol.support.true, protocol.support.false)
    )
    return given_yes, given_no


def belief_rows() -> Iterator[Printed]:
    """Premiums, and the table of beliefs."""
    fair = 100_000 // 100
    yield Printed("S2.5", "premium at a chance of 1/100 for 100 000", "1 000", spaced(fair))
    what = "the same at twice the risk, which is known of all and no ε keeps away"
    yield Printed("S2.5", what, "2 000", spaced(2 * fair))
    yield Printed(
        "S2.5", "premium at a chance of 50 %, which ε-DP keeps from the insurer", "50 000", spaced(100_000 / 2)
    )
    why = "The thesis rounds e^ε to 1 + ε."
    yield Printed(
        "S2.5", "premium of 2 000 at ε = 0.01, at most", "2 020", f"{premium(2000, '0.01'):.2f}", why, "belief"
    )
    printed = [number for line in BELIEFS for number in line]
    apart = max(abs(100 * ours - theirs) for ours, theirs in zip(belief_table()["high"], printed, strict=True))
    yield Printed(
        "S2.5", "88 beliefs after an answer, %", "1.01 to 99.95", f"within {apart:.3f}", "Rounding.", "belief"
    )
    why = "Quoted from Hsu et al. (2014); the study says what an ε costs the people who take the risk."
    yield Printed("S2.5", "ε in the literature, least and most", "0.01, 10", GIVEN, why, "economics")


def budget_rows() -> Iterator[Printed]:
    """The sampling rate, steps and ε that the thesis's script prints for its own training run, beside ours."""
    found = plan(**REFERENCE, neighbours=ADD_OR_REMOVE_ONE, by="rdp-simple")
    yield Printed("S2.11", "sampling rate", "0.107 %", f"{100 * found.rate:.3f} %")
    yield Printed("S2.11", "steps", "14070", f"{found.steps}")
    yield Printed("S2.11", "ε at δ = 1e-05", "1.17", f"{found.epsilon:.2f}", "", "budget")
    yield Printed("S2.11", "best order", "13.0", f"{found.order:.1f}")


def digits_rows() -> Iterator[Printed]:
    """MNIST with and without privacy."""
    why = "Noise, clip and δ are not printed; see the study."
    yield Printed(
        "S2.15", "images to train and to test on", "60 000, 10 000", GIVEN, "The study takes as many.", "mnist"
    )
    yield Printed("S2.15", "right answers without privacy", "99.0 %", LEFT, why, "mnist")
    yield Printed("S2.15", "right answers with privacy", "91.2 %", LEFT, why, "mnist")
    yield Printed("S2.15", "growth of the deviation by privacy", "more than 3 times", LEFT, why, "mnist")
    points, share = 99.0 - 91.2, (99.0 - 91.2) / 99.0
    why = "The difference of the two printed accuracies, in points and as a share of the first."
    ours = f"{points:.1f} points ({100 * share:.1f} %)"
    yield Printed("S2.15", "loss from 99.0 to 91.2 %", "8 points (8.1 %)", ours, why, "mnist")
    yield Printed("S2.15", "91.2 % beside a guess among 10", "9", f"{0.912 * 10:.1f}", "Rounded.")


def flower_rows() -> Iterator[Printed]:
    """Table 1 on flowers, row by row: the ε are computed, the accuracies need the images."""
    for number, row in enumerate(TABLE):
        ours = row_epsilon(row, "rdp-simple", DELTA)
        batch, noise, _, rate, epochs, theirs, accuracy = row
        misprinted = number in MISPRINTED
        what = f"ε of batch {batch}, noise {noise:g}, rate {rate:g}, {epochs} epochs ({accuracy:g} % right)"
        why = (
            "The row prints noise 1, whose ε would be larger (erratum E25)." if misprinted else "Rounded to one digit."
        )
        yield Printed("S2.16", what, f"{theirs:g}", f"{ours:.2f}", why, "flowers")
    first, last = (_growth(TABLE[row]) for row in (0, -1))
    grown = f"{100 * first:.0f} % to {100 * last:.0f} %"
    why = "Of the largest and the smallest ε of table 1."
    yield Printed("S2.16", "growth of ε from δ = 1e-4 to 1e-5", "10 % to 12 %", grown, why)
    yield Printed("S2.16", "55 % beside a guess among 102", "56", f"{0.55 * 102:.0f}")
    why = "Counted over all 8 189 pictures; of the 6 552 for training 27 to 206 (erratum E26)."
    yield Printed("S2.16", "pictures of one flower", "40 to 258", CORRECTED, why, "flowers")
    why = "VGG16's weights are not at hand; three smaller networks stand in the study."
    yield Printed("S2.16", "right answers without privacy, after some twenty epochs", "94 %", LEFT, why, "flowers")
    yield Printed("S2.16", "the same after one epoch, and the best learning rate", "80 %, 2e-5", LEFT, why, "flowers")
    yield Printed("S2.16", "hidden units that are too few below, and enough", "256, 512", LEFT, why, "flowers")
    yield Printed("S2.16", "how far images are reduced: with a gain, and too far", "2, 4", LEFT, why, "flowers")


def cifar_rows() -> Iterator[Printed]:
    """What the thesis tells of CIFAR-10, on which it prints no result."""
    why = "The study takes as many, of a copy that was compressed again."
    yield Printed("S2.16", "images of CIFAR-10, and those to train on", "60 000, 50 000", GIVEN, why, "cifar10")


def _growth(row: tuple[float, ...]) -> float:
    """By how much the ε of a row of table 1 grows when δ falls from 1e-4 to 1e-5."""
    return row_epsilon(row, "rdp-simple", SOUND_DELTA) / row_epsilon(row, "rdp-simple", DELTA) - 1


def rappor_rows() -> Iterator[Printed]:
    """RAPPOR's ε, and where its collections are measured."""
    cases = (("Windows processes, f = 0.5", "0.5", "1.07"), ("Chrome homepages, f = 0.75", "0.75", "0.53"))
    for name, f, theirs in cases:
        law = Rappor(bits=128, hashes=2, cohorts=8, f=f, p="0.5", q="0.75").law
        yield Printed("S2.18", f"ε of one report, {name}", theirs, f"{float(law.once):.2f}", "", "rappor")
    once = Rappor(bits=128, hashes=1, cohorts=1, f="0", p="0.5", q="0.75").law.once
    why = "True for one hash and f = 0 only; the thesis says it of all experiments (erratum E28)."
    yield Printed("S2.20", "ε of p = 0.5 and q = 0.75", "ln 3", f"{float(once):.4f}", why, "rappor")
    why = "Measured over many collections in the study."
    drawn = "The collections are not public: populations of the same shares are drawn in the study."
    yield Printed("S2.20", "strings found, and false ones", "47, 2", LEFT, why, "rappor")
    yield Printed("S2.20", "largest p-value of the 20 and of the 10 most frequent", "1e-10, 1e-31", LEFT, why, "rappor")
    yield Printed("S2.20", "strings of more than 1 % that are found", "all", LEFT, why, "rappor")
    yield Printed("S2.20", "reports that show the normal law: too few, its shape, exactly", NORMAL, LEFT, why, "rappor")
    yield Printed("S2.20", "reports and machines of Windows", "186 792, 10 133", GIVEN, drawn, "rappor")
    yield Printed("S2.20", "processes found, and their shares", "10, 2.5 to 4.5 %", LEFT, drawn, "rappor")
    yield Printed("S2.20", "share of the malware", "2.6 %", LEFT, drawn, "rappor")
    yield Printed("S2.20", "candidates found among the homepages", "0.5 %", LEFT, drawn, "rappor")
    why = "Not implied by its parameters (erratum E28); the study gives the least share that is found."
    yield Printed("S2.20", "people who share a homepage that is found, at least", "14 000", CORRECTED, why, "rappor")
    yield Printed("S2.20", "homepages found, and their mass", "31, 85 %", LEFT, drawn, "rappor")
