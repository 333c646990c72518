"""Builds all files of a release: python .ci/release.py FOLDER [--tag v0.1.0]

The folder must not exist. It gets

    vssgp-VERSION-py3-none-PLATFORM.whl              wheels, which contain the command
    vssgp-VERSION.tar.gz                             the sdist, which needs Go
    vssgp_VERSION_SYSTEM_PROCESSOR.tar.gz or .zip    archives with the binary of the wheel, completions and manual pages
    vssgp_VERSION_linux_amd64_cuda.tar.gz            the same of a build with -tags cuda, which needs glibc
    vssgp_VERSION_checksums.txt                      SHA-256 of all files, for sha256sum -c

An archive is a prefix: tar -xzf ARCHIVE -C ~/.local --strip-components=1 installs all of it. Builds of the same commit
by the same Go, Python and C compiler have the same bytes. The script needs them, git and the packages of
.ci/release.txt. With --tag, the tag must be the version, and CHANGELOG.md must have a dated section of it.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from hatch_build import COMMAND, LIST, TAGS, licenses  # noqa: E402

DOCUMENTS = "share/doc/vssgp"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/vssgp",
    "zsh": "share/zsh/site-functions/_vssgp",
    "fish": "share/fish/vendor_completions.d/vssgp.fish",
    "powershell": f"{DOCUMENTS}/vssgp.ps1",
}

Files = dict[str, bytes]  # by path in the archive


def main() -> None:
    parser = argparse.ArgumentParser(description="build all files of a release")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", help="the tag that is released, such as v0.1.0")
    options = parser.parse_args()
    if options.folder.exists():
        sys.exit(f"release: {options.folder} exists; name a new folder")
    version = run(sys.executable, "-m", "hatchling", "version", folder=ROOT / "python").strip()
    if options.tag:
        check(options.tag, version)
    epoch = int(run("git", "log", "-1", "--format=%ct"))
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch)

    with tempfile.TemporaryDirectory() as work:
        to = Path(work, "release")
        to.mkdir()
        hatchling("sdist", to)
        builds = {target: wheel(to, target, version) for target in TAGS}
        host = run("go", "env", "GOHOSTOS", "GOHOSTARCH").split()
        common = documents() | manual(builds["/".join(host)], host[0])
        builds["linux/amd64/cuda"] = cuda()
        for target, files in builds.items():
            archive(to, f"vssgp_{version}_{target.replace('/', '_')}", common | files, epoch)
        sums = "".join(f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in sorted(to.iterdir()))
        (to / f"vssgp_{version}_checksums.txt").write_text(sums, encoding="utf-8")
        shutil.move(to, options.folder)
    for file in sorted(options.folder.iterdir()):
        print(f"{file.stat().st_size / 1e6:6.1f} MB  {file.name}")


def check(tag: str, version: str) -> None:
    """End the build unless the tag is the version's and the change log has a dated section of the version."""
    if tag != f"v{version}":
        sys.exit(f"release: the tag is {tag}, but internal/version has {version}")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", log, re.M):
        sys.exit(f"release: CHANGELOG.md has no heading `## {version} - YYYY-MM-DD`")
    if changed := run("git", "status", "--porcelain"):
        sys.exit(f"release: files differ from the commit:\n{changed}")


def hatchling(kind: str, to: Path, **env: str) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to.resolve()), folder=ROOT / "python", **env)


def wheel(to: Path, target: str, version: str) -> Files:
    """Build the wheel of a platform and return its binary and licenses with their paths in an archive."""
    print(f"building {target}", file=sys.stderr)
    system, processor = target.split("/")
    before = set(to.iterdir())
    hatchling("wheel", to, GOOS=system, GOARCH=processor)
    (built,) = set(to.iterdir()) - before
    moved = {"vssgp/_bin/": "bin/", f"vssgp-{version}.dist-info/licenses/": f"{DOCUMENTS}/licenses/"}
    with zipfile.ZipFile(built) as packed:
        return {
            name.replace(old, new): packed.read(name)
            for name in packed.namelist()
            for old, new in moved.items()
            if name.startswith(old)
        }


def cuda() -> Files:
    """Build the command with -tags cuda and return it and its licenses with their paths in an archive."""
    print("building linux/amd64 with -tags cuda", file=sys.stderr)
    import nvidia.cuda_runtime

    include = Path(nvidia.cuda_runtime.__path__[0], "include")
    env = {
        "GOOS": "linux",
        "GOARCH": "amd64",
        "CGO_ENABLED": "1",
        "CGO_CFLAGS": f"-I{ROOT}/cuda/compat -I{include}",
        "CGO_LDFLAGS": f"-L{ROOT}/cuda/compat",
        "GOFLAGS": "-tags=cuda",
    }
    with tempfile.TemporaryDirectory() as work:
        binary = Path(work, "vssgp")
        run("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-buildvcs=true", "-o", str(binary), COMMAND, **env)
        found = licenses(run("go", *LIST, **env), run("go", "env", "GOROOT").strip(), ROOT)
        texts = {f"{DOCUMENTS}/licenses/{name}": path.read_bytes() for path, name in found.items()}
        return {"bin/vssgp": binary.read_bytes()} | texts


def documents() -> Files:
    names = ("README.md", "CHANGELOG.md", "LICENSE", "THIRD_PARTY.md")
    return {f"{DOCUMENTS}/{name}": (ROOT / name).read_bytes() for name in names}


def manual(build: Files, system: str) -> Files:
    """Return the completions and manual pages that the command of this machine prints."""
    exe = "vssgp.exe" if system == "windows" else "vssgp"
    with tempfile.TemporaryDirectory() as work:
        binary = Path(work, exe)
        binary.write_bytes(build[f"bin/{exe}"])
        binary.chmod(0o755)
        files = {path: run(str(binary), "completion", shell).encode() for shell, path in COMPLETIONS.items()}
        pages = Path(work, "man1")
        run(str(binary), "man", str(pages))
        return files | {f"share/man/man1/{page.name}": page.read_bytes() for page in sorted(pages.iterdir())}


def archive(to: Path, name: str, files: Files, epoch: int) -> None:
    """Write files below a folder to a .tar.gz or, for Windows, a .zip."""
    entries = [
        (f"{name}/{path}", data, 0o755 if path.startswith("bin/") else 0o644) for path, data in sorted(files.items())
    ]
    if "_windows_" in name:
        with zipfile.ZipFile(to / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            for path, data, mode in entries:
                info = zipfile.ZipInfo(path, time.gmtime(epoch)[:6])
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, mode << 16
                packed.writestr(info, data)
        return
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as packed:
        for path, data, mode in entries:
            info = tarfile.TarInfo(path)
            info.size, info.mode, info.mtime = len(data), mode, epoch
            packed.addfile(info, io.BytesIO(data))
    with (to / f"{name}.tar.gz").open("wb") as out, gzip.GzipFile("", "wb", mtime=epoch, fileobj=out) as packed:
        shutil.copyfileobj(io.BytesIO(raw.getbuffer()), packed)


def run(*args: str, folder: Path = ROOT, **env: str) -> str:
    """Run a program and return its output; end the build if it fails."""
    done = subprocess.run(args, cwd=folder, env=os.environ | env, capture_output=True, encoding="utf-8")
    if done.returncode:
        sys.exit(f"release: {' '.join(args)} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
