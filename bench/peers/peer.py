"""What the scripts of peers share: a measurement, and a line of JSON whatever becomes of it."""

import resource
import statistics
import time


class Missing(Exception):
    """A library or a device that is not there."""


def first_line(e):
    return (str(e).strip() or type(e).__name__).splitlines()[0][:200]


def out_of_memory(e):
    text = str(e).lower()
    return isinstance(e, MemoryError) or "out of memory" in text or "resource_exhausted" in text or "allocate" in text


def measured(measure, line):
    """The line with what measure(line) puts into it, and its status: "ok" unless measure sets another or fails."""
    try:
        measure(line)
        line.setdefault("status", "ok")
    except (Missing, ImportError) as e:
        line["status"] = f"missing: {first_line(e)}"
    except Exception as e:  # a peer's failure is its row
        line["status"] = ("out of memory: " if out_of_memory(e) else "failed: ") + first_line(e)
    return line


def first(evaluate, line):
    """The result of the first evaluation, compiling included."""
    began = time.perf_counter()
    result = evaluate()
    line["first_seconds"] = time.perf_counter() - began
    return result


def timed(evaluate, repeats, line):
    """The result of the last of some further evaluations, of which the line gets the median, the least and the most."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = evaluate()
        seconds.append(time.perf_counter() - began)
    line["seconds_per_evaluation"], line["seconds_range"] = statistics.median(seconds), [min(seconds), max(seconds)]
    return result


def process_peak():
    """The process's largest resident size."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
