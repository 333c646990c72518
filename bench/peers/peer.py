"""Functions shared by the scripts of peers: they run a measurement and return its line, also if it fails."""

import resource
import statistics
import time


class Missing(Exception):
    """A missing library or device."""


def first_line(e):
    return (str(e).strip() or type(e).__name__).splitlines()[0][:200]


def out_of_memory(e):
    text = str(e).lower()
    return isinstance(e, MemoryError) or "out of memory" in text or "resource_exhausted" in text or "allocate" in text


def measured(measure, line):
    """Calls measure(line), which adds results to the line, and returns it with a status: "ok" unless measure sets another or fails."""
    try:
        measure(line)
        line.setdefault("status", "ok")
    except (Missing, ImportError) as e:
        line["status"] = f"missing: {first_line(e)}"
    except Exception as e:  # the failure of a peer is reported in its row
        line["status"] = ("out of memory: " if out_of_memory(e) else "failed: ") + first_line(e)
    return line


def first(evaluate, line):
    """Returns the result of the first evaluation and adds its time, including compilation, to the line."""
    began = time.perf_counter()
    result = evaluate()
    line["first_seconds"] = time.perf_counter() - began
    return result


def timed(evaluate, repeats, line):
    """Times further evaluations and returns the last result. Adds the median, the minimum and the maximum time to the line."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = evaluate()
        seconds.append(time.perf_counter() - began)
    line["seconds_per_evaluation"], line["seconds_range"] = statistics.median(seconds), [min(seconds), max(seconds)]
    return result


def process_peak():
    """Returns the peak resident memory of the process in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def scores(error, sd):
    """Returns the scores of Gaussian predictions with standard deviation sd, as in Go's internal/bayes."""
    import numpy as np
    nlpd = np.mean(0.5 * (error / sd) ** 2 + np.log(sd) + 0.5 * np.log(2 * np.pi))
    covered = np.mean(np.abs(error) <= 1.959963984540054 * sd)
    return {"rmse": float(np.sqrt(np.mean(error**2))), "nlpd": float(nlpd), "coverage95": float(covered)}
