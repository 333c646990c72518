"""Series as people have them in Python, arrays or pandas objects, as tables of the command and back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _files
from ._flags import text


def _pandas() -> Any:
    """Pandas, if the caller has it: only then can data be pandas objects."""
    return sys.modules.get("pandas")


def is_pandas(data: Any) -> bool:
    pd = _pandas()
    return pd is not None and isinstance(data, (pd.Series, pd.DataFrame))


class Places:
    """Where the rows of a series stand: numbers, or dates with or without a time zone.

    `cells` writes places as the command reads them, `parse` reads what it wrote, in the caller's own type.
    """

    def __init__(self, index: Any):
        pd = _pandas()
        self.like = index
        self.zone = None
        self.periods = None
        if pd is not None and isinstance(index, pd.PeriodIndex):
            self.periods, index = index.freq, index.to_timestamp()
        if pd is not None and isinstance(index, pd.DatetimeIndex):
            self.zone = index.tz
        elif pd is None or not isinstance(index, pd.Index):
            index = np.asarray(index)
            if index.ndim != 1:
                raise ValueError(f"the places have {index.ndim} dimensions; want one")
        self.values = index
        self.dates = np.issubdtype(np.asarray(index).dtype, np.datetime64) or self.zone is not None

        self.pandas = pd is not None and isinstance(self.like, pd.Index)

    def __len__(self) -> int:
        return len(self.values)

    def sortable(self) -> NDArray:
        """The places as an array that can be sorted and drawn."""
        return np.asarray(self.values)

    def cell(self, place: Any) -> str:
        """One place, such as a last one: a date of any kind where the places are dates."""
        if self.periods is not None and hasattr(place, "to_timestamp"):
            place = place.to_timestamp()
        return text(place)

    def cells(self) -> list[str]:
        if not self.dates:
            try:
                values = np.asarray(self.values, dtype=float)
            except (TypeError, ValueError):
                raise ValueError(f"the index is {self.values.dtype}; want numbers or dates") from None
            if not np.isfinite(values).all():
                raise ValueError("the index has values that are not finite; want a place for each row")
            return list(map(repr, values.tolist()))
        if self.zone is not None:
            if self.values.hasnans:
                raise ValueError("the index has missing dates (NaT); want a date for each row")
            return [t.isoformat() for t in self.values]
        dates: Any = np.asarray(self.values)
        if np.isnat(dates).any():
            raise ValueError("the index has missing dates (NaT); want a date for each row")
        unit: Any = next((u for u in ("D", "s", "us") if (dates.astype(f"M8[{u}]") == dates).all()), "ns")
        return np.datetime_as_string(dates, unit=unit).tolist()

    def parse(self, cells: Sequence[str]) -> Any:
        if not self.pandas:
            if self.dates:
                return np.array(cells, dtype=np.asarray(self.values).dtype)
            return np.array(cells, dtype=float)
        pd, name = _pandas(), self.like.name
        if not self.dates:
            values = np.array(cells, dtype=float)
            whole = np.issubdtype(self.like.dtype, np.integer) and (values == np.round(values)).all()
            return pd.Index(values.astype(int) if whole else values, name=name)
        if self.zone is not None:
            dates = pd.to_datetime(list(cells), utc=True, format="ISO8601")
            return pd.DatetimeIndex(dates, name=name).tz_convert(self.zone)
        dates = pd.DatetimeIndex(pd.to_datetime(list(cells), format="ISO8601"), name=name)
        if self.periods is None and self.like.freq is not None:
            try:
                dates.freq = self.like.freq
            except ValueError:  # places of another step
                pass
        return dates.to_period(self.periods) if self.periods is not None else dates


class Series:
    """One or several outputs along one input.

    y is [n] or [n, D] numbers, NaN or None for missing ones; x [n] their places (default: a pandas object's index, or
    0, 1, …).
    """

    def __init__(self, y: Any, x: Any = None, yerr: Any = None):
        self.like = y
        frame = is_pandas(y)
        self.y = _numbers(y, "y")
        if self.y.ndim not in (1, 2) or 0 in self.y.shape:
            raise ValueError(f"y has the shape {self.y.shape}; want [n] or [n, outputs], with at least a row")
        n = len(self.y)
        if x is None:
            x = y.index if frame else np.arange(n)
        self.places = Places(x)
        if len(self.places) != n:
            raise ValueError(f"x has {len(self.places)} places and y {n} rows; want as many")
        names = [y.name] if frame and y.ndim == 1 else list(y.columns) if frame else []
        self.names = _names(names, self.outputs)
        xname: Any = getattr(x, "name", None)
        self.x_name: str = xname if usable(xname) and xname not in self.names else _free("x", self.names)
        self.errors = None
        if yerr is not None:
            self.errors = _numbers(yerr, "yerr")
            if self.errors.ndim == 0:
                self.errors = np.full(self.y.shape, float(self.errors))
            if self.errors.shape != self.y.shape:
                raise ValueError(f"yerr has the shape {self.errors.shape} and y {self.y.shape}; want the same")

    @property
    def outputs(self) -> int:
        return 1 if self.y.ndim == 1 else self.y.shape[1]

    def columns(self) -> NDArray:
        """The outputs [n, D]."""
        return self.y.reshape(len(self.y), -1)

    def csv(self) -> bytes:
        names, columns = [self.x_name, *self.names], [self.places.cells(), *map(_cells, self.columns().T)]
        if self.errors is not None:
            for name, e in zip(list(self.names), self.errors.reshape(len(self.y), -1).T, strict=True):
                names.append(_free(name + "_error", names))
                columns.append(_cells(e))
        return _files.to_csv(names, columns)

    def flags(self) -> list[str]:
        """--x, --y and --yerr, by number."""
        args = ["--x=0"] + [f"--y={i + 1}" for i in range(self.outputs)]
        if self.errors is not None:
            args += [f"--yerr={i + 1 + self.outputs}" for i in range(self.outputs)]
        return args

    def shape(self) -> Shape:
        if is_pandas(self.like):
            names = [self.like.name] if self.y.ndim == 1 else list(self.like.columns)
            return Shape(names, self.y.ndim == 1, True)
        return Shape(list(self.names), self.y.ndim == 1, False)


@dataclass(frozen=True)
class Shape:
    """How the columns of a table become objects of the caller's kind: arrays [n] or [n, D], a Series or a DataFrame."""

    names: list[Any]
    single: bool
    pandas: bool

    def __call__(self, columns: Sequence[NDArray], index: Any) -> Any:
        if not self.pandas:
            return columns[0] if self.single else np.column_stack(columns)
        import pandas as pd

        if self.single:
            return pd.Series(columns[0], index=index, name=self.names[0])
        return pd.DataFrame(np.column_stack(columns), index=index, columns=self.names)


def _numbers(a: Any, what: str) -> NDArray:
    if is_pandas(a):
        try:
            return a.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError) as err:
            raise ValueError(f"{what} has values that are no numbers: {err}") from None
    try:
        return np.array(a, dtype=float)
    except (TypeError, ValueError) as err:
        raise ValueError(f"{what} has values that are no numbers: {err}") from None


def _cells(column: NDArray) -> list[str]:
    """Numbers in full; empty where one is missing."""
    return ["" if v != v else repr(v) for v in column.tolist()]


def _names(given: Sequence[Any], count: int) -> list[str]:
    """The columns' own names if the command can take them, else y, or y0, y1, …."""
    if len(given) == count and all(map(usable, given)) and len(set(given)) == count:
        return list(given)
    return ["y"] if count == 1 else [f"y{i}" for i in range(count)]


def usable(name: Any) -> bool:
    """Whether the command takes a name: a number is no name."""
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        return False
    try:
        float(name)
    except ValueError:
        return True
    return False


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
