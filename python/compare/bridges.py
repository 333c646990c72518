"""Compare two ways to call Go from Python: a child process with pipes, and a C shared library.

    git worktree add ../library 698f84f
    (cd ../library && go build -tags cshared -buildmode=c-shared -o libvssgp.so ./cmd/vssgp)
    python python/compare/bridges.py ../library/libvssgp.so

Both process the same frames. Times are medians of several calls in milliseconds. The source of the library is in commit
698f84f; it is no longer maintained. Without the path of a library, only the child process is measured.
"""

import ctypes
import json
import os
import signal
import statistics
import struct
import subprocess
import sys
import threading
import time

import numpy as np

from vssgp import VSSGPRegressor, _engine, _files


class Library:
    """The C library. A call blocks its thread, so it runs in a second thread while the main thread waits for ^C."""

    def __init__(self, path):
        self.so = ctypes.CDLL(path)
        self.so.vssgp_call.restype = ctypes.c_void_p
        self.number = 0

    def call(self, args, files):
        several = {name: [b] if isinstance(b, (bytes, bytearray, memoryview)) else b for name, b in files.items()}
        parts = {name: [memoryview(b).cast("B") for b in buffers] for name, buffers in several.items()}
        listed = [{"name": n, "size": sum(map(len, views))} for n, views in parts.items()]
        header = json.dumps({"args": args, "files": listed}).encode()
        frame = b"".join([struct.pack("<Q", len(header)), header, *(v for views in parts.values() for v in views)])
        self.number += 1
        size, left = ctypes.c_int64(), []

        def work(number=self.number):
            left.append(
                self.so.vssgp_call(ctypes.c_int64(number), frame, ctypes.c_int64(len(frame)), ctypes.byref(size))
            )

        thread = threading.Thread(target=work)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.01)
        except KeyboardInterrupt:
            self.so.vssgp_cancel(ctypes.c_int64(self.number))
            thread.join()
            raise
        data = bytearray(ctypes.string_at(left[0], size.value))
        self.so.vssgp_free(ctypes.c_void_p(left[0]))
        (length,) = struct.unpack_from("<Q", data)
        answer, at, out = json.loads(data[8 : 8 + length]), 8 + length, {}
        for f in answer.get("files") or ():
            out[f["name"]] = data[at : at + f["size"]]
            at += f["size"]
        return answer, out


def median(work, n):
    """Return the median time of n calls in milliseconds."""
    times = []
    for _ in range(n):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e3 * statistics.median(times)


def interrupted(call, after=0.5):
    """Return the time from ^C to the end of a long fit in milliseconds."""
    x = np.linspace(0, 1, 4000)
    table = np.column_stack([x, np.sin(300 * x) + np.random.default_rng(0).normal(size=4000)])
    options = "--window none --components 1 --features 600 --iterations 100000"
    args = f"fit d.npy --method vssgp {options} -o m.safetensors --quiet".split()
    began = []

    def interrupt():
        began.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(after, interrupt).start()
    try:
        call(args, {"d.npy": _files.npy(table)})
    except KeyboardInterrupt:
        return 1e3 * (time.perf_counter() - began[0])
    raise SystemExit("the fit was not interrupted")


def together(call, args, files):
    """Return the time of two concurrent calls, divided by the time of two sequential calls."""
    alone = median(lambda: (call(args, files), call(args, files)), 5)

    def both():
        threads = [threading.Thread(target=call, args=(args, files)) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    both()
    return median(both, 5) / alone


def outcome(code, *args):
    """Run code in another Python process and return a description of the outcome."""
    try:
        p = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=20)
        if "TimeoutError" in p.stderr:
            return "the forked Python hung"
        return p.stdout.strip() or f"Python itself ended (exit code {p.returncode})"
    except subprocess.TimeoutExpired:
        return "Python itself hung"


FORK = """
import multiprocessing, sys; sys.path.insert(0, {folder!r})
import bridges
call = bridges.Library(sys.argv[1]).call if sys.argv[1:] else bridges._engine.call
def again(): call(["version"], {{}})
again()
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.apply_async(again).get(10)
print("works")
"""
CRASH_LIBRARY = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).vssgp_crash()"
CRASH_CHILD = """
import vssgp._engine as e
e.call(["version"]); e._idle[0].process.kill()
try: e._idle[0].alive = lambda: True; e.call(["version"])
except RuntimeError as err: print("RuntimeError; the next call works:", e.call(["version"]).code == 0)
"""


def main():
    library = sys.argv[1:]
    bridges = {"child": lambda args, files: _engine.call(args, files)}
    if library:
        bridges["library"] = Library(library[0]).call
    rng = np.random.default_rng(0)
    x = rng.uniform(-3, 3, (300, 1))
    model = VSSGPRegressor().fit(x, np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=300)).model_
    small = (["predict", "m.safetensors", "x.npy", "-o", "o.npy"], {"m.safetensors": model, "x.npy": _files.npy(x)})
    many = rng.uniform(-3, 3, (1_000_000, 1))
    folder = os.path.dirname(os.path.abspath(__file__))
    fit = rng.normal(size=(1500, 3))
    fit[:, 2] += np.sin(3 * fit[:, 0])
    fitting = (["fit", "d.npy", "--iterations", "20", "-o", "m.safetensors"], {"d.npy": _files.npy(fit)})
    rows = {
        "an empty call, ms": lambda call: median(lambda: call(["version"], {}), 200),
        "predict at 300 rows, ms": lambda call: median(lambda: call(*small), 100),
        "10⁶ rows sent, no work, ms": lambda call: median(lambda: call(["version"], {"x.npy": _files.npy(many)}), 20),
        "10⁶ rows predicted, ms": lambda call: median(
            lambda: call(small[0], {"m.safetensors": model, "x.npy": _files.npy(many)}), 5
        ),
        "two concurrent fits, relative to sequential": lambda call: together(call, *fitting),
        "^C until the fit has ended, ms": interrupted,
    }
    for label, measure in rows.items():
        print(f"{label:45}", *(f"{name} {measure(call):8.3g}" for name, call in bridges.items()), sep="  ", flush=True)
    env = FORK.format(folder=folder)
    print(f"{'a forked Python calls':45}  child: {outcome(env)}", *(f"  library: {outcome(env, p)}" for p in library))
    print(f"{'the Go side crashes':45}  child: {outcome(CRASH_CHILD)}")
    for path in library:
        print(f"{'':45}  library: {outcome(CRASH_LIBRARY, path)}")


if __name__ == "__main__":
    main()
