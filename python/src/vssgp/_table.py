"""Series as people have them in Python, arrays or pandas objects, as tables of the command and back."""

from __future__ import annotations

import datetime
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
    """Where the rows of a series stand: numbers, dates with or without a time zone, or dates as text.

    `cells` writes places as the command reads them, `parse` reads what it wrote, in the caller's own type.
    """

    def __init__(self, index: Any):
        pd = _pandas()
        self.like = index
        self.pandas = pd is not None and isinstance(index, pd.Index)
        self.periods = self.zone = None
        if pd is not None and isinstance(index, pd.PeriodIndex):
            self.periods, index = index.freq, index.to_timestamp()
        if pd is not None and isinstance(index, pd.DatetimeIndex):
            self.zone = index.tz
        self.values: Any = index if self.zone is not None else _plain(np.asarray(index))
        self.dates = self.zone is not None or self.values.dtype.kind == "M"
        self.texts = not self.dates and all(isinstance(v, str) for v in self.values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def index(self) -> Any:
        """The places in the caller's own type."""
        return self.like if self.pandas else self.values

    def sortable(self) -> Any:
        """The places as an array that can be sorted and drawn; None for text in another notation than ISO 8601."""
        if not self.texts:
            return np.asarray(self.values)
        try:
            return np.array(self.values, dtype="M8[us]")
        except ValueError:
            return None

    def nearest(self, others: Places) -> NDArray:
        """The numbers of the places that are nearest to others."""
        own, to = self.sortable(), others.sortable()
        if own is None or to is None:
            numbers = {cell: n for n, cell in enumerate(self.cells())}
            return np.array([numbers[cell] for cell in others.cells()])
        order = np.argsort(own, kind="stable")
        rising = own[order]
        return order[np.searchsorted(rising[:-1] + (rising[1:] - rising[:-1]) / 2, to)]

    def cell(self, place: Any) -> str:
        """One place, such as a last one: a date of any kind where the places are dates."""
        if self.periods is not None and hasattr(place, "to_timestamp"):
            place = place.to_timestamp()
        return text(place)

    def cells(self) -> list[str]:
        if self.texts:
            return [_files.quoted(v) for v in self.values]
        if not self.dates:
            return _number_cells(self.values)
        if self.zone is not None:
            if self.values.hasnans:
                raise ValueError("the index has missing dates (NaT); want a date for each row")
            return [t.isoformat() for t in self.values]
        if np.isnat(self.values).any():
            raise ValueError("the index has missing dates (NaT); want a date for each row")
        return np.datetime_as_string(self.values, unit=_unit(self.values)).tolist()

    def parse(self, cells: Sequence[str]) -> Any:
        values = np.array(cells) if self.dates or self.texts else np.array(cells, dtype=float)
        if not self.pandas:
            return values.astype(self.values.dtype) if self.dates or self.texts else values
        pd, name = _pandas(), self.like.name
        if self.texts:
            return pd.Index(list(cells), name=name, dtype=self.like.dtype)
        if not self.dates:
            whole = np.issubdtype(self.like.dtype, np.integer) and (values == np.round(values)).all()
            return pd.Index(values.astype(int) if whole else values, name=name)
        if self.zone is not None:
            dates = pd.to_datetime(list(cells), utc=True, format="ISO8601")
            return pd.DatetimeIndex(dates, name=name).tz_convert(self.zone)
        dates = pd.DatetimeIndex(pd.to_datetime(list(cells), format="ISO8601"), name=name)
        if self.periods is not None:
            return dates.to_period(self.periods)
        if getattr(self.like, "freq", None) is not None:
            try:
                dates.freq = self.like.freq
            except ValueError:  # places of another step
                pass
        return dates


def _plain(index: NDArray) -> NDArray:
    """Places [n] as numbers, datetime64, or text; Python's own dates are datetime64 then."""
    if index.ndim != 1:
        raise ValueError(f"the places have {index.ndim} dimensions; want one")
    if index.dtype.kind == "O" and len(index) and all(isinstance(v, datetime.date) for v in index):
        return index.astype("M8[us]")
    return index


def _number_cells(values: NDArray) -> list[str]:
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"the index is {values.dtype}; want numbers or dates (pandas.to_datetime)") from None
    if not np.isfinite(numbers).all():
        raise ValueError("the index has values that are not finite; want a place for each row")
    return list(map(repr, numbers.tolist()))


