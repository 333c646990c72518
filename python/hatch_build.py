"""Builds the Go command into a wheel, and puts the Go sources that this takes into an sdist.

The command is static: where a wheel is installed it needs neither Go nor a C library. GOOS and GOARCH build a wheel for
another platform.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging import tags

MODULE = "github.com/vssgp/vssgp"
COMMAND = "./cmd/vssgp"

# What the wheels of a platform are called. The command asks nothing of a Linux but its kernel, so that it runs with any
# C library. Go 1.25 and 1.26 need macOS 12, later ones macOS 13.
LINUX = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
TAGS = {
    "linux/amd64": LINUX.format("x86_64"),
    "linux/arm64": LINUX.format("aarch64"),
    "darwin/amd64": "macosx_{macos}_0_x86_64",
    "darwin/arm64": "macosx_{macos}_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

LICENSE = re.compile(r"(un)?licen[cs]e|copying|notice|patents|third_party", re.I)


class Hook(BuildHookInterface):
    """What hatchling calls before it builds a wheel, an editable install or an sdist."""

    def initialize(self, version: str, build_data: dict) -> None:
        self.find()
        include = build_data["force_include"]
        if self.target_name == "sdist":
            include.update((str(self.source / path), f"go/{path}") for path in needed(self.source))
            include.update((str(self.top / name), name) for name in ("LICENSE", "THIRD_PARTY.md"))
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{self.platform()}"
        if version == "editable":
            self.compile(Path(self.root, "src", "vssgp", "_bin"))
            return
        self.folder = tempfile.TemporaryDirectory()  # not this one, which builds for two platforms may share
        binary = self.compile(Path(self.folder.name))
        include[str(binary)] = f"vssgp/_bin/{binary.name}"
        include.update(self.licenses())

    def find(self) -> None:
        """Find the Go module: in an sdist its copy, else the repository around this folder."""
        root = Path(self.root)
        for self.source, self.top in ((root / "go", root), (root.parent, root.parent)):
            module = self.source / "go.mod"
            if module.exists() and f"module {MODULE}\n" in (text := module.read_text(encoding="utf-8")):
                self.least = re.search(r"^go (\S+)", text, re.M)[1]
                return
        stop(f"there is no Go module {MODULE} around {root}; build in a clone of the repository, or from an sdist")

    def platform(self) -> str:
        """The platform that is built for, as a wheel's name has it."""
        keys = ("GOVERSION", "GOOS", "GOARCH", "GOHOSTOS", "GOHOSTARCH", "GOROOT")
        have, system, processor, host_system, host_processor, self.goroot = self.go("env", *keys).splitlines()
        if numbers(have) < numbers(self.least):
            self.unfit(f"the Go on PATH is {have or 'older than 1.16'}")
        target = f"{system}/{processor}"
        self.exe = ".exe" if system == "windows" else ""
        if target in TAGS:
            return TAGS[target].format(macos=12 if numbers(have) < (1, 27) else 13)
        if target != f"{host_system}/{host_processor}":
            stop(f"there is no name for a wheel of {target}: GOOS/GOARCH may be {', '.join(TAGS)}, or this machine's")
        return next(tags.platform_tags())

    def compile(self, folder: Path) -> Path:
        """Build the command into a folder. It knows its commit where this is a clone and git answers."""
        binary = folder / f"vssgp{self.exe}"
        args = ["-trimpath", "-ldflags=-s -w", "-o", str(binary), COMMAND]
        if (self.top / ".git").exists():
            try:
                self.go("build", "-buildvcs=auto", *args)
                return binary
            except GoError as err:  # git is there and refuses, as in a folder of another user
                if "VCS" not in str(err):
                    raise
        self.go("build", "-buildvcs=false", *args)
        return binary

    def licenses(self) -> dict[str, str]:
        """The licenses of all that the command is linked from, which go along with it."""
        to = f"vssgp-{self.metadata.version}.dist-info/licenses"
        listed = self.go("list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", COMMAND)
        folders = dict(line.split(" ", 1) for line in listed.splitlines() if line)
        folders |= {MODULE: str(self.top), "go": self.goroot}
        return {
            str(path): f"{to}/{path.name}" if module == MODULE else f"{to}/{module}/{path.name}"
            for module, folder in sorted(folders.items())
            for path in sorted(Path(folder).iterdir())
            if LICENSE.match(path.name)
        }

    def go(self, *args: str) -> str:
        env = os.environ | {"CGO_ENABLED": "0"}
        try:
            done = subprocess.run(
                ["go", *args], cwd=self.source, env=env, capture_output=True, encoding="utf-8", errors="replace"
            )
        except OSError:
            self.unfit("there is no command go on PATH")
        if not done.returncode:
            return done.stdout
        if args[0] == "env":
            self.unfit(f"the Go on PATH says: {done.stderr.strip()}")
        raise GoError(f"`go {args[0]}` failed, in {self.source}:\n{done.stderr.strip()}")

    def unfit(self, why: str) -> None:
        stop(
            f"{why}. To build vssgp takes Go {self.least} or later: https://go.dev/dl/."
            " Or install a wheel of vssgp that is built already, which needs no Go."
        )


def needed(source: Path) -> list[str]:
    """The files that a build of the command takes on any platform, by their paths in the module.

    These are its packages, without their tests, and what they embed. Imports lead to them, so this needs neither git
    nor Go, and whatever else lies around stays out.
    """
    files, folders = {"go.mod", "go.sum"}, [COMMAND[2:]]
    for folder in folders:  # which grows
        for path in sorted((source / folder).iterdir()):
            if path.suffix not in (".go", ".s", ".h") or path.name.endswith("_test.go"):
                continue
            files.add(path.relative_to(source).as_posix())
            text = path.read_text(encoding="utf-8") if path.suffix == ".go" else ""
            imports = re.findall(rf'^(?:import)?\s+(?:[\w.]+ )?"{MODULE}(?:/([^"]+))?"', text, re.M)
            folders += sorted({at or "." for at in imports}.difference(folders))
            for pattern in " ".join(re.findall(r"^\s*//go:embed (.*)", text, re.M)).split():
                for found in path.parent.glob(pattern):
                    embedded = found.rglob("*") if found.is_dir() else [found]
                    files.update(e.relative_to(source).as_posix() for e in embedded if e.is_file())
    return sorted(files)


def numbers(version: str) -> tuple[int, ...]:
    """1.25.0 and go1.25.0 as numbers that compare; a Go of before 1.16 does not say its version."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


class GoError(SystemExit):
    """What go had to say; it ends the build with these words and no traceback, unless it is caught."""

    def __init__(self, why: str):
        super().__init__(f"\nvssgp: {why}\n")


def stop(why: str) -> None:
    """End the build with one message and no traceback."""
    sys.exit(f"\nvssgp: {why}\n")
