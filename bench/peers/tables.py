"""Runs scikit-learn on the splits written by `bench tables -dump DIR`: a GP with a length-scale for each input, and gradient boosting.

    python tables.py -out FILE.jsonl DIR
"""

import argparse
import functools
import glob
import json
import os
import time
import warnings

import numpy as np

import peer


def gp(x, y, at, restarts):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF(np.ones(x.shape[1]), (1e-2, 1e5)) + WhiteKernel(0.1, (1e-6, 10))
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=restarts, random_state=0).fit(x, y)
    return model.predict(at, return_std=True)


def boosting(x, y, at):
    """Gradient boosting. The standard deviation is the RMSE of five-fold cross-validation."""
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import cross_val_predict

    model = GradientBoostingRegressor(n_estimators=500, max_depth=4, learning_rate=0.05, subsample=0.8, random_state=0)
    sd = np.sqrt(np.mean((cross_val_predict(model, x, y, cv=5) - y) ** 2))
    mean = model.fit(x, y).predict(at)
    return mean, np.full(len(at), sd)


def scored(fit, train, test, outputs):
    """Returns the scores over all outputs and of each. The outputs are standardized and fitted separately."""
    x, at = train[:, :-outputs], test[:, :-outputs]
    shift, scale = x.mean(0), x.std(0) + 1e-12
    errors, sds = [], []
    for d in range(-outputs, 0):
        m, s = train[:, d].mean(), train[:, d].std() or 1.0
        mean, sd = fit((x - shift) / scale, (train[:, d] - m) / s, (at - shift) / scale)
        errors.append(test[:, d] - (m + s * mean))
        sds.append(s * sd)
    line = peer.scores(np.concatenate(errors), np.concatenate(sds))
    if outputs > 1:
        line["outputs"] = [peer.scores(e, sd) for e, sd in zip(errors, sds)]
    return line


def main():
    warnings.filterwarnings("ignore")  # about length-scales at their limits
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("-out", required=True)
    flags.add_argument("-outputs", type=int, default=1)
    flags.add_argument("-most", type=int, default=3000, help="maximum number of rows for the GP")
    flags.add_argument("-restarts", type=int, default=1, help="restarts of the GP's optimizer")
    flags.add_argument("dir")
    o = flags.parse_args()
    for path in sorted(glob.glob(os.path.join(o.dir, "*.train.csv"))):
        name, split = os.path.basename(path)[: -len(".train.csv")].rsplit(".", 1)
        train, test = (np.loadtxt(p, delimiter=",", skiprows=1, ndmin=2) for p in (path, path.replace(".train.", ".test.")))
        for method, fit in (("sklearn gp", functools.partial(gp, restarts=o.restarts)), ("sklearn boosting", boosting)):
            line = {"bench": "tables", "table": name, "split": int(split), "N": len(train), "Q": train.shape[1] - o.outputs, "method": method}

            def measure(line, fit=fit, method=method):
                if method == "sklearn gp" and len(train) > o.most:
                    line["status"] = f"not run: more than {o.most} rows"
                    return
                began = time.perf_counter()
                line.update(scored(fit, train, test, o.outputs))
                line["seconds"] = time.perf_counter() - began

            line["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            with open(o.out, "a") as f:
                f.write(json.dumps(peer.measured(measure, line)) + "\n")


if __name__ == "__main__":
    main()
