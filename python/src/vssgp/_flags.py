"""Keywords as the command's flags: one list of options, the command's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def flags(**options: Any) -> list[str]:
    """The flags of a command line: `short_memory=False` is --short-memory=false.

    None leaves a flag out; a list gives it several times; a dict gives NAME=VALUE,VALUE, as --prior wants it.
    """
    args: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, Mapping):
            value = [f"{k}={v if isinstance(v, str) else ','.join(map(text, v))}" for k, v in value.items()]
        if isinstance(value, (str, bool)) or not hasattr(value, "__iter__"):
            value = [value]
        for one in value:
            args.append(f"{flag}={text(one)}")
    return args


def text(value: Any) -> str:
    """A value as the command reads it: numbers in full, durations in seconds, dates in ISO 8601."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.timedelta64):
        return f"{float(value / np.timedelta64(1, 's'))!r}s"
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, np.generic):
        return text(value.item())
    if isinstance(value, bool):
        return str(value).lower()
    if hasattr(value, "total_seconds"):
        return f"{value.total_seconds()!r}s"
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return repr(value)
