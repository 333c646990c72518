"""Build hook of hatchling: compiles the Go command for wheels, and adds the Go sources to sdists.

The binary is statically linked, so an installed wheel needs neither Go nor a C library. Set GOOS and GOARCH to build a
wheel for another platform.
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

# Platform tags of wheels by GOOS/GOARCH. On Linux the binary runs with any C library, because it is statically linked.
# Binaries of Go 1.25 and 1.26 require macOS 12, and binaries of later versions macOS 13.
LINUX = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
TAGS = {
    "linux/amd64": LINUX.format("x86_64"),
    "linux/arm64": LINUX.format("aarch64"),
    "darwin/amd64": "macosx_{macos}_0_x86_64",
    "darwin/arm64": "macosx_{macos}_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

# The arguments of go that list the modules from which the command is linked.
LIST = ("list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", COMMAND)

LICENSE = re.compile(r"(un)?licen[cs]e|copying|notice|patents|third_party", re.I)


class Hook(BuildHookInterface):
    """The hook that hatchling calls before it builds a wheel, an editable install or an sdist."""

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
        self.folder = tempfile.TemporaryDirectory()  # because concurrent builds for two platforms may share self.root
        binary = self.compile(Path(self.folder.name))
        include[str(binary)] = f"vssgp/_bin/{binary.name}"
        include.update(self.licenses())

    def find(self) -> None:
        """Set the folders of the Go module and of the licenses, and the required version of Go.

        In an sdist the module is in the folder go. In a clone it is the parent folder.
        """
        root = Path(self.root)
        for self.source, self.top in ((root / "go", root), (root.parent, root.parent)):
            module = self.source / "go.mod"
            if module.exists() and f"module {MODULE}\n" in (text := module.read_text(encoding="utf-8")):
                self.required = re.search(r"^go (\S+)", text, re.M)[1]
                return
        stop(f"the Go module {MODULE} is not in {root} or its parent; build in a clone of the repository or an sdist")

    def platform(self) -> str:
        """Return the platform tag of the wheel."""
        keys = ("GOVERSION", "GOOS", "GOARCH", "GOHOSTOS", "GOHOSTARCH", "GOROOT")
        version, system, processor, host_system, host_processor, self.goroot = self.go("env", *keys).splitlines()
        if numbers(version) < numbers(self.required):
            self.unfit(f"the Go on PATH is {version or 'older than 1.16'}")
        target = f"{system}/{processor}"
        self.exe = ".exe" if system == "windows" else ""
        if target in TAGS:
            return TAGS[target].format(macos=12 if numbers(version) < (1, 27) else 13)
        if target != f"{host_system}/{host_processor}":
            stop(f"cannot build a wheel for GOOS/GOARCH {target}; must be {', '.join(TAGS)}, or this machine's")
        return next(tags.platform_tags())

    def compile(self, folder: Path) -> Path:
        """Build the command in a folder and return its path. In a clone, `vssgp --version` prints the commit."""
        binary = folder / f"vssgp{self.exe}"
        args = ["-trimpath", "-ldflags=-s -w", "-o", str(binary), COMMAND]
        if (self.top / ".git").exists():
            try:
                self.go("build", "-buildvcs=auto", *args)
                return binary
            except GoError as err:  # git fails, for example in a folder of another user
                if "VCS" not in str(err):
                    raise
        self.go("build", "-buildvcs=false", *args)
        return binary

    def licenses(self) -> dict[str, str]:
        """Return the license files of the wheel, with their paths in it."""
        to = f"vssgp-{self.metadata.version}.dist-info/licenses"
        found = licenses(self.go(*LIST), self.goroot, self.top)
        return {str(path): f"{to}/{name}" for path, name in found.items()}

    def go(self, *args: str) -> str:
        """Run a go command in the module and return its output."""
        env = os.environ | {"CGO_ENABLED": "0"}
        try:
            done = subprocess.run(
                ["go", *args], cwd=self.source, env=env, capture_output=True, encoding="utf-8", errors="replace"
            )
        except OSError:
            self.unfit("go is not on PATH")
        if not done.returncode:
            return done.stdout
        if args[0] == "env":
            self.unfit(f"`go env` failed: {done.stderr.strip()}")
        raise GoError(f"`go {args[0]}` failed in {self.source}:\n{done.stderr.strip()}")

    def unfit(self, why: str) -> None:
        """End the build because of a missing or unsuitable Go."""
        stop(
            f"{why}. Building vssgp requires Go {self.required} or later (https://go.dev/dl/)."
            " A prebuilt wheel of vssgp does not require Go."
        )


def licenses(listed: str, goroot: str, top: Path) -> dict[Path, str]:
    """Return the license files of vssgp, Go and the modules that `go LIST` printed, with names MODULE/FILE."""
    folders = dict(line.split(" ", 1) for line in listed.splitlines() if line)
    folders |= {MODULE: str(top), "go": goroot}
    return {
        file: ("" if module == MODULE else f"{module}/") + file.relative_to(folder).as_posix()
        for module, folder in sorted(folders.items())
        for path in sorted(Path(folder).iterdir())
        if LICENSE.match(path.name)
        for file in [path, *sorted(path.rglob("*"))]
        if file.is_file()
    }


def needed(source: Path) -> list[str]:
    """Return the paths of the files that the command is built from on any platform, relative to the module.

    These are its packages, without tests, and embedded files. The function follows the imports, so it needs neither git
    nor Go and ignores all other files.
    """
    files, folders = {"go.mod", "go.sum"}, [COMMAND[2:]]
    for folder in folders:  # imported packages are appended
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
    """Return a version such as 1.25.0 or go1.25.0 as a tuple of numbers. Go before 1.16 has no GOVERSION: ()."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


class GoError(SystemExit):
    """Raised if a go command fails. If it is not caught, the build ends with its message and no traceback."""

    def __init__(self, why: str):
        super().__init__(f"\nvssgp: {why}\n")


def stop(why: str) -> None:
    """End the build with a message and no traceback."""
    sys.exit(f"\nvssgp: {why}\n")
