"""Runs other methods on the splits of a folder, written by `bench tables -dump DIR` or by mapdata.py.

    python tables.py -out FILE.jsonl DIR                                               scikit-learn
    python tables.py -method nearest,linear,gp1000,efgp,ski,svgp -out FILE.jsonl DIR   for two inputs: maps.py

sklearn gp is scikit-learn's Gaussian process with a squared exponential and a length-scale for each input, sklearn two
with the sum of two, sklearn matern with a Matérn-3/2 kernel. sklearn boosting is its gradient boosting. The others are
in maps.py.
"""

import argparse
import functools
import glob
import json
import os
import time
import warnings

import numpy as np

import maps
import peer


def kernels(q):
    """Returns kernels of q inputs, without noise, by the names of their methods."""
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

    # With lengths up to 1e5, the fit of two has failed for a field of 277 rows.
    limits, long, short, middle = (1e-2, 1e2), np.full(q, 1.4), np.full(q, 0.35), np.full(q, 0.7)
    return {
        "sklearn gp": ConstantKernel() * RBF(np.ones(q), (1e-2, 1e5)),
        "sklearn two": ConstantKernel(0.5) * RBF(long, limits) + ConstantKernel(0.5) * RBF(short, limits),
        "sklearn matern": ConstantKernel() * Matern(middle, limits, nu=maps.MATERN),
    }


def gp(name):
    def fit(x, y, at, o):
        if len(x) > o.most:
            raise NotRun(f"not run: more than {o.most} rows")
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import WhiteKernel

        kernel = kernels(x.shape[1])[name] + WhiteKernel(0.1, (1e-6, 10))
        model = GaussianProcessRegressor(kernel, n_restarts_optimizer=o.restarts, random_state=0).fit(x, y)
        return model.predict(at, return_std=True)
    return fit


def boosting(x, y, at, o):
    """Gradient boosting. The standard deviation is the RMSE of five-fold cross-validation."""
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import cross_val_predict

    model = GradientBoostingRegressor(n_estimators=500, max_depth=4, learning_rate=0.05, subsample=0.8, random_state=0)
    sd = np.sqrt(np.mean((cross_val_predict(model, x, y, cv=5) - y) ** 2))
    mean = model.fit(x, y).predict(at)
    return mean, np.full(len(at), sd)


class NotRun(Exception):
    """A split that is too large for a method."""


def of_maps(name):
    return lambda x, y, at, o: maps.METHODS[name](x, y, at, o.limit)


METHODS = {name: gp(name) for name in ("sklearn gp", "sklearn two", "sklearn matern")}
METHODS |= {"sklearn boosting": boosting}
METHODS |= {name: of_maps(name) for name in maps.METHODS}


def scores(error, sd):
    """Returns the scores, only the RMSE if there are no standard deviations."""
    if sd is None:
        return {"rmse": float(np.sqrt(np.mean(error**2)))}
    return peer.scores(error, sd)


def scored(fit, train, tests, outputs):
    """Returns the scores over all outputs and of each, and of each place if there are several tests. The outputs are standardized and
    fitted separately."""
    x, at = train[:, :-outputs], np.concatenate(list(tests.values()))
    shift, scale = x.mean(0), x.std(0) + 1e-12
    errors, sds, found = [], [], []
    for d in range(-outputs, 0):
        m, s = train[:, d].mean(), train[:, d].std() or 1.0
        mean, sd, *more = fit((x - shift) / scale, (train[:, d] - m) / s, (at[:, :-outputs] - shift) / scale)
        errors.append(at[:, d] - (m + s * mean))
        sds.append(None if sd is None else s * sd)
        found += more

    def over(rows):
        sd = None if sds[0] is None else np.concatenate([s[rows] for s in sds])
        return scores(np.concatenate([e[rows] for e in errors]), sd)
    line = over(slice(None))
    if sds[0] is None:
        line["mean_only"] = True
    if found:
        line["found"] = "; ".join(found)
    if outputs > 1:
        line["outputs"] = [scores(e, sd) for e, sd in zip(errors, sds)]
    if len(tests) > 1:
        ends = np.cumsum([len(t) for t in tests.values()])
        line["places"] = {name: over(slice(end - len(t), end)) for (name, t), end in zip(tests.items(), ends)}
    return line


def measure(line, fit, train, tests, o):
    began = time.perf_counter()
    try:
        line.update(scored(fit, train, tests, o.outputs))
    except NotRun as e:
        line["status"] = str(e)
        return
    line["seconds"] = time.perf_counter() - began


def main():
    warnings.filterwarnings("ignore")  # about length-scales at their limits
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("-out", required=True)
    flags.add_argument("-outputs", type=int, default=1)
    flags.add_argument("-method", default="sklearn gp,sklearn boosting", help="methods, separated by commas: " + ", ".join(METHODS))
    flags.add_argument("-most", type=int, default=3000, help="maximum number of rows of sklearn gp, two and matern")
    flags.add_argument("-restarts", type=int, default=1, help="restarts of their optimizer")
    flags.add_argument("-limit", type=float, default=600, help="seconds after which ski and svgp stop their steps, and efgp its draws")
    flags.add_argument("dir")
    o = flags.parse_args()
    unknown = [m for m in o.method.split(",") if m not in METHODS]
    if unknown:
        flags.error(f"-method {','.join(unknown)}: must be some of {', '.join(METHODS)}")
    for path in sorted(glob.glob(os.path.join(o.dir, "*.train.csv"))):
        name, split = os.path.basename(path)[: -len(".train.csv")].rsplit(".", 1)

        def read(part, path=path):
            return np.loadtxt(path.replace(".train.", f".{part}."), delimiter=",", skiprows=1, ndmin=2)
        train, tests = read("train"), {"points": read("test")}
        if os.path.exists(path.replace(".train.", ".holes.")):
            tests["holes"] = read("holes")
        for method in o.method.split(","):
            line = {"bench": "tables", "table": name, "split": int(split), "N": len(train), "Q": train.shape[1] - o.outputs, "method": method}
            fit = functools.partial(METHODS[method], o=o)
            line["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            peer.measured(lambda line, fit=fit, train=train, tests=tests: measure(line, fit, train, tests, o), line)
            with open(o.out, "a") as f:
                f.write(json.dumps(line) + "\n")
            print(name, split, method, line["status"], f"{line.get('seconds', 0):.1f} s", flush=True)


if __name__ == "__main__":
    main()
