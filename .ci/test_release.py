"""Checks the files that .ci/release.py wrote to a folder.

RELEASE=FOLDER python -m pytest .ci/test_release.py
"""

import hashlib
import os
import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from release import COMPLETIONS, DOCUMENTS, ROOT, TAGS

FOLDER = Path(os.environ["RELEASE"])
VERSION = re.search(r'Number = "(.+)"', (ROOT / "internal/version/version.go").read_text())[1]
PLATFORMS = [*TAGS, "linux/amd64/cuda"]

# A tag that pip accepts on a machine of the platform. Wheels for Linux are for glibc and for musl.
MACHINES = [
    ("linux/amd64", "manylinux_2_17_x86_64"),
    ("linux/amd64", "musllinux_1_1_x86_64"),
    ("linux/arm64", "manylinux_2_17_aarch64"),
    ("linux/arm64", "musllinux_1_1_aarch64"),
    ("darwin/amd64", "macosx_12_0_x86_64"),
    ("darwin/arm64", "macosx_12_0_arm64"),
    ("windows/amd64", "win_amd64"),
    ("windows/arm64", "win_arm64"),
]


def platform(binary):
    """Return the operating system and processor of an executable's header."""
    if binary[:4] == b"\x7fELF":
        return "linux", {62: "amd64", 183: "arm64"}[struct.unpack_from("<H", binary, 18)[0]]
    if binary[:4] == b"\xcf\xfa\xed\xfe":
        return "darwin", {0x01000007: "amd64", 0x0100000C: "arm64"}[struct.unpack_from("<I", binary, 4)[0]]
    assert binary[:2] == b"MZ"
    at = struct.unpack_from("<I", binary, 60)[0]
    assert binary[at : at + 4] == b"PE\0\0"
    return "windows", {0x8664: "amd64", 0xAA64: "arm64"}[struct.unpack_from("<H", binary, at + 4)[0]]


def interpreter(binary):
    """Report whether an ELF executable needs a dynamic linker, so a C library."""
    start, size, count = *struct.unpack_from("<Q", binary, 32), *struct.unpack_from("<HH", binary, 54)
    return any(struct.unpack_from("<I", binary, start + i * size)[0] == 3 for i in range(count))


def archive(target):
    """Return the files of an archive and their modes, by path without the first folder."""
    name = f"vssgp_{VERSION}_{target.replace('/', '_')}"
    if "windows" in target:
        with zipfile.ZipFile(FOLDER / f"{name}.zip") as packed:
            files = {i.filename: (packed.read(i), i.external_attr >> 16) for i in packed.infolist()}
    else:
        with tarfile.open(FOLDER / f"{name}.tar.gz") as packed:
            files = {i.name: (packed.extractfile(i).read(), i.mode) for i in packed}
    assert all(path.startswith(f"{name}/") and ".." not in path for path in files)
    return {path.removeprefix(f"{name}/"): file for path, file in files.items()}


def exe(target):
    return "vssgp.exe" if "windows" in target else "vssgp"


def wheel(target):
    (found,) = FOLDER.glob(f"*{TAGS[target].format(macos='*')}.whl")
    return found


def test_files():
    """The checksums cover all files, and there are no others."""
    sums = (FOLDER / f"vssgp_{VERSION}_checksums.txt").read_text().splitlines()
    sums = dict(reversed(line.split("  ")) for line in sums)
    others = {f for f in FOLDER.iterdir() if "checksums" not in f.name}
    assert sums == {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in others}
    assert len(others) == len(TAGS) + len(PLATFORMS) + 1


@pytest.mark.parametrize("target, tag", MACHINES)
def test_wheel_installs(tmp_path, target, tag):
    """Pip, for a machine of the platform, chooses the wheel and unpacks an executable of this platform."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--find-links", FOLDER]
    pip += ["--only-binary=:all:", "--platform", tag, "--target", tmp_path]
    subprocess.run([*pip, f"vssgp=={VERSION}"], check=True)
    binary = tmp_path / "vssgp" / "_bin" / exe(target)
    assert list(binary.parent.iterdir()) == [binary] and os.access(binary, os.X_OK)
    assert "/".join(platform(binary.read_bytes())) == target


@pytest.mark.parametrize("target", TAGS)
def test_wheel(tmp_path, target):
    """The wheel's RECORD is right, its metadata have the version, and its binary is the archive's."""
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "--dest", tmp_path, wheel(target)], check=True)
    folder = tmp_path / f"vssgp-{VERSION}"
    info = folder / f"vssgp-{VERSION}.dist-info"
    assert message_from_bytes((info / "METADATA").read_bytes())["Version"] == VERSION
    assert "vssgp = vssgp.__main__:main" in (info / "entry_points.txt").read_text()
    packed = archive(target)
    assert (folder / "vssgp" / "_bin" / exe(target)).read_bytes() == packed[f"bin/{exe(target)}"][0]
    licenses = {f.relative_to(info).as_posix() for f in (info / "licenses").rglob("*") if f.is_file()}
    assert licenses == {p.removeprefix(f"{DOCUMENTS}/") for p in packed if p.startswith(f"{DOCUMENTS}/licenses/")}
    assert {"licenses/LICENSE", "licenses/go/LICENSE", "licenses/gonum.org/v1/gonum/LICENSE"} <= licenses


@pytest.mark.parametrize("target", PLATFORMS)
def test_archive(target):
    """The archive has an executable of the platform, completions, manual pages and documents."""
    packed = archive(target)
    binary, mode = packed[f"bin/{exe(target)}"]
    assert mode & 0o111 == 0o111 and "/".join(platform(binary)) == target.removesuffix("/cuda")
    assert VERSION.encode() in binary
    if target.startswith("linux"):
        assert interpreter(binary) == target.endswith("cuda")
    pages = {path for path in packed if path.startswith("share/man/man1/")}
    assert {f"share/man/man1/{name}.1" for name in ("vssgp", "vssgp-forecast", "vssgp-impute")} <= pages
    assert all(packed[path][0].startswith(b".") for path in pages)
    assert all(b"vssgp" in packed[path][0] for path in COMPLETIONS.values())
    assert {f"{DOCUMENTS}/{name}" for name in ("README.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY.md")} <= set(packed)
    assert (f"{DOCUMENTS}/licenses/gorgonia.org/cu/LICENSE" in packed) == target.endswith("cuda")


def test_version(tmp_path):
    """The command of this machine's archive prints the version of the release."""
    (tmp_path / "vssgp").write_bytes(archive("linux/amd64")["bin/vssgp"][0])
    (tmp_path / "vssgp").chmod(0o755)
    done = subprocess.run([tmp_path / "vssgp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"vssgp {VERSION} ")
