"""Compare VSSGPRegressor on UCI data sets with scikit-learn's Gaussian process and gradient boosting.

    python python/compare/uci.py FOLDER --out python-uci.jsonl
    python python/compare/uci.py --show python-uci.jsonl

FOLDER contains uci_concrete.csv, uci_energy.csv (only the first output is used) and uci_yacht.txt. Each split has a
random test set with a tenth of the rows. Each method is fitted to the other rows and predicts means and standard
deviations.

- VSSGPRegressor is fitted to the unscaled inputs.
- gp is GaussianProcessRegressor with a length-scale per input, a learned noise variance and one restart, on
  standardized inputs.
- boosting uses the RMSE of five-fold cross-validation on the training rows as its standard deviation.
- linear is ordinary least squares, with the same kind of standard deviation.

NLPD is the mean negative log density in nats, in the original units of y; coverage is for central 95 % intervals.
"""

import argparse
import json
import os
import platform
import time
import warnings

import numpy as np
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vssgp
from vssgp import VSSGPRegressor

TABLES = {
    "yacht": ("uci_yacht.txt", {}, 6),
    "energy": ("uci_energy.csv", {"delimiter": ",", "skiprows": 1}, 8),
    "concrete": ("uci_concrete.csv", {"delimiter": ",", "skiprows": 1}, 8),
}


def gaussian(estimator):
    """Wrap an estimator that predicts standard deviations."""

    def method(x, y, at):
        model = estimator(x.shape[1]).fit(x, y)
        return lambda: model.predict(at, return_std=True)

    return method


def process(inputs):
    kernel = ConstantKernel() * RBF(np.ones(inputs), (1e-2, 1e5)) + WhiteKernel(0.1, (1e-6, 10))
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0)
    return make_pipeline(StandardScaler(), model)


def with_residuals(estimator):
    """Wrap an estimator without standard deviations. The RMSE of five-fold cross-validation is used instead."""

    def method(x, y, at):
        model = estimator()
        sd = np.sqrt(np.mean((cross_val_predict(model, x, y, cv=5) - y) ** 2))
        model.fit(x, y)
        return lambda: (model.predict(at), np.full(len(at), sd))

    return method


METHODS = {
    "VSSGPRegressor": gaussian(lambda _: VSSGPRegressor()),
    "VSSGPRegressor vssgp": gaussian(lambda _: VSSGPRegressor("vssgp")),
    "VSSGPRegressor ssgp": gaussian(lambda _: VSSGPRegressor("ssgp")),
    "scikit-learn gp": gaussian(process),
    "scikit-learn boosting": with_residuals(
        lambda: GradientBoostingRegressor(
            n_estimators=500, max_depth=4, learning_rate=0.05, subsample=0.8, random_state=0
        )
    ),
    "linear": with_residuals(LinearRegression),
}
METRICS = {
    "rmse": "RMSE",
    "nlpd": "NLPD",
    "coverage95": "coverage",
    "fit_seconds": "fit, s",
    "predict_ms": "predict, ms",
}


def measure(method, x, y, train, test):
    """Fit one split and return the scores and times."""
    began = time.perf_counter()
    predict = method(x[train], y[train], x[test])
    fitted = time.perf_counter()
    mean, sd = predict()
    done = time.perf_counter()
    off = (y[test] - mean) / sd
    return {
        "rmse": float(np.sqrt(np.mean((y[test] - mean) ** 2))),
        "nlpd": float(-np.mean(stats.norm.logpdf(off) - np.log(sd))),
        "coverage95": float(np.mean(np.abs(off) <= stats.norm.ppf(0.975))),
        "fit_seconds": fitted - began,
        "predict_ms": 1e3 * (done - fitted),
    }


def run(folder, splits, out, tables, methods):
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    for name in tables:
        file, how, inputs = TABLES[name]
        table = np.loadtxt(os.path.join(folder, file), ndmin=2, **how)
        x, y = table[:, :inputs], table[:, inputs]
        for split, rows in enumerate(ShuffleSplit(splits, test_size=0.1, random_state=0).split(x)):
            for method in methods:
                line = {"bench": "python-uci", "table": name, "split": split, "method": method, "rows": len(rows[0])}
                line |= measure(METHODS[method], x, y, *rows) | {"vssgp": vssgp.__version__} | machine
                out.write(json.dumps(line) + "\n")
                out.flush()


def show(lines):
    """Print tables of the scores' means over the splits with their standard errors, and of the median times."""
    for table in TABLES:
        of = [line for line in lines if line["table"] == table]
        if not of:
            continue
        print(f"\n**{table}**, {of[0]['rows']} rows to fit, {1 + max(line['split'] for line in of)} splits\n")
        print(f"| method | {' | '.join(METRICS.values())} |")
        print("|---" * (1 + len(METRICS)) + "|")
        for method in METHODS:
            own = [line for line in of if line["method"] == method]
            cells = []
            for metric in METRICS if own else ():
                values = np.array([line[metric] for line in own])
                if metric == "coverage95":
                    cells.append(f"{100 * values.mean():.0f} %")
                elif metric in ("rmse", "nlpd"):
                    cells.append(f"{values.mean():.3g} ± {values.std(ddof=1) / np.sqrt(len(values)):.1g}")
                else:
                    cells.append(f"{np.median(values):.2g}")
            if own:
                print(f"| {method} | {' | '.join(cells)} |")


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("folder", nargs="?")
    flags.add_argument("--splits", type=int, default=10)
    flags.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    flags.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    flags.add_argument("--out", default="python-uci.jsonl", help="append lines of JSON to this file")
    flags.add_argument("--show", metavar="FILE", help="print the results in a file instead of measuring")
    o = flags.parse_args()
    warnings.filterwarnings("ignore")  # warnings about length-scales at their bounds and small noise
    if o.show is None:
        if o.folder is None:
            flags.error("the folder of the tables or --show FILE is required")
        with open(o.out, "a") as out:
            run(o.folder, o.splits, out, o.tables, o.methods)
    with open(o.show or o.out) as f:
        show(list(map(json.loads, f)))


if __name__ == "__main__":
    main()
