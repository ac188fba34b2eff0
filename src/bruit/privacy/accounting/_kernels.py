"""Log-moments of the sampled Gaussian mechanism at many Rényi orders at once."""

from math import exp, expm1, lgamma, log, log1p

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel


@kernel
def log_excess_whole(rate: float, noise: float, orders: NDArray[np.int64]) -> NDArray[np.float64]:
    """Computes ln(A - 1) of the sampled Gaussian's moment A at integer Rényi orders.

    ln of the sum over k >= 2 of C(a,k) (1-q)^(a-k) q^k (exp((k^2-k)/(2 noise^2)) - 1)

    The binomial weights sum to 1, so the 1 is taken from every exponential; the terms of k = 0 and 1 are then zero.
    `orders` (orders,) int64, each at least 2; the result (orders,) float64. a is the order, q the rate.
    """
    out = np.empty(len(orders))
    log_rate, log_rest = log(rate), log1p(-rate)
    for i in range(len(orders)):
        order = orders[i]
        top, scaled = -np.inf, 0.0
        for k in range(2, order + 1):
            # Invariant: the sum of the terms before k is scaled * exp(top), top the largest of their logarithms.
            gain = (k * k - k) / (2 * noise * noise)
            log_gain = log(expm1(gain)) if gain < 30 else gain + log1p(-exp(-gain))
            chosen = lgamma(order + 1.0) - lgamma(k + 1.0) - lgamma(order - k + 1.0)
            term = chosen + (order - k) * log_rest + k * log_rate + log_gain
            if term > top:
                scaled = scaled * exp(top - term) + 1.0 if scaled > 0 else 1.0
                top = term
            else:
                scaled += exp(term - top)
        out[i] = top + log(scaled)
    return out


@kernel
def log_excess_integral(
    log_ratio: NDArray[np.float64],
    change: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    last: NDArray[np.int64],
    orders: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Computes ln E_Q[r^a - 1 - a (r - 1)] for each Rényi order a by quadrature over given nodes.

    Every term is non-negative. Small changes go through the binomial series from its second term on; large ones are
    kept under a common scale. `last` is the number of nodes an order needs.

    log_ratio, change, log_weight   (nodes,) float64: ln r, y = r - 1 and the ln of the Q-weight of each node
    last                            (orders,) int64: order i is summed over the nodes 0 ... last[i] - 1
    orders                          (orders,) float64, above 1; the result (orders,) float64
    Thresholds: exp overflows beyond 709, so a scale is taken from 300 on; from 200 on the linear term is left out,
    which only raises the sum. At |y| <= 0.02 and |a y| <= 0.1 the thirteen terms leave a relative error below 1e-16.
    """
    out = np.empty(len(orders))
    for i in range(len(orders)):
        order, scale = orders[i], 0.0
        for j in range(last[i]):
            scale = max(scale, order * log_ratio[j] + log_weight[j])
        scale = scale if scale > 300 else 0.0
        total = 0.0
        for j in range(last[i]):  # invariant: total * exp(scale) is the sum over the nodes before j
            y, power = change[j], order * log_ratio[j]
            if abs(y) <= 0.02 and abs(order * y) <= 0.1:
                coefficient, small, term = order * (order - 1) / 2, y * y, 0.0
                for n in range(2, 15):  # invariant: coefficient = C(order, n) and small = y^n
                    term += coefficient * small
                    coefficient *= (order - n) / (n + 1)
                    small *= y
                total += term * exp(log_weight[j] - scale)
            elif power < 30:
                total += (expm1(power) - order * y) * exp(log_weight[j] - scale)
            else:
                linear = (1 + order * y) * exp(log_weight[j] - scale) if power < 200 else 0.0
                total += exp(power + log_weight[j] - scale) - linear
        out[i] = log(total) + scale if total > 0 else -np.inf
    return out
