"""What the source documents ask and found in each study, in our own words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sayings:
    """What a source document asks, and what it reports."""

    asks: str
    found: str


DOCUMENTS = {
    "krr-marital": Sayings(
        "Send the marital status of UCI Adult through k-ary randomised response at ε = 1; set the estimated shares "
        "beside the true ones, and the dispersion over many repeats beside the formula of the variance.",
        "The exercise states formulas and leaves the figures to the reader.",
    ),
    "krr-learning": Sayings(
        "Predict the marital status from seven attributes with a random forest, with everything people send "
        "randomised and the test labels left alone; mean and dispersion for seven ε.",
        "The exercise leaves the figures to the reader; it counts ε for each attribute, so a training person pays "
        "eight.",
    ),
    "trees": Sayings(
        "Classify wines with an entropy tree of depth five, five stratified shuffles of 20 %; mean and deviation; "
        "draw it.",
        "About 92 % for the lecture's seed.",
    ),
    "codes": Sayings(
        "Parity, Luhn, the social-security key, repetition, Hamming and Reed–Solomon codes with worked examples; "
        "the error rates of optical discs, telephone lines and fibres.",
        "The worked examples; some of them carry slips, which the errata list.",
    ),
    "budget": Sayings(
        "Tell the ε of a training before it starts, and draw it against order, size, batch, noise, epochs and δ.",
        "ε = 1.17 for 60 000 records, batches of 64, noise 1 and 15 epochs.",
    ),
    "mnist": Sayings(
        "Train a small convolutional network on MNIST with and without DP-SGD, ten epochs, batches of 64.",
        "99.0 % without privacy, 91.2 % with, and more than three times the dispersion.",
    ),
    "flowers": Sayings(
        "Train the dense head of a frozen VGG16 on 102 flowers with DP-SGD; sweep batch, noise, clip, rate and epochs.",
        "94 % without privacy; 57 % at ε = 8.3, 50 % at 4.9, 43.6 % at 4 (δ = 1e-4).",
    ),
    "cifar10": Sayings("Small and pre-trained networks on CIFAR-10 with DP-SGD.", "Mentioned without a table."),
    "memory": Sayings(
        "Measure GPU memory after each stage of a step, and predict it from the hidden units and the batch.",
        "Linear formulas with jumps; 62 397 952 bytes after loading the model with 26 hidden units.",
    ),
    "rappor": Sayings(
        "Collect strings with RAPPOR and decode them: normal and exponential laws, Windows processes, Chrome start "
        "pages.",
        "47 strings found of which 2 are false among a million reports; 10 processes; 31 pages.",
    ),
    "reconstruction": Sayings(
        "Recover secret bits from noisy subset sums by linear programming when the noise is below the root of n.",
        "The theorem of Dinur and Nissim, without an experiment.",
    ),
    "deciles": Sayings(
        "Error of nine private deciles against n and ε, uniform and normal data, mechanism by mechanism, beside "
        "bounds.",
        "Bounds and a few curves; the bounds miss the grid and the division of ε among nine deciles.",
    ),
    "knn": Sayings(
        "Nearest neighbours with Laplace noise on the votes; accuracy against six ε beside the exact vote.",
        "A curve that nears the exact one; its noise is calibrated for half the true sensitivity, and each query "
        "costs.",
    ),
}
"""By the name of the study; studies that are ours alone are not listed."""
