"""Run the Go command `vssgp serve` as a child process on pipes.

A call sends a command line and its input files, and receives the output files. A child executes one call at a time, so
concurrent calls from several threads use separate children. If a child crashes, only its current call fails. The next
call starts a new child.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import os
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

from ._binary import binary
from ._flags import in_python

Buffer = bytes | bytearray | memoryview
Files = Mapping[str, Buffer | Sequence[Buffer]]
Progress = bool | Callable[[str], None] | None

log = logging.getLogger("vssgp")

_PREFIX = "vssgp: "  # prefix of every warning and message that the command writes to stderr; progress has none
_IDLE = 4  # maximum number of idle children that are kept for later calls
_MAX_HEADER = 1 << 30  # maximum size of a frame's JSON in bytes
_USAGE_ERROR = 2  # exit code for invalid arguments or data


class VssgpWarning(UserWarning):
    """A warning from the command, for example about inputs far outside the data or a fit that explains little."""


class Answer:
    """The response to a call: the exit code, the error message, stdout, and the output files by name."""

    def __init__(self, header: dict[str, Any], files: dict[str, bytearray]):
        self.code: int = header["code"]
        self.error: str = header.get("error", "")
        self.stdout: str = header.get("stdout", "")
        self.files = files

    @property
    def result(self) -> dict[str, Any]:
        """The JSON object that the command prints with --json."""
        return cast(dict[str, Any], json.loads(self.stdout))


def call(
    args: Sequence[str],
    files: Files | None = None,
    *,
    progress: Progress = False,
    stacklevel: int = 4,
    partial: bool = False,
    names: Mapping[str, str] | None = None,
) -> Answer:
    """Execute a command line in a child process and return its outputs.

    `files` contains the input files by name, each as a buffer or as a sequence of buffers that are concatenated.
    Warnings are issued with `stacklevel`. With `partial`, the answer is also returned if only some of several series
    have failed. `names` maps flags to Python arguments with a different name, for error messages.

    Raises ValueError with the command's error message for invalid arguments or data, and RuntimeError for any other
    failure. KeyboardInterrupt stops the command immediately.
    """
    names = names or {}
    show = _display(progress)
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
    if answer.code == 0 or partial and answer.code == _USAGE_ERROR and answer.stdout:
        return answer
    raise (ValueError if answer.code == _USAGE_ERROR else RuntimeError)(in_python(answer.error, names))


def model_info(data: bytes, path: str | Path | None = None) -> dict[str, Any]:
    """Return the output of `vssgp info --json` for the content of a model file. Errors name `path` if it is given."""
    try:
        return call(["info", "model.safetensors", "--json"], {"model.safetensors": data}).result
    except ValueError as err:
        raise ValueError(str(err).replace("the model", str(path)) if path else str(err)) from None


def _note(text: str, show: Callable[[str], None] | None, stacklevel: int) -> None:
    """Issue a warning, log a message or show progress, depending on the text that the command wrote to stderr."""
    if not text.startswith(_PREFIX):
        if show:
            show(text)
        return
    text = text[len(_PREFIX) :].rstrip()
    if text.startswith("warning: "):
        warnings.warn(text[len("warning: ") :], VssgpWarning, stacklevel=stacklevel)
    else:
        log.info("%s", text)


def _display(progress: Progress) -> Callable[[str], None] | None:
    """Return the function that shows progress, or None. `progress=None` shows it on a terminal and in a notebook."""
    if progress not in (None, True, False) and not callable(progress):
        raise TypeError(f"progress={progress!r}: must be True, False, None or a function of one string")
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
            env["GOMAXPROCS"] = env["OMP_NUM_THREADS"]  # joblib sets it to a worker's share of the cores
        self.stderr = tempfile.TemporaryFile()  # not a pipe, which would block the child when it is full
        self.path = binary()
        try:
            self.process = subprocess.Popen(
                [self.path, "serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.stderr,
                env=env,
                pipesize=1 << 20,  # on Linux: fewer system calls for large arrays
            )
            self.to, self.answers = cast(BinaryIO, self.process.stdin), cast(io.BufferedReader, self.process.stdout)
        except OSError as err:
            self.stderr.close()
            raise RuntimeError(f"cannot start {self.path}: {err.strerror}") from err
        self.receive()  # the first frame contains the version

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
        if size > _MAX_HEADER:
            self.kill()
            raise RuntimeError(f"{self.path} is not a compatible vssgp command")
        header = json.loads(bytes(self.read(size)))
        return header, {f["name"]: self.read(f["size"]) for f in header.get("files") or ()}

    def read(self, size: int) -> bytearray:
        data = bytearray(size)
        if self.answers.readinto(data) != size:
            raise self.crash()
        return data

    def crash(self) -> RuntimeError:
        """Clean up after a child that has ended unexpectedly and return the error to raise."""
        self.process.kill()
        self.process.wait()
        self.stderr.seek(0)
        lines = self.stderr.read().decode(errors="replace").strip().splitlines()
        self.forget()
        why = f"exit code {self.process.returncode}" + (f": {lines[0]}" if lines else "")
        return RuntimeError(f"the command vssgp ended unexpectedly ({why})")

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """Stop an idle child: close its stdin, and kill it if it does not exit within a second."""
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
        """Close this process's ends of the pipes and the temporary file."""
        for pipe in (self.to, self.answers, self.stderr):
            try:
                pipe.close()
            except OSError:  # buffered data could not be written
                pass


_lock = threading.Lock()
_idle: list[_Child] = []


@contextmanager
def _lease() -> Iterator[_Child]:
    """Provide a child for one call. Any exception, including KeyboardInterrupt, kills the child."""
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
    """Drop the children in a forked process, because they belong to its parent."""
    global _lock
    _lock = threading.Lock()
    while _idle:
        _idle.pop().forget()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
