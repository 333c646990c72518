#!/usr/bin/env python3
"""Times celerite2's O(N·J²) likelihood, for `bench long -celerite`.

    celerite.py --n N [--terms 10] [--mode value|gradient] [--repeats 1] [--seed 1]

The data are eight sinusoids with noise at x = 0, 1, 2, …. The cost does not
depend on them. The covariance is noise plus a sum of stochastically driven,
damped oscillators (celerite's SHO with Q > 1/2) with coefficients a, b, c, d and
J = 2·terms. One evaluation builds the matrices, factorizes and solves:

    value     log-likelihood, by celerite2's NumPy interface
    gradient  log-likelihood and its derivatives with respect to every a, b, c, d
              and the noise variance, by celerite2.backprop, which stores N·J²
              numbers for the backward pass

celerite2.backprop is the compiled code used by celerite2's JAX and PyMC
interfaces. The chain rule from its matrices to the coefficients is implemented
here. In the wheels up to 0.3.3 celerite2.backprop is wrong for J > 4, also in
celerite2.jax: for sizes that are not compiled in, SIZE is Eigen::Dynamic = -1, and
the N·J² numbers are mapped as a matrix of SIZE·SIZE = 1 column. The status is then
"disagrees", without a time.

Before timing, the value and its derivative along a random direction are compared
with a dense Cholesky factorization on a few rows, with relative tolerances of 1e-9
and 1e-5. celerite2 has no threads and runs on one core.

Prints one line of JSON:

    peer, version, mode, n, terms   celerite2 and its configuration
    first_seconds                   time of the first evaluation
    seconds_per_evaluation          median of the repeats after it
    seconds_range                   minimum and maximum of the repeats
    loglikelihood                   log-likelihood of all rows
    peak_bytes                      peak resident memory of the process
    status                          ok, missing: …, disagrees: …, out of memory: …
                                    or failed: …
"""
import argparse
import json
import math

from peer import first, measured, process_peak, timed

TONES, NOISE, HIGHEST = 8, 0.1, 0.4
LOWEST = 0.02       # cycles per sample; with the damping below, each Q is above 1/2
DAMPING = 10, 30    # samples, the length-scales of bench's synthetic problems
VALUE_TOLERANCE = 1e-9
GRADIENT_TOLERANCE = 1e-5
CHECK = 256         # rows
STEP = 1e-6         # relative step of central differences


def synthetic(np, n, seed):
    rng = np.random.default_rng(seed)
    frequency, phase = rng.uniform(0, HIGHEST, TONES), rng.uniform(0, 2 * math.pi, TONES)
    x, y = np.arange(n, dtype=float), NOISE * rng.standard_normal(n)
    for f, p in zip(frequency, phase):
        y += np.sin(2 * math.pi * f * x + p) / math.sqrt(TONES / 2)
    return x, y


def parameters(np, terms, seed):
    """Returns coefficients with evenly spread frequencies and variances with a sum of one."""
    rng = np.random.default_rng(seed + 1)
    w0 = 2 * math.pi * (LOWEST + (HIGHEST - LOWEST) * (np.arange(terms) + rng.uniform(0, 1, terms)) / terms)
    damping = rng.uniform(*DAMPING, terms)
    root = np.sqrt((w0 * damping) ** 2 - 1)  # √(4Q² − 1), Q = w0·damping/2
    a, c = np.full(terms, 1 / terms), 1 / damping
    return {"a": a, "b": a / root, "c": c, "d": c * root, "noise": np.array(NOISE**2)}


def kernel_of(celerite2, p):
    total = None
    for a, b, c, d in zip(p["a"], p["b"], p["c"], p["d"]):
        one = celerite2.terms.ComplexTerm(a=a, b=b, c=c, d=d)
        total = one if total is None else total + one
    return total


def value_of(np, celerite2, p, x, y):
    """Returns the log-likelihood and None."""
    gp = celerite2.GaussianProcess(kernel_of(celerite2, p))
    gp.compute(x, diag=np.full(len(x), float(p["noise"])), check_sorted=False)
    return float(gp.log_likelihood(y)), None


