"""Failures of the child process raise an error in the caller, and the next call works."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from vssgp import VSSGPRegressor, VssgpWarning, _engine, _files
from vssgp._flags import flags, text

LONG = "fit d.npy --method vssgp --window none --components 1 --features 300 --iterations 100000 -o m.safetensors"


def long_files():
    x = np.linspace(0, 1, 20_000)
    y = np.sin(99 * x) + np.random.default_rng(0).normal(size=len(x))
    return {"d.npy": _files.npy(np.column_stack([x, x**2, x**3, y]))}


def works():
    return _engine.call(["version", "--json"]).result["model_format"] == "vssgp/2"


def test_mistake_is_a_value_error():
    with pytest.raises(ValueError, match=r"^x\.csv: .*required") as error:
        _engine.call(["fit", "x.csv", "-o", "m.safetensors"], {"x.csv": b"a,b\n1,2\n"})
    assert "\n" not in str(error.value) and works()


def test_failure_is_a_runtime_error(monkeypatch, tmp_path):
    monkeypatch.setenv("VSSGP_BINARY", str(tmp_path / "none"))
    _engine._close_all()
    with pytest.raises(RuntimeError, match="cannot start .*none"):
        works()
    monkeypatch.setenv("VSSGP_BINARY", "/bin/cat" if os.path.exists("/bin/cat") else sys.executable)
    with pytest.raises(RuntimeError, match="ended unexpectedly"):
        works()


def test_crash():
    assert works()
    child = _engine._idle[-1]
    started = threading.Timer(0.3, child.process.kill)
    started.start()
    with pytest.raises(RuntimeError, match=r"ended unexpectedly \(exit code -9\)"):
        _engine.call(LONG.split(), long_files())
    assert works() and child not in _engine._idle


def test_nothing_stays_open():
    program = """if True:
        from vssgp import _engine
        for _ in range(2):
            _engine.call(["version", "--json"])
            _engine._idle[0].process.kill()
            _engine._idle[0].process.wait()
    """
    args = [sys.executable, "-W", "always::ResourceWarning", "-c", program]
    assert subprocess.run(args, capture_output=True, check=True, text=True).stderr == ""


def test_idle_child_that_dies():
    assert works()
    for child in _engine._idle:
        child.process.kill()
        child.process.wait()
    assert works()


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send the signal to this process only")
def test_interrupt_ends_the_work():
    assert works()
    child = _engine._idle[-1]
    at = []

    def interrupt():
        at.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.3, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        _engine.call(LONG.split(), long_files())
    assert time.perf_counter() - at[0] < 1 and child.process.returncode is not None and works()


@pytest.mark.skipif(os.name == "nt", reason="requires POSIX process groups")
def test_terminal_interrupt_is_the_programs():
    """The child ignores ^C, which it receives as a member of the process group, so that the program can handle it."""
    assert works()
    child = _engine._idle[-1]
    child.process.send_signal(signal.SIGINT)
    assert works() and child in _engine._idle


def test_threads():
    """Calls from several threads are independent and run concurrently."""
    results, errors = {}, []

    def one(i):
        try:
            answer = _engine.call(
                ["fill", "t.csv", "-o", "-"], {"t.csv": f"t,y\n0,{i}\n1,{i}\n2,{i}\n3,{i}\n4,\n".encode()}
            )
            results[i] = answer.stdout.splitlines()[1]
        except BaseException as err:
            errors.append(err)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors and results == {i: f"0,{i}" for i in range(8)}
    assert len(_engine._idle) <= _engine._IDLE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork():
    """A forked process starts new children instead of using its parent's children."""
    assert works()
    ours = {c.process.pid for c in _engine._idle}
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(works).get(30)
    assert works() and ours & {c.process.pid for c in _engine._idle}


@pytest.mark.parametrize("end", ["", "import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)"])
def test_child_ends_with_python(end):
    code = "from vssgp import _engine as e; e.call(['version']); print(e._idle[0].process.pid, flush=True);" + end
    pid = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    for _ in range(100):
        if not alive(pid):
            return
        time.sleep(0.05)
    pytest.fail("the child is still running")


def alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def test_warning_and_progress():
    shown = []
    noise = np.random.default_rng(0).normal(size=(1500, 3))
    with pytest.warns(VssgpWarning, match="noise"):
        _engine.call(
            "fit d.npy --method vssgp --iterations 20 -o m.safetensors".split(),
            {"d.npy": _files.npy(noise)},
            progress=shown.append,
        )
    assert any("bound" in text for text in shown)


def test_warning_location():
    """A warning points to the line that called the package."""
    x = np.linspace(0, 1, 60)[:, None]
    with pytest.warns(VssgpWarning, match="noise has decreased") as fit:
        model = VSSGPRegressor().fit(x, np.sin(9 * x[:, 0]))
    with pytest.warns(VssgpWarning, match="outside the range") as predict:
        model.predict([[1e6]])
    assert {w.filename for w in (*fit, *predict)} == {__file__}


@pytest.mark.parametrize("own", [None, "3"])
def test_joblib_share(monkeypatch, own):
    """A joblib worker uses its share of the cores, unless the user has set GOMAXPROCS."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("GOMAXPROCS", raising=False)
    if own:
        monkeypatch.setenv("GOMAXPROCS", own)
    child = _engine._Child()
    try:
        if os.path.exists("/proc"):
            with open(f"/proc/{child.process.pid}/environ") as f:
                assert f"GOMAXPROCS={own or 1}" in f.read().split("\0")
    finally:
        child.kill()


def test_flags():
    prior = {"noise": (0.1, 2), "walk": "none"}
    args = flags(short_memory=False, season=[24, "auto"], period="7d", prior=prior, horizon=np.int64(3), x=None)
    want = (
        "--short-memory=false --season=24 --season=auto --period=7d --prior=noise=0.1,2.0 --prior=walk=none --horizon=3"
    )
    assert args == want.split()
    assert text(np.float64(0.1)) == "0.1" and text(np.timedelta64(90, "m")) == "5400.0s"
    assert text(np.datetime64("2020-02-01")) == "2020-02-01" and text(True) == "true"


@pytest.mark.parametrize("shape", [(0, 2), (1,), (3, 2), (2, 3, 4)])
def test_npy(shape):
    a = np.random.default_rng(0).normal(size=shape)
    b = np.asfortranarray(a)
    assert (_files.from_npy(bytearray(b"".join(_files.npy(b)))) == a).all()


@pytest.mark.parametrize("dtype", ["u1", "<i2", "<i4", "<f4", "<f8", ">i2", ">f8"])
@pytest.mark.parametrize("shape", [(1,), (5,), (3, 2), (5, 1)])
def test_wav(dtype, shape):
    a = np.random.default_rng(0).uniform(0, 100, shape).astype(dtype)
    b = _files.from_wav(bytearray(b"".join(map(bytes, _files.wav(a, 8000)))), a)
    assert (a == b).all() and a.dtype == b.dtype
