"""Conversion of series between arrays or pandas objects and the command's tables."""

from __future__ import annotations

import datetime
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _files
from ._files import Array
from ._flags import text

_KINDS = {"m": "durations (timedelta64): add a date, or use .total_seconds()", "b": "bool"}


def _pandas() -> Any:
    """Return pandas if it has been imported, else None. Data can be pandas objects only if it has."""
    return sys.modules.get("pandas")


def is_pandas(data: Any) -> bool:
    """Report whether data is a pandas Series or DataFrame."""
    pd = _pandas()
    return pd is not None and isinstance(data, (pd.Series, pd.DataFrame))


class Positions:
    """The positions of a series' rows: numbers, dates with or without a time zone, or dates as text.

    `cells` converts them to cells of a table. `parse` converts cells back to the caller's type.
    """

    def __init__(self, index: Any, name: str = "x"):
        pd = _pandas()
        given: Any = _index(index, name)
        self.like = given
        self.pandas = pd is not None and isinstance(given, pd.Index)
        self.periods = self.zone = None
        if pd is not None and isinstance(given, pd.PeriodIndex):
            self.periods, given = given.freq, given.to_timestamp()
        if pd is not None and isinstance(given, pd.DatetimeIndex):
            self.zone = given.tz
        self.values: Any = given if self.zone is not None else np.asarray(given)
        if self.values.ndim != 1:
            raise ValueError(f"{name} has {self.values.ndim} dimensions; must be [n]")
        kind = self.values.dtype.kind
        if kind == "O" and len(self.values) and all(isinstance(v, datetime.date) for v in self.values):
            self.values = self.values.astype("M8[us]")  # datetime.date and datetime.datetime
        if kind in _KINDS:
            raise ValueError(f"{name} is {_KINDS[kind]}; must be numbers or dates (pandas.to_datetime)")
        self.dates = self.zone is not None or self.values.dtype.kind == "M"
        self.texts = not self.dates and all(isinstance(v, str) for v in self.values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def index(self) -> Any:
        """The positions in the caller's type."""
        return self.like if self.pandas else self.values

    def span(self) -> str:
        """Return the first and the last position as text, such as "2024-01-01 to 2024-01-28". There must be a row."""
        ends = self.index[[0, -1][: len(self)]]
        if self.dates and self.periods is None:
            return " to ".join(Positions(ends).cells())
        return " to ".join(str(v) if self.texts or self.periods is not None else f"{v:.10g}" for v in ends)

    def sortable(self) -> Any:
        """Return the positions as an array that can be sorted and plotted, or None for text not in ISO 8601."""
        if not self.texts:
            return np.asarray(self.values)
        try:
            return np.array(self.values, dtype="M8[us]")
        except ValueError:
            return None

    def nearest(self, others: Positions) -> Array:
        """Return the row number of the nearest position for each of `others`."""
        own, to = self.sortable(), others.sortable()
        if own is None or to is None:
            numbers = {cell: n for n, cell in enumerate(self.cells())}
            return np.array([numbers[cell] for cell in others.cells()])
        order = np.argsort(own, kind="stable")
        rising = own[order]
        return np.asarray(order[np.searchsorted(rising[:-1] + (rising[1:] - rising[:-1]) / 2, to)])

    def cell(self, position: Any) -> str:
        """Return the position `until` as text: a number, or a date of any type if the positions are dates."""
        if self.periods is not None and hasattr(position, "to_timestamp"):
            position = position.to_timestamp()
        return text(position, "until")

    def cells(self) -> list[str]:
        """Return the positions as cells of a table. Raises ValueError if one is missing or has an unsupported type."""
        if self.texts:
            return [_files.quoted(v) for v in self.values]
        if self.dates:
            if self.values.hasnans if self.zone is not None else np.isnat(self.values).any():
                raise ValueError("the index has missing dates (NaT); must have a date for every row")
            if self.zone is not None:
                return [t.isoformat() for t in self.values]
            exact = (u for u in ("D", "s", "us") if (self.values.astype(f"M8[{u}]") == self.values).all())
            unit: Any = next(exact, "ns")  # the coarsest unit that represents the dates exactly
            return list(np.datetime_as_string(self.values, unit=unit).tolist())
        try:
            numbers = self.values.astype(float)
        except (TypeError, ValueError):
            what = type(self.like).__name__ if self.pandas else self.values.dtype
            raise ValueError(f"the index is {what}; must be numbers or dates (pandas.to_datetime)") from None
        if not np.isfinite(numbers).all():
            raise ValueError("the index has values that are not finite; must have a position for every row")
        return list(map(repr, numbers.tolist()))

    def parse(self, cells: Sequence[str]) -> Any:
        """Convert cells written by the command to positions of the caller's type."""
        values = np.array(cells) if self.dates or self.texts else np.array(cells, dtype=float)
        if not self.pandas:
            return values.astype(self.values.dtype) if self.dates or self.texts else values
        pd, name = _pandas(), self.like.name
        if self.texts:
            return pd.Index(list(cells), name=name, dtype=getattr(self.like, "categories", self.like).dtype)
        if not self.dates:
            whole = self.values.dtype.kind in "iu" and (values == np.round(values)).all()
            return pd.Index(values.astype(int) if whole else values, name=name)
        dates = pd.DatetimeIndex(pd.to_datetime(list(cells), utc=self.zone is not None, format="ISO8601"), name=name)
        if self.periods is not None:
            return dates.to_period(self.periods)
        return self._regular(dates if self.zone is None else dates.tz_convert(self.zone))

    def _regular(self, dates: Any) -> Any:
        """Return dates of a forecast, with the frequency of the positions if the dates have it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas announces another type, which is as good here
            freq = getattr(self.like, "freq", None) or getattr(self.like, "inferred_freq", None)
        if freq is None or not len(dates):
            return dates
        try:
            dates.freq = freq
        except (
            ValueError
        ):  # a different step, or days with the last row's offset from UTC after a change of daylight time
            following = _pandas().date_range(self.like[-1], periods=len(dates) + 1, freq=freq, name=dates.name)[1:]
            days = self.zone is not None and following[0] - self.like[-1] >= datetime.timedelta(hours=23)
            if days and abs(following - dates).max() <= datetime.timedelta(hours=2):
                return following
        return dates


def _how_to_select(y: Any) -> str:
    """Return the end of an error about a DataFrame with a column that is not numbers, "" for other data."""
    if not is_pandas(y) or y.ndim != 2:
        return ""
    types = _pandas().api.types
    numeric = [name for name, kind in y.dtypes.items() if types.is_numeric_dtype(kind)]
    others = [name for name, kind in y.dtypes.items() if not types.is_numeric_dtype(kind)]
    if not others:
        return ""
    dates = [name for name, kind in y.dtypes.items() if kind.kind == "M"]
    example = f"y=frame[{numeric[-1] if numeric else 'y'!r}], x=frame[{(dates or others)[0]!r}]"
    return (
        f"; the frame has the columns {list(y.columns)}: give the values and their positions separately, such as "
        f"{example}, or rename the columns to ds and y, and unique_id for several series"
    )


def _how_to_rename(columns: list[Any]) -> str:
    """Return the error about a frame with unique_id that has no column ds or no column y."""
    how = "rename the column of dates to ds, or use frame.rename_axis('ds').reset_index() if they are the index"
    if "ds" in columns:
        how = "rename the column of values to y"
    elif "y" not in columns:
        how += ", and rename the column of values to y"
    return f"a frame with unique_id must have the columns ds and y, but has {columns}: {how}"


def not_text(given: Any, name: str, how_to_read: str) -> None:
    """Raise TypeError if an argument for data is a path or other text. `how_to_read` is an example with {} for it."""
    if isinstance(given, (str, os.PathLike)):
        text = str(given)
        path = repr(text) if len(text) <= 200 else "path"  # longer text is the content of a file
        raise TypeError(f"{name} is a path or text; must be the data, such as {how_to_read.format(path)}")


def _index(given: Any, name: str) -> Any:
    """Return a pandas Index if `given` is a pandas Series or a list of dates with a time zone, else `given`."""
    pd = _pandas()
    if is_pandas(given) and given.ndim == 1:
        return pd.Index(given)
    if not isinstance(given, (list, tuple)) or not any(getattr(v, "tzinfo", None) for v in given):
        return given
    if pd is None:
        raise ValueError(f"{name} has dates with a time zone, which require pandas; import pandas or use datetime64")
    return pd.DatetimeIndex(given)


class Series:
    """The data of a call: one or several outputs with a common input.

    y contains numbers [n] or [n, D], with NaN or None for missing values. x [n] are their positions (default: the index
    of a pandas object, or 0, 1, …). A DataFrame with the columns ds and y contains the positions and the values. If it
    also has a column unique_id, it contains several series, and `ids` [n] is the series of each row. regressors are
    columns {name: [n]}, or names of columns of such a DataFrame.
    """

    def __init__(self, y: Any, x: Any = None, yerr: Any = None, regressors: Any = None):
        self.ids: list[Any] | None = None
        not_text(y, "y", "pandas.read_csv({})['column']")
        if is_pandas(y) and y.ndim == 2 and {"ds", "y"} <= set(y.columns):
            y, regressors = self._long(y, x, regressors)
        elif is_pandas(y) and y.ndim == 2 and "unique_id" in y.columns:
            raise ValueError(_how_to_rename(list(y.columns)))
        self.like = y
        frame = is_pandas(y)
        try:
            self.y = numbers(y, "y")
        except ValueError as err:
            raise ValueError(str(err) + _how_to_select(y)) from None
        if self.y.ndim not in (1, 2) or 0 in self.y.shape:
            raise ValueError(f"y has the shape {self.y.shape}; must be [n] or [n, outputs], with at least one row")
        n = len(self.y)
        if x is None:
            x = y.index if frame else np.arange(n)
        self.positions = Positions(x)
        if len(self.positions) != n:
            raise ValueError(f"x has {len(self.positions)} positions and y {n} rows; must be the same number")
        self.single = self.y.ndim == 1
        self.columns = self.y.reshape(n, -1)
        self.labels: list[Any] = [] if not frame else [y.name] if self.single else list(y.columns)
        self.names = self.labels if self.labels and all(map(usable, self.labels)) else []
        if len(set(self.names)) != self.columns.shape[1]:
            self.names = ["y"] if self.columns.shape[1] == 1 else [f"y{i}" for i in range(self.columns.shape[1])]
        xname: Any = getattr(x, "name", None)
        self.x_name: str = xname if usable(xname) and xname not in self.names else _free("x", self.names)
        self.regressors = regressor_columns(regressors, n, self.positions.index)
        if taken := [k for k in self.regressors if k in (*self.names, self.x_name)]:
            raise ValueError(f"regressors has the names {taken}, which are names of x or y; must be different names")
        self.errors = None
        if yerr is not None:
            self.errors = numbers(yerr, "yerr")
            if self.errors.ndim == 0:
                self.errors = np.full(self.y.shape, float(self.errors))
            if self.errors.shape != self.y.shape:
                raise ValueError(f"yerr has the shape {self.errors.shape} and y {self.y.shape}; must be the same")

    def _long(self, y: Any, x: Any, regressors: Any) -> tuple[Any, Any]:
        """Split a frame with the columns ds and y into y, indexed by ds, and the regressors. Sets `ids`."""
        if not y.columns.is_unique:
            raise ValueError("a frame with the columns ds and y has duplicate column names; must be unique")
        if isinstance(regressors, (str, list, tuple)):
            names = [regressors] if isinstance(regressors, str) else list(regressors)
            if missing := [name for name in names if name not in y.columns]:
                raise ValueError(f"regressors={missing}: the frame has no such column; must be in {list(y.columns)}")
            regressors, y = y[names], y.drop(columns=names)
        others = [c for c in y.columns if c not in ("unique_id", "ds", "y")]
        if others or x is not None:
            if not others:
                raise ValueError("x cannot be combined with a frame with the columns ds and y; ds has the positions")
            raise ValueError(
                f"the frame has the columns {others} next to ds and y; name regressors with regressors={others}, or "
                "drop these columns; the column that identifies several series must have the name unique_id"
            )
        if "unique_id" in y.columns:
            ids = self.ids = y["unique_id"].tolist()
            if y["unique_id"].isna().any():
                raise ValueError("unique_id has missing values; must have a value in every row")
            if len({str(i).strip() for i in ids}) < len(set(ids)):
                raise ValueError("unique_id has different values with the same text; must be different as text")
        if regressors is not None and is_pandas(regressors):
            regressors = regressors.reset_index(drop=True)
        return y["y"].set_axis(_pandas().Index(y["ds"])), regressors

    def csv(self) -> bytes:
        """Return the data as a CSV file: x, y, their errors, the regressors and unique_id."""
        names, columns = [self.x_name, *self.names], [self.positions.cells(), *map(number_cells, self.columns.T)]
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
        """Return the flags --x, --y, --yerr, --regressor and --by, which select columns by number."""
        kinds = ["--y"] * len(self.names) + ["--yerr"] * (0 if self.errors is None else len(self.names))
        kinds += ["--regressor"] * len(self.regressors) + ["--by"] * (self.ids is not None)
        return ["--x=0"] + [f"{kind}={i + 1}" for i, kind in enumerate(kinds)]

    def own_ids(self, texts: Sequence[str]) -> list[Any]:
        """Return the caller's ids, given their text in the command's output."""
        own = {str(i).strip(): i for i in self.ids or ()}
        return [own[t] for t in texts]

    def shape(self) -> Shape:
        """Return the shape of results."""
        return Shape(self.labels or self.names, self.single, bool(self.labels))


@dataclass(frozen=True)
class Shape:
    """Converts columns of a table to an object like the caller's: array [n] or [n, D], Series or DataFrame."""

    names: list[Any]
    single: bool
    pandas: bool

    def __call__(self, columns: Sequence[Array], index: Any) -> Any:
        if not self.pandas:
            return columns[0] if self.single else np.column_stack(columns)
        import pandas as pd

        if self.single:
            return pd.Series(columns[0], index=index, name=self.names[0])
        return pd.DataFrame(np.column_stack(columns), index=index, columns=self.names)


def regressor_columns(given: Any, n: int, index: Any = None, what: str = "regressors") -> dict[str, Array]:
    """Return the columns {name: [n]} of a mapping or a DataFrame of regressors; {} for None.

    Raises ValueError for columns of another length, invalid names, and a DataFrame whose index differs from `index`.
    """
    if given is None:
        return {}
    if not hasattr(given, "items") or is_pandas(given) and given.ndim == 1:
        raise ValueError(f"{what} is a {type(given).__name__}; must be a DataFrame or {{name: numbers}}")
    if is_pandas(given) and hasattr(index, "equals") and not isinstance(given.index, _pandas().RangeIndex):
        if not given.index.equals(index):
            raise ValueError(f"{what} has a different index than the series; must have the same rows in the same order")
    columns = {name: numbers(column, f"the regressor {name!r}") for name, column in given.items()}
    for name, column in columns.items():
        if not usable(name):
            raise ValueError(f"a regressor has the name {name!r}; must be text that is not a number")
        if column.shape != (n,):
            raise ValueError(f"the regressor {name!r} has the shape {column.shape}; must be [{n}], one per position")
    return columns


def numbers(values: Any, what: str) -> Array:
    """Return values as float64 with NaN for missing ones. Raises ValueError if one is infinite or not a number."""
    kinds = {d.kind for d in values.dtypes} if is_pandas(values) and values.ndim == 2 else set()
    try:
        masked = isinstance(values, np.ma.MaskedArray)
        array: Array = np.where(np.ma.getmaskarray(values), np.nan, values.data) if masked else np.asarray(values)
        if wrong := (kinds | {array.dtype.kind}) & set("mMc"):
            raise TypeError({"m": "durations", "M": "dates", "c": "complex"}[wrong.pop()])
        if array.dtype.kind == "O" and _pandas():  # the values may include pandas.NA
            flat = _pandas().Series(array.ravel())
            array = flat.to_numpy(dtype=float, na_value=np.nan).reshape(array.shape)
        array = np.array(array.astype(object) if array.dtype.kind == "U" else array, dtype=float)
    except (TypeError, ValueError, OverflowError) as err:
        reason = str(err).split(". ")[0]
        raise ValueError(f"{what} has values that are not numbers: {reason}") from None
    if np.isinf(array).any():
        row = np.argwhere(np.isinf(array))[0][:1].tolist()  # empty for a single number
        raise ValueError(f"{what} is infinite{f' in row {row[0]}' if row else ''}; must be finite, or NaN if missing")
    return array


def number_cells(column: Array) -> list[str]:
    """Return numbers as cells of a table, with all digits. Missing values are empty cells."""
    return ["" if v != v else repr(v) for v in column.tolist()]


def usable(name: Any) -> bool:
    """Report whether the command accepts a column name: printable text that is not a number or padded with spaces."""
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        return False
    try:
        float(name)
    except ValueError:
        return True
    return False


def _free(name: str, taken: Sequence[str]) -> str:
    """Return the name, with underscores appended until it is not taken."""
    while name in taken:
        name += "_"
    return name
