"""Measure the overhead of calls from Python.

    python python/compare/overhead.py --out python-overhead.jsonl

The overhead of a fit is the time of fit() minus the time reported by the command. For other calls, the results are
total times, including the computation. Times are medians of several calls.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

from vssgp import VSSGPRegressor, _engine, _files, forecast


def timed(work, n):
    """Return the times of n calls in milliseconds."""
    times = []
    for _ in range(n):
        began = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - began))
    return times


def spread(times):
    return {"median_ms": statistics.median(times), "p95_ms": float(np.percentile(times, 95)), "calls": len(times)}


def table(rows, inputs):
    random = np.random.default_rng(0)
    x = random.uniform(-3, 3, (rows, inputs))
    return x, np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=rows)


def fits():
    """Measure the overhead of fits of several durations, from hundredths of a second to seconds."""
    for name, rows, options in (
        ("short", 300, {}),
        ("second", 4000, {"features": 200, "window": "none", "components": 1, "iterations": 60}),
        ("long", 10000, {"features": 250, "window": "none", "components": 1, "iterations": 120}),
    ):
        x, y = table(rows, 1)
        model = VSSGPRegressor(**options)
        whole, own = [], []
        for _ in range(5):
            began = time.perf_counter()
            model.fit(x, y)
            whole.append(time.perf_counter() - began)
            own.append(model.result_["seconds"])
        over = statistics.median(w - o for w, o in zip(whole, own, strict=True))
        seconds = statistics.median(own)
        yield f"fit, {name}", {"rows": rows, "seconds": seconds, "over_ms": 1e3 * over, "share": over / seconds}


def calls():
    """Measure calls to a running child process."""
    x, y = table(300, 1)
    small = VSSGPRegressor().fit(x, y)
    yield "a call that does nothing", spread(timed(lambda: _engine.call(["version"]), 300))
    yield "predict 300 rows", spread(timed(lambda: small.predict(x, return_std=True), 200))
    x8, y8 = table(900, 8)
    large = VSSGPRegressor().fit(x8, y8)
    features = large.result_["features"]
    yield f"predict 300 rows, {features} features", spread(timed(lambda: large.predict(x8[:300], return_std=True), 100))
    series = np.sin(np.arange(300) / 5) + 0.1 * np.random.default_rng(0).normal(size=300)
    kept = forecast(series, 10).model
    yield "predict 10 rows of a series", spread(timed(lambda: kept.predict(np.arange(300, 310)), 50))
    many = np.random.default_rng(0).uniform(-3, 3, (1_000_000, 1))
    sent = {"x.npy": _files.npy(many)}
    yield "10⁶ rows sent, no work", spread(timed(lambda: _engine.call(["version"], sent), 20))
    yield "10⁶ rows predicted, three columns back", spread(timed(lambda: small.predict(many, return_std=True), 5))


def starts():
    """Measure the start of a child process and the import of the package."""

    def start():
        _engine._close_all()
        _engine.call(["version"])

    yield "a call that starts its child", spread(timed(start, 20))
    code = "import time; t = time.perf_counter(); import vssgp; print(time.perf_counter() - t)"

    def load():
        return 1e3 * float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)

    yield "import vssgp", spread([load() for _ in range(5)])


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--out", default="python-overhead.jsonl", help="append lines of JSON to this file")
    o = flags.parse_args()
    machine = {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    with open(o.out, "a") as out:
        for part in (calls, starts, fits):
            for what, line in part():
                out.write(
                    json.dumps({"bench": "python-overhead", "what": what} | line | machine, ensure_ascii=False) + "\n"
                )
                print(f"{what:45}", "  ".join(f"{k} {v:.4g}" for k, v in line.items()), flush=True)


if __name__ == "__main__":
    main()
