"""Fits scikit-learn's Gaussian process and celerite2 to the problems written by `bench regression -dump DIR`.

    python regression.py -out FILE.jsonl DIR

sklearn is the exact Gaussian process. Its kernel is the family of the drawn function if there is one, and otherwise
RBF or Matérn 3/2, whichever has the higher marginal likelihood. celerite2 has an Ornstein–Uhlenbeck term for functions of
this family, and otherwise the sum of stochastic oscillators with the lowest BIC. Both learn the noise. Their predictions
are scored as by bench/internal/regression: with the standard deviation of the function if the description says latent,
and otherwise of an observation.
"""

import argparse
import json
import math
import os
import time
import warnings

import numpy as np

import peer

MIN_SD = 1e-9
NOISE = 1e-5, 10  # limits of the noise variance relative to the variance of y; the lower is scikit-learn's default


def sklearn(x, y, family, o):
    """Returns a function that predicts mean, variance without noise and noise variance, and a description."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

    if len(x) > o.most:
        raise NotRun(f"not run: more than {o.most} rows")
    reach = x[-1] - x[0]
    scale = {"length_scale": reach / 20, "length_scale_bounds": (reach * 1e-4, reach * 10)}
    kernels = {"rbf": RBF(**scale), "matern32": Matern(nu=1.5, **scale), "ou": Matern(nu=0.5, **scale)}
    best = None
    for name in [family] if family else ["rbf", "matern32"]:
        kernel = ConstantKernel(1, (1e-3, 1e3)) * kernels[name] + WhiteKernel(0.1, NOISE)
        one = GaussianProcessRegressor(kernel, alpha=1e-10, n_restarts_optimizer=o.restarts, random_state=0).fit(x[:, None], y)
        if best is None or one.log_marginal_likelihood_value_ > best.log_marginal_likelihood_value_:
            best = one
    from scipy.linalg import solve_triangular
    latent, noise = best.kernel_.k1, best.kernel_.k2.noise_level

    def predict(at):
        cross = latent(at[:, None], best.X_train_)
        half = solve_triangular(best.L_, cross.T, lower=True)
        return cross @ best.alpha_, latent.diag(at[:, None]) - np.sum(half**2, axis=0), noise
    return predict, str(best.kernel_)


SMOOTH = 1 / math.sqrt(2)  # quality of an oscillator without a peak in its spectrum
ROWS_FOR_PEAKS = 5000


def peaks(x, y, count):
    """Returns the frequencies of the highest peaks of the periodogram, after subtracting the sinusoids before."""
    from scipy.signal import lombscargle
    x, y = x[:ROWS_FOR_PEAKS], y[:ROWS_FOR_PEAKS] - y[:ROWS_FOR_PEAKS].mean()
    reach, spacing = x[-1] - x[0], np.diff(x)
    highest = 0.5 / np.median(spacing[spacing > 0.1 * reach / len(x)])  # without the spacing inside of bursts
    f = np.arange(1, max(3, int(3 * reach * highest))) / (3 * reach)
    out = []
    for _ in range(count):
        best = f[np.argmax(lombscargle(x, y, 2 * np.pi * f))]
        basis = np.stack([np.cos(2 * np.pi * best * x), np.sin(2 * np.pi * best * x), np.ones(len(x))], 1)
        y = y - basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
        out.append(best)
    return out


def starts(x, y, family):
    """Returns, by the name of a sum, the kinds of its terms and their first parameters: logarithms of the standard deviation, the
    correlation length or period, and for oscillators the quality."""
    reach = x[-1] - x[0]
    if family == "ou":
        return {"ou": [("ou", [0, math.log(reach / 20)])]}
    smooth = ("smooth", [0, math.log(reach / 5)])
    lines = [("oscillator", [-0.5, math.log(1 / f), math.log(10)]) for f in peaks(x, y, 3)]
    return {
        "matern32": [("matern32", [0, math.log(reach / 20)])],
        "smooth": [smooth],
        "2 smooth": [smooth, ("smooth", [-1, math.log(reach / 50)])],
        "oscillator": lines[:1],
        "oscillator + smooth": [*lines[:1], smooth],
        "2 oscillators + smooth": [*lines[:2], smooth],
        "3 oscillators": lines,
        "3 oscillators + smooth": [*lines, smooth],
    }


def term(kind, p):
    from celerite2 import terms
    p = np.exp(p)
    if kind == "ou":
        return terms.RealTerm(a=p[0] ** 2, c=1 / p[1])
    if kind == "matern32":
        return terms.Matern32Term(sigma=p[0], rho=p[1])
    return terms.SHOTerm(sigma=p[0], rho=p[1], Q=SMOOTH if kind == "smooth" else p[2])


def celerite2(x, y, family, o):
    """As sklearn."""
    from celerite2 import GaussianProcess
    from scipy.optimize import minimize
    reach, random, best, ends = x[-1] - x[0], np.random.default_rng(0), (math.inf,), time.perf_counter() + o.limit
    limits = [(math.log(1e-3), math.log(30)), (math.log(1e-5 * reach), math.log(20 * reach)), (math.log(0.1), math.log(1e4))]

    def process(kinds, v):
        at, total = 1, None
        for kind, count in kinds:
            one = term(kind, v[at : at + count])
            total, at = one if total is None else total + one, at + count
        gp = GaussianProcess(total)
        gp.compute(x, diag=np.full(len(x), np.exp(2 * v[0])))
        return gp

    for name, parts in starts(x, y, family).items():
        kinds = [(kind, len(p)) for kind, p in parts]
        first = np.concatenate([[math.log(0.3)]] + [p for _, p in parts])
        bounds = [tuple(0.5 * math.log(v) for v in NOISE)] + [limits[i] for _, p in parts for i in range(len(p))]

        def loss(v, kinds=kinds):
            try:
                value = -process(kinds, v).log_likelihood(y)
            except Exception:  # the matrix is not positive definite
                return 1e10
            return value if math.isfinite(value) else 1e10

        def in_time(intermediate_result):
            if time.perf_counter() > ends:
                raise StopIteration
        for restart in range(1 + o.restarts):
            if time.perf_counter() > ends and len(best) > 1:
                break
            start = first + (random.normal(0, 1, len(first)) if restart else 0)
            got = minimize(loss, np.clip(start, *np.array(bounds).T), method="L-BFGS-B", bounds=bounds, callback=in_time)
            bic = 2 * got.fun + len(first) * math.log(len(x))
            if bic < best[0]:
                best = bic, name, kinds, got.x
    bic, name, kinds, v = best
    gp = process(kinds, v)

    def predict(at):
        mean, variance = np.empty(len(at)), np.empty(len(at))
        for part in np.array_split(np.arange(len(at)), 1 + len(at) * len(x) // 10**7):
            mean[part], variance[part] = gp.predict(y, t=at[part], return_var=True)
        return mean, variance, math.exp(2 * v[0])
    return predict, f"{name}, BIC {bic:.2f}, " + " ".join(f"{p:.3g}" for p in np.exp(v))


class NotRun(Exception):
    """A problem that is too large for a method."""


METHODS = {"sklearn": sklearn, "celerite2": celerite2}


def measure(line, fit, problem, read, o):
    x, y = read("train")
    mean, scale = y.mean(), y.std() or 1.0
    began, cpu = time.perf_counter(), time.process_time()
    try:
        predict, line["found"] = fit(x, (y - mean) / scale, problem.get("family", ""), o)
        predictions = {}
        for place in problem["places"]:
            at, want = read(place["name"])
            m, variance, noise = predict(at)
            variance = np.maximum(variance, 0) + (0 if problem["latent"] else noise)
            predictions[place["name"]] = mean + scale * m, np.maximum(scale * np.sqrt(variance), MIN_SD), want
    except NotRun as e:
        line["status"] = str(e)
        return
    line["seconds"], line["cpu_seconds"] = time.perf_counter() - began, time.process_time() - cpu
    if not all(np.all(np.isfinite(m)) and np.all(np.isfinite(s)) for m, s, _ in predictions.values()):
        raise ValueError("a prediction is not finite")
    line["places"] = {name: {"n": len(want), **peer.scores(m - want, sd)} for name, (m, sd, want) in predictions.items()}


def main():
    warnings.filterwarnings("ignore")  # about length-scales at their limits
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("-out", required=True)
    flags.add_argument("-method", default=",".join(METHODS), help="methods, separated by commas")
    flags.add_argument("-most", type=int, default=2000, help="maximum number of rows for sklearn")
    flags.add_argument("-restarts", type=int, default=2, help="restarts of the optimizer from random parameters")
    flags.add_argument("-limit", type=float, default=600, help="seconds after which celerite2 stops its search")
    flags.add_argument("dir")
    o = flags.parse_args()
    with open(os.path.join(o.dir, "problems.jsonl")) as f:
        problems = [json.loads(line) for line in f]
    for problem in problems:
        def read(part, name=f"{problem['kind']}.{problem['seed']}"):
            return np.loadtxt(os.path.join(o.dir, f"{name}.{part}.csv"), delimiter=",", skiprows=1, ndmin=2).T

        for method in o.method.split(","):
            line = {k: problem[k] for k in ("machine", "kind", "seed", "half", "data")}
            line.update({"bench": "regression", "N": read("train").shape[1], "method": method, "seconds": 0, "cpu_seconds": 0, "places": None})
            line["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            peer.measured(lambda line, method=method, problem=problem, read=read: measure(line, METHODS[method], problem, read, o), line)
            with open(o.out, "a") as f:
                f.write(json.dumps(line) + "\n")
            print(problem["kind"], problem["seed"], method, line["status"], f"{line['seconds']:.1f} s", flush=True)


if __name__ == "__main__":
    main()
