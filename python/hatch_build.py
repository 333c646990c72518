"""Builds the Go command into the package, and puts its sources into an sdist.

A wheel holds the command, which is static: it needs neither Go nor a C library where it is installed. GOOS and GOARCH
build a wheel for another platform.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "module github.com/vssgp/vssgp\n"

# What a platform's wheel is called. The command asks nothing of a Linux but its kernel.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

# What a build of the command does not need.
LEFT_OUT = {"bench", "docs", "python", "testdata", "emu", "oracle", "backendtest", "modeltest", "repocheck", "snippets"}
LICENCES = ("LICENSE", "THIRD_PARTY.md")
SOURCES = {".go", ".s", ".h", ".gz", ".js", ".css", ".html", ".mod", ".sum"}


class Hook(BuildHookInterface):
    folder = tempfile.TemporaryDirectory()  # of the command, until the wheel is written

    def initialize(self, version: str, build_data: dict) -> None:
        source = self.sources()
        if self.target_name == "sdist":
            self.add_sources(source, build_data)
            return
        self.app.display_info("building the command vssgp with Go")
        platform = f"{self.go_env('GOOS', source)}/{self.go_env('GOARCH', source)}"
        if platform not in TAGS:
            stop(f"there is no name for a wheel of {platform}; want one of {', '.join(TAGS)}")
        name = "vssgp.exe" if platform.startswith("windows") else "vssgp"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[platform]}"
        if version == "editable":
            self.compile(source, Path(self.root, "src", "vssgp", "_bin", name))
            return
        binary = Path(self.folder.name, name)
        self.compile(source, binary)
        build_data["force_include"][str(binary)] = f"vssgp/_bin/{name}"
        for name in LICENCES:
            build_data["force_include"][str(source / name)] = f"vssgp/{name}"

    def sources(self) -> Path:
        """The folder of the Go module: the repository around this folder, or the copy in an sdist."""
        for folder in (Path(self.root).parent, Path(self.root, "go")):
            module = folder / "go.mod"
            if module.exists() and module.read_text().startswith(MODULE):
                return folder
        stop(f"no Go module vssgp around {self.root}; want a clone of the repository, or an sdist")

    def add_sources(self, source: Path, build_data: dict) -> None:
        for path in sorted(source.rglob("*")):
            part = path.relative_to(source)
            hidden = any(p.startswith((".", "_")) or p in LEFT_OUT for p in part.parts)
            wanted = path.suffix in SOURCES or "assets" in part.parts
            if path.is_file() and wanted and not hidden and not path.name.endswith("_test.go"):
                build_data["force_include"][str(path)] = f"go/{part}"
        for name in LICENCES:
            build_data["force_include"][str(source / name)] = f"go/{name}"

    def go_env(self, name: str, source: Path) -> str:
        return self.go(source, "env", name).strip()

    def compile(self, source: Path, binary: Path) -> None:
        self.go(source, "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w", "-o", str(binary), "./cmd/vssgp")
        binary.chmod(0o755)

    def go(self, source: Path, *args: str) -> str:
        needed = re.search(r"^go (\S+)", (source / "go.mod").read_text(), re.M)[1]
        try:
            done = subprocess.run(
                ["go", *args], cwd=source, env={**os.environ, "CGO_ENABLED": "0"}, capture_output=True, text=True
            )
        except FileNotFoundError:
            stop(
                f"vssgp is written in Go, and there is no command go on PATH. Install Go {needed} or later from"
                " https://go.dev/dl/, or install a wheel of vssgp, which needs none."
            )
        if done.returncode:
            stop(f"go {' '.join(args)} failed (vssgp needs Go {needed} or later):\n{done.stderr.strip()}")
        return done.stdout


def stop(why: str) -> None:
    """End the build with one message and no traceback."""
    sys.stderr.write(f"\nvssgp: {why}\n\n")
    sys.exit(1)