def _unit(dates: NDArray) -> Any:
    """The coarsest unit in which dates are exact."""
    return next((u for u in ("D", "s", "us") if (dates.astype(f"M8[{u}]") == dates).all()), "ns")


class Series:
    """One or several outputs along one input.

    y is [n] or [n, D] numbers, NaN or None for missing ones; x [n] their places (default: a pandas object's index, or
    0, 1, …). A DataFrame with the columns ds and y is the places and the values; with unique_id as well it is several
    series, which `ids` [n] tells apart. regressors are columns {name: [n]}, or names of columns of such a DataFrame.
    """

    def __init__(self, y: Any, x: Any = None, yerr: Any = None, regressors: Any = None):
        self.ids: list[Any] | None = None
        if is_pandas(y) and y.ndim == 2 and {"ds", "y"} <= set(y.columns):
            if isinstance(regressors, (str, list, tuple)):
                regressors = y[[regressors] if isinstance(regressors, str) else list(regressors)]
                y = y.drop(columns=regressors.columns)
            others = [c for c in y.columns if c not in ("unique_id", "ds", "y")]
            if others or x is not None:
                what = f"the columns {others}" if others else "x"
                raise ValueError(
                    f"a frame with the columns ds and y, and {what}; must be unique_id, ds, y and regressors alone"
                )
            if "unique_id" in y.columns:
                self.ids = y["unique_id"].tolist()
            y = y["y"].set_axis(_pandas().Index(y["ds"]))
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
        self.regressors = regressor_columns(regressors, n)
        if taken := [k for k in self.regressors if k in (*self.names, self.x_name)]:
            raise ValueError(f"regressors has the names {taken}, which others have; must be different names")
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
        names, columns = [self.x_name, *self.names], [self.places.cells(), *map(number_cells, self.columns().T)]
        if self.errors is not None:
            for name, e in zip(list(self.names), self.errors.reshape(len(self.y), -1).T, strict=True):
                names.append(_free(name + "_error", names))
                columns.append(number_cells(e))
        names += self.regressors
        columns += map(number_cells, self.regressors.values())
        if self.ids is not None:
            names.append(_free("unique_id", names))
            columns.append([_files.quoted(i) for i in map(str, self.ids)])
        return _files.to_csv(names, columns)

    def flags(self) -> list[str]:
        """--x, --y, --yerr, --regressor and --by, by number."""
        kinds = ["--y"] * self.outputs + ["--yerr"] * (0 if self.errors is None else self.outputs)
        kinds += ["--regressor"] * len(self.regressors) + ["--by"] * (self.ids is not None)
        return ["--x=0"] + [f"{kind}={i + 1}" for i, kind in enumerate(kinds)]

    def own_ids(self, texts: Sequence[str]) -> list[Any]:
        """The caller's own ids of what the command calls them."""
        own = {str(i).strip(): i for i in self.ids or ()}
        return [own[t] for t in texts]

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


def regressor_columns(given: Any, n: int) -> dict[str, NDArray]:
    """The columns {name: [n]} of a mapping or a DataFrame of regressors; {} of None."""
    if given is None:
        return {}
    if not hasattr(given, "items"):
        raise ValueError(f"regressors is a {type(given).__name__}; must be a DataFrame or {{name: numbers}}")
    columns = {name: _numbers(column, f"the regressor {name!r}") for name, column in given.items()}
    for name, column in columns.items():
        if not usable(name):
            raise ValueError(f"a regressor has the name {name!r}; must be text that is no number")
        if column.shape != (n,):
            raise ValueError(f"the regressor {name!r} has the shape {column.shape}; must be [{n}], as many as places")
    return columns


def _numbers(a: Any, what: str) -> NDArray:
    """The values as float64, NaN where one is missing."""
    try:
        if np.iscomplexobj(a):
            raise TypeError("they are complex")
        numbers = a.to_numpy(dtype=float, na_value=np.nan) if is_pandas(a) else np.array(a, dtype=float)
    except (TypeError, ValueError) as err:
        raise ValueError(f"{what} has values that are no numbers: {err}") from None
    if np.isinf(numbers).any():
        row = np.argwhere(np.isinf(numbers))[0][:1].tolist()  # empty for a single number
        raise ValueError(
            f"{what} is infinite{f' in row {row[0]}' if row else ''}; want finite numbers, NaN where missing"
        )
    return numbers


def number_cells(column: NDArray) -> list[str]:
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
