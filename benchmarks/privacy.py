"""The reference training run (60000 records, batches of 64, noise 1) by ours and by public accountants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benchmarks.case import Case, Peer, Work

if TYPE_CHECKING:
    from bruit.privacy import TrainingPlan

RATE, NOISE, STEPS, PER_EPOCH, DELTA = 64 / 60_000, 1.0, 14_070, 938, 1e-5
LENGTHS = range(1, 101)
WHOLE: dict[str, Any] = {"size": 60_000, "batch_size": 64, "delta": DELTA}


def orders() -> Work:
    import numpy as np

    from bruit.privacy import DOCUMENT_ORDERS
    from bruit.privacy.accounting.sampled_gaussian import sampled_gaussian_rdp

    grid = np.asarray(DOCUMENT_ORDERS)
    return lambda: sampled_gaussian_rdp(RATE, NOISE, grid)


def by(name: str, **change: Any) -> Callable[[], TrainingPlan]:
    from bruit.privacy import ADD_OR_REMOVE_ONE, plan

    return lambda: plan(
        **WHOLE, epochs=15, neighbours=ADD_OR_REMOVE_ONE, by=name, **(change or {"noise_multiplier": NOISE})
    )


def rdp_epsilon() -> Work:
    return by("rdp")


def pld_epsilon() -> Work:
    return by("pld")


def rdp_noise() -> Work:
    return by("rdp", target_epsilon=1.0)


def pld_noise() -> Work:
    return by("pld", target_epsilon=1.0)


def pld_replacement() -> Work:
    from bruit.privacy import REPLACE_ONE, plan

    return lambda: plan(**WHOLE, epochs=15, neighbours=REPLACE_ONE, noise_multiplier=NOISE)


def pld_curve() -> Work:
    from bruit.privacy import ADD_OR_REMOVE_ONE, curve

    def work() -> object:
        return curve(**WHOLE, epochs=LENGTHS, noise_multiplier=NOISE, neighbours=ADD_OR_REMOVE_ONE)

    work()  # warm: one call is timed, since the peer takes half a minute
    return work


def target_error() -> Work:
    """How far below its target, relatively, the calibrated run stays; a negative number would be a broken promise."""
    work = by("pld", target_epsilon=1.0)
    return lambda: 1 - work().epsilon


def released() -> Work:
    from bruit.privacy import ADD_OR_REMOVE_ONE, DiscreteLaplace, epsilon

    loss = DiscreteLaplace(2, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE) * 30
    return lambda: epsilon(loss, delta=1e-6, by="pld")


def event(noise: float = NOISE, steps: int = STEPS) -> object:
    import dp_accounting

    step = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(noise))
    return dp_accounting.SelfComposedDpEvent(step, steps)


def google_orders() -> Work:
    from dp_accounting.rdp import RdpAccountant

    grid = [n / 10 for n in range(11, 110)] + [float(n) for n in range(12, 64)]
    return lambda: RdpAccountant(grid).compose(event(steps=1))


def google_rdp() -> Work:
    from dp_accounting.rdp import RdpAccountant

    return lambda: RdpAccountant().compose(event()).get_epsilon(DELTA)


def google_pld() -> Work:
    from dp_accounting.pld import PLDAccountant

    return lambda: PLDAccountant().compose(event()).get_epsilon(DELTA)


def google_noise(accountant: str) -> Work:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    make = {"pld": PLDAccountant, "rdp": RdpAccountant}[accountant]
    between = dp_accounting.ExplicitBracketInterval(0.4, 5.0)
    return lambda: dp_accounting.calibrate_dp_mechanism(make, event, 1.0, DELTA, bracket_interval=between, tol=1e-3)


def google_pld_noise() -> Work:
    return google_noise("pld")


def google_rdp_noise() -> Work:
    return google_noise("rdp")


def google_pld_curve() -> Work:
    from dp_accounting.pld import PLDAccountant

    def work() -> list[float]:
        accountant, epoch = PLDAccountant(), event(steps=PER_EPOCH)
        return [accountant.compose(epoch).get_epsilon(DELTA) for _ in LENGTHS]

    return work


def google_released() -> Work:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    loss = dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(2.0), 30)
    return lambda: PLDAccountant().compose(loss).get_epsilon(1e-6)


def prv_epsilon() -> Work:
    from prv_accountant.dpsgd import DPSGDAccountant

    def work() -> float:
        accountant = DPSGDAccountant(
            noise_multiplier=NOISE, sampling_probability=RATE, eps_error=0.01, delta_error=DELTA / 1000, max_steps=STEPS
        )
        return float(accountant.compute_epsilon(num_steps=STEPS, delta=DELTA)[2])

    return work


GOOGLE = "dp-accounting"

CASES = [
    Case("Rényi divergence, the 151 orders", "s", "lower", orders, (Peer(GOOGLE, google_orders),), goal=1e-3),
    Case("ε by rdp", "s", "lower", rdp_epsilon, (Peer(GOOGLE, google_rdp),)),
    Case("ε by pld", "s", "lower", pld_epsilon, (Peer(GOOGLE, google_pld), Peer("prv", prv_epsilon)), goal=0.05),
    Case("ε by pld, replacement", "s", "lower", pld_replacement, (), goal=0.05),
    Case("30 discrete Laplace releases by pld", "s", "lower", released, (Peer(GOOGLE, google_released),)),
    Case("noise for ε = 1 by rdp", "s", "lower", rdp_noise, (Peer(GOOGLE, google_rdp_noise),), rounds=3),
    Case("noise for ε = 1 by pld", "s", "lower", pld_noise, (Peer(GOOGLE, google_pld_noise),), goal=0.5, rounds=3),
    Case("ε below its target of 1 by pld", "share", "lower", target_error, (), goal=0.01, returned=True, rounds=3),
    Case("100 epochs by pld", "s", "lower", pld_curve, (Peer(GOOGLE, google_pld_curve),), goal=0.5, rounds=3, calls=1),
]
