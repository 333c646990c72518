import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import vssgp
from vssgp import _engine


def test_command():
    """The package also provides the command."""
    assert os.access(_engine.binary(), os.X_OK)
    done = subprocess.run([sys.executable, "-m", "vssgp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("vssgp ") and subprocess.run([sys.executable, "-m", "vssgp", "oops"]).returncode == 2


def test_version(tmp_path):
    """The package, its metadata, the command and the files of both kinds of models have the same version."""
    assert vssgp.__version__ == metadata.version("vssgp")
    assert subprocess.check_output([_engine.binary(), "--version"], text=True).split()[1] == vssgp.__version__
    told = subprocess.check_output([_engine.binary(), "version", "--json"], text=True)
    assert json.loads(told)["version"] == vssgp.__version__
    path = tmp_path / "model.safetensors"
    vssgp.forecast([1, 2, 3, 2] * 9, 2).model.save(path)
    assert vssgp.SeriesModel.load(path).info()["version"] == vssgp.__version__
    vssgp.VSSGPRegressor().fit([[i] for i in range(20)], [i % 3 for i in range(20)]).save(path)
    told = subprocess.check_output([_engine.binary(), "info", path, "--json"], text=True)
    assert json.loads(told)["version"] == vssgp.__version__


def test_script_that_finds_itself():
    """If the package lacks its binary and finds its own script on PATH, the script must not start itself forever."""
    script = shutil.which("vssgp", path=os.path.dirname(sys.executable))
    if script is None:
        pytest.skip("the package is not installed, so there is no script")
    env = os.environ | {"VSSGP_BINARY": script}
    done = subprocess.run([script], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "is this script instead of the binary" in done.stderr


def test_import():
    """Scikit-learn, which is slow to import, is imported only for the estimators."""
    code = "import sys, vssgp; print('sklearn' in sys.modules); vssgp.VSSGPRegressor; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_names():
    assert all(hasattr(vssgp, name) and getattr(vssgp, name).__doc__ for name in vssgp.__all__)


def wheel(to, **env):
    """Return the output of pip and the wheel it builds, or None if it fails."""
    pytest.importorskip("hatchling")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(to)]
    done = subprocess.run(
        [*pip, str(Path(__file__).parents[1])], env=os.environ | env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert (done.returncode == 0) == bool(built := list(to.glob("*.whl"))), done.stdout.decode()
    return done.stdout.decode(), next(iter(built), None)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the test's go is a shell script")
@pytest.mark.parametrize("version", [None, "go1.19.8", ""])
def test_unfit_go(tmp_path, version):
    """A missing or outdated Go is reported in one line. Go 1.15 has no GOVERSION."""
    if version is not None:
        (tmp_path / "go").write_text(f"#!/bin/sh\nprintf '{version}\\nlinux\\namd64\\nlinux\\namd64\\n/go\\n'\n")
        (tmp_path / "go").chmod(0o755)
    output, built = wheel(tmp_path, PATH=str(tmp_path))
    why = "go is not on PATH" if version is None else f"the Go on PATH is {version or 'older than 1.16'}"
    assert built is None and "Traceback" not in output
    assert f"vssgp: {why}. Building vssgp requires Go 1." in output and "https://go.dev/dl/" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    "system, processor, tag, name, magic",
    [
        ("windows", "amd64", "win_amd64", "vssgp.exe", b"MZ"),
        ("darwin", "arm64", "macosx_12_0_arm64", "vssgp", b"\xcf\xfa\xed\xfe"),
    ],
)
def test_wheel_of_another_platform(tmp_path, system, processor, tag, name, magic):
    _, built = wheel(tmp_path, GOOS=system, GOARCH=processor)
    assert built.name.endswith(f"-py3-none-{tag}.whl")
    with zipfile.ZipFile(built) as files:
        assert [f for f in files.namelist() if f.startswith("vssgp/_bin/")] == [f"vssgp/_bin/{name}"]
        assert files.read(f"vssgp/_bin/{name}").startswith(magic)
        assert files.getinfo(f"vssgp/_bin/{name}").external_attr >> 16 & 0o111 == 0o111
        for license in ("LICENSE", "THIRD_PARTY.md", "go/LICENSE", "gonum.org/v1/gonum/LICENSE"):
            assert f"vssgp-{vssgp.__version__}.dist-info/licenses/{license}" in files.namelist()


@pytest.mark.slow
def test_git_refuses(tmp_path):
    """If git fails, for example in a folder of another user, the command is built without a commit."""
    assert wheel(tmp_path, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")[1]
