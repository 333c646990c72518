"""Conversion of keyword arguments to flags, and of the command's messages to the names of the Python API."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

# Flags that can be repeated or take a list.
_LISTS = {
    *(
        "season",
        "period",
        "trend",
        "level",
        "quantiles",
        "holidays",
        "detect",
        "fix",
        "prior",
        "lengthscales",
        "periods",
    ),
}


def flags(**options: Any) -> list[str]:
    """Return the flags of a command line for keyword arguments: `short_memory=False` becomes --short-memory=false.

    Options with the value None are omitted. A list becomes a repeated flag, and a dict of priors becomes
    --prior=NAME=MEDIAN,SD for each entry. Raises TypeError for a value of an unsupported type, and ValueError for an
    invalid prior.
    """
    args: list[str] = []
    for name, value in options.items():
        if value is None:
            continue
        if name == "prior" and isinstance(value, Mapping):
            value = [f"{k}={_prior(k, v)}" for k, v in value.items()]
        several = name in _LISTS and isinstance(value, Iterable) and not isinstance(value, (str, bytes))
        args += [f"--{name.replace('_', '-')}={text(one, name)}" for one in (value if several else [value])]
    return args


def _prior(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        median, sd = (float(v) for v in value)
    except (TypeError, ValueError):
        raise ValueError(f"prior[{name!r}]={value!r}: must be (median, sd of the logarithm), or 'none'") from None
    return f"{median!r},{sd!r}"


def text(value: Any, name: str = "value") -> str:
    """Return the text of a value in a flag: all digits of a number, seconds for a duration, ISO 8601 for a date."""
    if isinstance(value, np.timedelta64):
        return f"{float(value / np.timedelta64(1, 's'))!r}s"
    if isinstance(value, (str, np.datetime64)):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds()!r}s"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, numbers.Number):
        return str(value.item() if isinstance(value, np.generic) else value)
    raise TypeError(f"{name}={value!r}: must be a single number, text or time, not {type(value).__name__}")


# Names of the Python arguments that the files of a call contain, for error messages.
_FILES = {
    **{"series.csv": "the series", "at.csv": "at", "events.csv": "events", "gaps.csv": "gaps"},
    **{"in.wav": "samples", "reference.wav": "reference", "model.safetensors": "the model"},
    **{"data.npy": "the data", "x.npy": "X"},
}
_FILE = re.compile(rf"\b({'|'.join(map(re.escape, _FILES))})(?:(?::|: line )(\d+)\b)?")
_FLAG = re.compile(r'--([a-z]+(?:-[a-z]+)*)(?: "((?:[^"\\]|\\.)*)"| (-?\d(?:[\w.:-]*\w)?|\w+(?=[:;])))?')
_PLAIN: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(r"[;,]? ?see vssgp [\w -]+--help"), ""),
    (re.compile(r"\bbad audio file: |: bad audio file$|\bread model: | \(\d+ from 0\)"), ""),
    (re.compile(r"--([a-z]+) (?=\1\.)"), ""),
    (re.compile(r"\bvssgp (forecast|fill|backtest|impute)\b"), r"vssgp.\1"),
    (re.compile(r"\brow (\d+) \(from 1\)"), lambda m: f"row {int(m[1]) - 1}"),
]


def in_python(message: str, names: Mapping[str, str]) -> str:
    """Return a message of the command with Python arguments instead of flags and files, and rows counted from 0.

    `names` maps flags to arguments with a different name, such as seed to random_state.
    """

    def argument(found: re.Match[str]) -> str:
        name = names.get(found[1], found[1].replace("-", "_"))
        value = found[2] if found[3] is None else found[3]
        if value is None:
            return name
        plain = re.fullmatch(r"-?[\d.]+(?:e[+-]?\d+)?|nan", value) or value in ("true", "false")
        return f"{name}={value.capitalize() if value in ('true', 'false') else value if plain else repr(value)}"

    def rows(found: re.Match[str]) -> str:
        return _FILES[found[1]] + (f", row {int(found[2]) - 2}" if found[2] and int(found[2]) > 1 else "")

    for pattern, plain in _PLAIN:
        message = pattern.sub(plain, message)
    return _FLAG.sub(argument, _FILE.sub(rows, message))
