"""Run the Go command `vssgp serve` as a child process on pipes.

A call is a command line with its input files in memory; the answer contains its outputs. A child executes one call at a
time, so calls from several threads get a child each. A child that dies takes its call with it and nothing else: the
next call starts another one.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from ._flags import in_python

Buffer = bytes | bytearray | memoryview
Files = Mapping[str, Buffer | Sequence[Buffer]]
Progress = bool | Callable[[str], None] | None

log = logging.getLogger("vssgp")

_PREFIX = "vssgp: "  # of every line that the command writes to stderr
_IDLE = 4  # children that wait for a next call at most
_MOST_HEADER = 1 << 30  # bytes of a frame's JSON
_MISTAKE = 2  # exit code: the caller's mistake


class VssgpWarning(UserWarning):
    """A warning of the command, such as inputs far beyond the data or a fit that does not explain them."""


class Answer:
    """The outputs of a command in `files`, by name, with its exit code and the line of an error."""

    def __init__(self, header: dict[str, Any], files: dict[str, bytearray]):
        self.code: int = header["code"]
        self.error: str = header.get("error", "")
        self.stdout: str = header.get("stdout", "")
        self.files = files

    @property
    def result(self) -> dict[str, Any]:
        """The object that --json prints."""
        return cast(dict[str, Any], json.loads(self.stdout))


def binary() -> str:
    """Return the path of the command: $VSSGP_BINARY, the one in this package, or the one on PATH."""
    own = Path(__file__).parent / "_bin" / ("vssgp.exe" if os.name == "nt" else "vssgp")
    for path in (os.environ.get("VSSGP_BINARY"), own if own.exists() else None, shutil.which("vssgp")):
        if path:
            return str(path)
    raise RuntimeError(f"the command vssgp is not at {own}, where `pip install` puts it; install the package again")


def call(
    args: Sequence[str],
    files: Files | None = None,
    *,
    progress: Progress = False,
    stacklevel: int = 4,
    partial: bool = False,
    names: Mapping[str, str] | None = None,
) -> Answer:
    """Execute a command line.

    `files` are its inputs by name, each a buffer or several that follow one another. Raises ValueError with the
    command's line if the caller is mistaken, else RuntimeError; KeyboardInterrupt ends the command at once. A warning
    is shown at the caller's caller, or further up by `stacklevel`. If `partial`, an answer with a result is not an
    error: some of several series have failed. `names` are the arguments of flags that are not called alike.
    """
    names = names or {}
    show = _shower(progress)
    args = [*args, "--progress", "always" if show else "never"]
    with _lease() as child:
        child.send(args, files or {})
        while True:
            header, out = child.receive()
            if "code" in header:
                break
            if "note" in header:
                _note(in_python(header["note"], names), show, stacklevel)
    answer = Answer(header, out)
    if answer.code == 0 or partial and answer.code == _MISTAKE and answer.stdout:
        return answer
    raise (ValueError if answer.code == _MISTAKE else RuntimeError)(in_python(answer.error, names))


def model_info(data: bytes, path: str | Path | None = None) -> dict[str, Any]:
    """Return the output of `vssgp info --json` for a model file; errors name its path."""
    try:
        return call(["info", "model.safetensors", "--json"], {"model.safetensors": data}).result
    except ValueError as err:
        raise ValueError(str(err).replace("the model", str(path)) if path else str(err)) from None


def _note(text: str, show: Callable[[str], None] | None, stacklevel: int) -> None:
    """Pass on the output of the command to stderr: a warning, a remark, or progress."""
    if not text.startswith(_PREFIX):
        if show:
            show(text)
        return
    text = text[len(_PREFIX) :].rstrip()
    if text.startswith("warning: "):
        warnings.warn(text[len("warning: ") :], VssgpWarning, stacklevel=stacklevel)
    else:
        log.info("%s", text)


def _shower(progress: Progress) -> Callable[[str], None] | None:
    """Return what shows progress, if anything does. None: a line on stderr, if it is a terminal's or a notebook's."""
    if progress not in (None, True, False) and not callable(progress):
        raise TypeError(f"progress={progress!r}: must be True, False, None or a function that takes a text")
    if callable(progress):
        tell = progress
        return lambda text: tell(text.strip()) if text.strip() else None
    if progress is None:
        progress = "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())
    if not progress:
        return None

    def show(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    return show


class _Child:
    """One process of `vssgp serve`."""

    def __init__(self) -> None:
        env = dict(os.environ)
        if "GOMAXPROCS" not in env and env.get("OMP_NUM_THREADS", "").isdigit():
            env["GOMAXPROCS"] = env["OMP_NUM_THREADS"]  # joblib's workers get their share of the cores so
        self.last_words = tempfile.TemporaryFile()  # what a crash prints; a pipe that nobody reads would fill
        self.path = binary()
        try:
            self.process = subprocess.Popen(
                [self.path, "serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.last_words,
                env=env,
                pipesize=1 << 20,  # where the system can: fewer turns for a large array
            )
            self.to, self.answers = cast(BinaryIO, self.process.stdin), cast(io.BufferedReader, self.process.stdout)
        except OSError as err:
            self.last_words.close()
            raise RuntimeError(f"cannot start {self.path}: {err.strerror}") from err
        self.receive()  # its greeting

    def send(self, args: Sequence[str], files: Files) -> None:
        several = {name: [b] if isinstance(b, (bytes, bytearray, memoryview)) else b for name, b in files.items()}
        parts = {name: [memoryview(b).cast("B") for b in buffers] for name, buffers in several.items()}
        listed = [{"name": name, "size": sum(map(len, views))} for name, views in parts.items()]
        header = json.dumps({"args": list(args), "files": listed}).encode()
        try:
            self.to.write(struct.pack("<Q", len(header)) + header)
            for views in parts.values():
                for view in views:
                    self.to.write(view)
            self.to.flush()
        except OSError:
            raise self.crash() from None

    def receive(self) -> tuple[dict[str, Any], dict[str, bytearray]]:
        (size,) = struct.unpack("<Q", self.read(8))
        if size > _MOST_HEADER:
            self.kill()
            raise RuntimeError(f"{self.path} is not a command vssgp that this package can use")
        header = json.loads(bytes(self.read(size)))
        return header, {f["name"]: self.read(f["size"]) for f in header.get("files") or ()}

    def read(self, size: int) -> bytearray:
        data = bytearray(size)
        if self.answers.readinto(data) != size:
            raise self.crash()
        return data

    def crash(self) -> RuntimeError:
        """Return the error for a child that has ended."""
        self.process.kill()
        self.process.wait()
        self.last_words.seek(0)
        words = self.last_words.read().decode(errors="replace").strip().splitlines()
        self.forget()
        why = f"exit code {self.process.returncode}" + (f": {words[0]}" if words else "")
        return RuntimeError(f"the command vssgp ended in the middle of its work ({why})")

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End an idle child."""
        self.to.close()
        try:
            self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.forget()

    def forget(self) -> None:
        """Close our ends of the pipes, and the file."""
        for pipe in (self.to, self.answers, self.last_words):
            try:
                pipe.close()
            except OSError:  # something was left to write
                pass


_lock = threading.Lock()
_idle: list[_Child] = []


@contextmanager
def _lease() -> Iterator[_Child]:
    """Provide a child for one call. Any exception, also a KeyboardInterrupt, ends the child."""
    with _lock:
        child = _idle.pop() if _idle else None
    if child and not child.alive():
        child.forget()
        child = None
    child = child or _Child()
    try:
        yield child
    except BaseException:
        child.kill()
        raise
    with _lock:
        if len(_idle) < _IDLE:
            _idle.append(child)
            return
    child.close()


def _close_all() -> None:
    while _idle:
        _idle.pop().close()


def _after_fork() -> None:
    """The children belong to the parent: a forked process starts its own."""
    global _lock
    _lock = threading.Lock()
    while _idle:
        _idle.pop().forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