def gradient_of(np, celerite2, p, x, y):
    """Returns the log-likelihood −½ Σ (log d + z²/d + log 2π) with L z = y, and its derivatives."""
    back, n, j = celerite2.backprop, len(x), 2 * len(p["a"])
    c, a, u, v = kernel_of(celerite2, p).get_celerite_matrices(x, np.full(n, float(p["noise"])))
    y = y[:, None]
    d, w, s = back.factor_fwd(x, c, a, u, v, np.empty(n), np.empty((n, j)), np.zeros((n, j, j)))
    z, f = back.solve_lower_fwd(x, c, u, w, y, np.empty((n, 1)), np.zeros((n, j, 1)))
    r = z[:, 0] / d
    value = -0.5 * float(np.log(d).sum() + z[:, 0] @ r + n * math.log(2 * math.pi))

    def zeros():
        return np.zeros(n), np.zeros(j), np.zeros((n, j)), np.zeros((n, j))
    bt, bc, bu, bw = zeros()
    _, bc, bu, bw, _ = back.solve_lower_rev(x, c, u, w, y, z, f, -r[:, None], bt, bc, bu, bw, np.zeros((n, 1)))
    bt, bc2, bu2, bv = zeros()
    _, bc2, ba, bu2, bv = back.factor_rev(x, c, a, u, v, d, w, s, 0.5 * (r * r - 1 / d), bw, bt, bc2, np.zeros(n), bu2, bv)
    bu += bu2
    bc = bc + bc2
    # U = (a cos + b sin, a sin − b cos) and V = (cos, sin) of d·x; the diagonal is Σ a + noise
    def total(m, k):
        return np.einsum("nj,nj->j", m, k)
    even, odd = slice(0, None, 2), slice(1, None, 2)
    cos, sin = v[:, even], v[:, odd]
    turn = bu[:, odd] * u[:, even]
    turn -= bu[:, even] * u[:, odd]
    turn += bv[:, odd] * cos
    turn -= bv[:, even] * sin
    return value, {
        "a": ba.sum() + total(bu[:, even], cos) + total(bu[:, odd], sin),
        "b": total(bu[:, even], sin) - total(bu[:, odd], cos),
        "c": bc[even] + bc[odd],
        "d": x @ turn,
        "noise": ba.sum(),
    }


def dense_value(np, celerite2, p, x, y):
    k = kernel_of(celerite2, p).get_value(x[:, None] - x[None, :])
    factor = np.linalg.cholesky(k + p["noise"] * np.eye(len(x)))
    z = np.linalg.solve(factor, y)
    return float(-0.5 * z @ z - np.log(np.diag(factor)).sum() - 0.5 * len(x) * math.log(2 * math.pi))


def disagreement(np, celerite2, evaluate, p, x, y):
    """Compares an evaluation with the dense value and its central difference, and returns the difference or ""."""
    value, gradient = evaluate(np, celerite2, p, x, y)
    want = dense_value(np, celerite2, p, x, y)
    if not abs(value - want) <= VALUE_TOLERANCE * max(1.0, abs(want)):
        return f"value {value!r} on {len(x)} rows, dense {want!r}"
    if gradient is None:
        return ""
    rng = np.random.default_rng(1)
    along = {t: v * rng.uniform(-1, 1, np.shape(v)) for t, v in p.items()}

    def at(step):
        return dense_value(np, celerite2, {t: v + step * along[t] for t, v in p.items()}, x, y)
    want = (at(STEP) - at(-STEP)) / (2 * STEP)
    got = float(sum((gradient[t] * along[t]).sum() for t in p))
    size = float(sum(np.abs(gradient[t] * along[t]).sum() for t in p))
    if not abs(got - want) <= GRADIENT_TOLERANCE * max(1.0, size):
        return f"derivative {got!r} on {len(x)} rows, dense {want!r}"
    return ""


def measure(o, line):
    import numpy as np
    import celerite2
    import celerite2.backprop
    line["version"] = celerite2.__version__
    evaluate = gradient_of if o.mode == "gradient" else value_of
    x, y = synthetic(np, o.n, o.seed)
    p = parameters(np, o.terms, o.seed)
    differs = disagreement(np, celerite2, evaluate, p, x[:CHECK], y[:CHECK])
    if differs:
        line["status"] = f"disagrees: {differs}"
        return

    def once():
        return evaluate(np, celerite2, p, x, y)[0]
    first(once, line)
    line["loglikelihood"] = timed(once, o.repeats, line)
    line["peak_bytes"] = process_peak()


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--n", type=int, required=True)
    ap.add_argument("--terms", type=int, default=10)
    ap.add_argument("--mode", choices=["value", "gradient"], default="value")
    ap.add_argument("--repeats", type=int, default=1)
    ap.add_argument("--seed", type=int, default=1)
    o = ap.parse_args()
    if min(o.n, o.terms, o.repeats) < 1:
        ap.error("--n, --terms and --repeats: must be at least 1")
    print(json.dumps(measured(lambda line: measure(o, line), {"peer": "celerite2", "mode": o.mode, "n": o.n, "terms": o.terms})))


if __name__ == "__main__":
    main()
