"""What the source documents ask in each study, the numbers that they print, and why ours may differ."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A source document: what it is called here, and its title."""

    kind: str
    title: str

    def __str__(self) -> str:
        return f"{self.kind} “{self.title}”"


SOURCES = {
    "S0": Document("The project", "Projet d’évaluation théorique et expérimentale d’une démarche de PVP"),
    "S1": Document("The lecture", "Success stories"),
    "S2": Document("The thesis", "Deep learning et respect des informations individuelles sensibles"),
    "S3": Document("The report", "Arbitrages statistiques dans l’apprentissage automatique confidentiel"),
    "S4": Document("The slides", "Privacidade diferencial"),
}


@dataclass(frozen=True)
class Beside:
    """A number that a document prints, and the name of ours among the figures of the study."""

    what: str
    theirs: str
    ours: str
    form: str = ".3g"


@dataclass(frozen=True)
class Sayings:
    """What a document asks and prints, what differs here and why, and the numbers that stand side by side."""

    source: str
    asks: str
    found: str
    differs: str = ""
    beside: Sequence[Beside] = ()

    @property
    def document(self) -> Document:
        """The source document that these figures are quoted from."""
        return SOURCES[self.source]


DOCUMENTS = {
    "krr-marital": Sayings(
        "S0",
        "Send the marital status of UCI Adult through k-ary randomised response at ε = 1; set the estimated shares "
        "beside the true ones, and the dispersion over many repeats beside the formula of the variance.",
        "No figures: the formulas are stated and the experiment is left to the reader.",
        "Nothing to differ from; the dispersion is set beside the formula that the project asks to prove.",
    ),
    "krr-learning": Sayings(
        "S0",
        "Predict the marital status from seven attributes with a random forest, with everything people send "
        "randomised and the test labels left alone; mean and dispersion for seven ε.",
        "No figures: they are left to the reader.",
        "It counts ε for each attribute, so a training person pays eight of them and a test person seven. Estimators "
        "that know the channel stand beside the forest, which takes reports for truths.",
    ),
    "trees": Sayings(
        "S1",
        "Classify wines with an entropy tree of depth five, five stratified shuffles of 20 %; print mean and "
        "deviation; predict row 10; draw the tree.",
        "A program without its output; the entropies 1, 0.86 and 0 of three vectors of counts.",
        "The program does not seed its tree, whose ties are then broken by chance; ours is seeded. The lecture's "
        "entropy adds 1e-9 inside the logarithm, ours is exact.",
        (
            Beside("entropy of (6, 6)", "1", "entropy_6_6"),
            Beside("entropy of (4, 10)", "0.86", "entropy_4_10"),
            Beside("entropy of (9)", "0", "entropy_9"),
        ),
    ),
    "boosting": Sayings(
        "S1",
        "Predict a number with a regression tree by squared error; fit the next tree to the errors, add, and repeat.",
        "Programs and an illustration, without figures.",
        "The lecture's illustration has no data; 442 patients inside scikit-learn take its place, and scikit-learn's "
        "boosting stands beside ours with the same settings. Its table of diabetics (Pima) is not redistributed here.",
    ),
    "codes": Sayings(
        "S1",
        "Parity, Luhn, the social-security key, repetition, Hamming and Reed–Solomon codes with worked examples; "
        "the error rates of optical discs, telephone lines and fibres.",
        "The worked examples, and bit error ratios of 1e-5, 1e-6 and 1e-9.",
        "Slips in the worked examples are listed as errata E5 to E9; the simulated error curves are ours.",
    ),
    "attacks": Sayings(
        "S2",
        "Tell why pseudonyms fail: search and film records that were linked, places that give people away, models that "
        "are inverted or stolen.",
        "Cases of others: 20 million searches of 650 000 people, 500 000 viewers, and that four places and hours "
        "usually single a person out.",
        "Those tables may not be had: people are invented by a stated program for linkage and traces, and the models "
        "are fitted on UCI Adult.",
        (
            Beside(
                "invented people alone with four places and hours",
                "usually",
                "traces: alone with 4 points of 1 km and 1 h",
                ".0%",
            ),
        ),
    ),
    "belief": Sayings(
        "S2",
        "Bound what an adversary may believe after an answer of a given ε; tabulate it for eleven priors and eight ε, "
        "and draw it.",
        "88 cells, from 1.01 to 99.95 %; a premium of 2 000 that grows to about 2 020 at ε = 0.01.",
        "Nothing: the cells agree to the last printed digit.",
        (
            Beside("even odds after ε = 1", "73.11 %", "even_odds_after_epsilon_1", ".2%"),
            Beside("even odds after two coins", "3:1", "even_odds_after_two_coins", ".2%"),
            Beside("a premium of 2 000 at ε = 0.01", "about 2 020", "premium_of_2000_at_0.01", ".2f"),
            Beside("furthest of 88 cells, percentage points", "–", "largest_difference_in_percentage_points", ".4f"),
        ),
    ),
    "krr-regression": Sayings(
        "S2",
        "Predict from randomised answers with models of regression, as Blair, Imai and Zhou did.",
        "A sentence that names their work, without a figure.",
        "The method is theirs; the survey is drawn from UCI Adult, whose true answers are known.",
    ),
    "economics": Sayings(
        "S2",
        "Say what ε means for the one who takes part: a cost that grows by at most e^ε.",
        "The example of an insurance premium; how an ε is then chosen is not said.",
        "The choice follows Hsu et al. (2014), with our own error curves in place of their bounds.",
    ),
    "noise": Sayings(
        "S2",
        "Draw the laws of Laplace and Gauss side by side, and calibrate each to ε and δ.",
        "Two drawn curves without numbers, and σ > √(2 ln(1.25/δ))/ε for ε < 1. The lecture draws noised counts of 100 "
        "and 101 employees.",
        "Noise is drawn on whole numbers, and the least σ that keeps the promise is computed instead of bounded.",
    ),
    "trust": Sayings(
        "S2",
        "Compare one trusted curator, a shuffler between people and curator, and noise added by each person.",
        "The three models in words, without an experiment.",
        "The experiment is ours, on one real question.",
    ),
    "budget": Sayings(
        "S2",
        "Tell the ε of a training before it starts, and draw it against order, size, batch, noise, epochs and δ.",
        "ε = 1.17 at order 13 for 60 000 records, batches of 64, noise 1, 15 epochs and δ = 1e-5.",
        "The same orders and conversion give the same ε; better conversions and the whole distribution of the loss "
        "give less for the same run.",
        (
            Beside("ε of the reference run", "1.17", "rdp-simple", ".2f"),
            Beside("the same run, better conversion", "–", "rdp", ".2f"),
            Beside("the same run, whole distribution of the loss", "–", "pld", ".2f"),
        ),
    ),
    "mnist": Sayings(
        "S2",
        "Train a small convolutional network on MNIST with and without DP-SGD, ten epochs, batches of 64.",
        "99.0 % without privacy, 91.2 % with, and more than three times the dispersion.",
        "It prints neither noise, clip nor δ, for which 1, 1 and 1e-5 are taken. Its batches are shuffled; ours are "
        "sampled, as the accountant needs.",
        (
            Beside("right answers without privacy", "99.0 %", "the thesis's network, without privacy", ".1%"),
            Beside("right answers with privacy", "91.2 %", "the thesis's network ε=0.494", ".1%"),
            Beside("their deviation without privacy", "–", "the thesis's network, without privacy deviation", ".2%"),
            Beside("with privacy", "more than three times that", "the thesis's network ε=0.494 deviation", ".2%"),
        ),
    ),
    "firefighters": Sayings(
        "S2",
        "Forecast the calls of a fire service from a table that was made k-anonymous, and from a differentially "
        "private one.",
        "One sentence about the work of others: the second gave far better forecasts.",
        "Those calls are not public: they are invented by a stated program, and a synthetic table stands beside.",
    ),
    "flowers": Sayings(
        "S2",
        "Train the dense head of a frozen VGG16 on 102 flowers with DP-SGD; sweep batch, noise, clip, rate and epochs.",
        "94 % without privacy; 57 % at ε = 8.3, 50 % at 4.9, 43.6 % at 4 (δ = 1e-4).",
        "Heads stand on three smaller frozen networks whose weights are public, are linear, and start from "
        "private means; two rows of its table need σ = 1.1 for the ε that they print.",
    ),
    "cifar10": Sayings(
        "S2",
        "Small and pre-trained networks on CIFAR-10 with DP-SGD.",
        "No figures: tried, and mentioned without a table.",
        "No outside photograph is used here; the comparison is with what others published, one paper at each ε. Where "
        "the search is paid for, the seeds are three.",
    ),
    "memory": Sayings(
        "S2",
        "Measure GPU memory after each stage of a step, and predict it from the hidden units and the batch.",
        "Linear formulas with jumps; 62 397 952 bytes after loading the model with 26 hidden units.",
        "Forecasts come from shapes and the allocator's rounding instead of fitted lines; our private step does not "
        "hold a gradient for each sample. What is measured here was counted by an H200.",
        (Beside("bytes after loading the model with 26 units", "62397952", "forecast_of_that_row", ".0f"),),
    ),
    "rappor": Sayings(
        "S2",
        "Collect strings with RAPPOR and decode them: normal and exponential laws, Windows processes, Chrome start "
        "pages.",
        "Among a million reports 47 strings found, of which 2 are false, and every string above 1 %; 10 processes from "
        "2.5 to 4.5 %, one of them malware at 2.6 %; 31 pages with 85 % of the mass.",
        "The two collections are not public: populations of the same sizes and shares are drawn by a stated program. "
        "The strings of the exponential law and the candidates are not printed; 100 strings and 200 or 1000 candidates "
        "are taken.",
        (
            Beside("true strings, exponential law", "45", "exponential-200: true", ".1f"),
            Beside("false strings, exponential law", "2", "exponential-200: false", ".1f"),
            Beside("true strings among 1000 candidates", "–", "exponential-1000: true", ".1f"),
            Beside("processes found of the ten, in drawn populations", "10", "windows: frequent_found", ".1f"),
            Beside("how often the malware at 2.6 % is found there", "found", "windows: malware_found", ".0%"),
            Beside("pages found of the 31, in drawn populations", "31", "chrome: frequent_found", ".1f"),
            Beside("mass of the pages found there", "85 %", "chrome: mass_found", ".0%"),
        ),
    ),
    "reconstruction": Sayings(
        "S2",
        "Recover secret bits from noisy subset sums by linear programming when the noise is below the root of n.",
        "The theorem of Dinur and Nissim, without an experiment.",
        "The experiment is ours.",
    ),
    "deciles": Sayings(
        "S3",
        "Nine private deciles of uniform and normal data by the histogram method and by inverse sensitivity, with "
        "theorems about their error.",
        "Theorems with proofs, and no experiment.",
        "The theorems miss the term of the grid and the division of ε among nine deciles (errata E31 to E35); mended, "
        "they are drawn beside what is measured.",
    ),
    "knn": Sayings(
        "S4",
        "Nearest neighbours with Laplace noise on the votes; accuracy against six ε beside the exact vote.",
        "No figures: the last page has the title of the comparison and nothing below it.",
        "Its noise is calibrated for half the true sensitivity, and each question costs (erratum E36); it is run at "
        "its true price beside mechanisms that keep theirs.",
    ),
}
"""By the name of the study; studies that are ours alone are not listed."""
