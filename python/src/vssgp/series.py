"""Time series: forecasts, fills of missing values, and backtests.

The model is a sum of named parts: a level and a slope that change, the seasonal components supported by the data, a
short memory, regressors and noise. Intervals are of observations, noise included.

`y` is [n] or [n, D] numbers, NaN or None for missing values: an array, or a pandas Series or DataFrame, whose index
contains the positions of the rows. `x` gives the positions of an array: [n] numbers in any unit and order, or
datetime64 (default: 0, 1, …). Results have the caller's types and units.

A DataFrame with the columns `ds` and `y` contains the positions and the values of a series. With `unique_id` as well it
is several series, each with a separate model. The result is then a DataFrame. A series that fails is left out with a
VssgpWarning.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _engine, _files
from ._engine import Progress
from ._files import Array
from ._flags import flags, in_python
from ._table import Places, Series, Shape, number_cells, regressor_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack

Horizon = Any  # a number of rows; on dates also a text such as "6mo", or a timedelta
Level = float | Sequence[float] | None  # percent
Period = Any  # a number in units of x; on dates a text such as "7d", or a timedelta
Prior = Mapping[str, str | Sequence[float]]  # name: (median in the data's units, sd of the logarithm)
Values = Any  # an array [n] or [n, D], or a pandas Series or DataFrame
F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound="_Predicted")

_DATA, _MODEL, _AT, _OUT, _BANDS = "series.csv", "model.safetensors", "at.csv", "out.csv", "bands.csv"
_EVENTS = "events.csv"


class Options(TypedDict, total=False):
    """The options that forecast, fill and backtest share.

    Parameters
    ----------
    x : [n] positions of the rows of y, numbers or dates in any order. Default: the index of y, or 0, 1, ….
    yerr : known standard deviation of each value, in the shape and the units of y, or one number.
    regressors : what explains y: columns {name: [n]}, a DataFrame with the rows of y, or names of columns of a frame
        with ds and y.
    holidays : codes of countries or states ("US", "DE-BY") whose holidays are regressors; of days or shorter steps.
    events : {name: dates}, further regressors of days.
    period : length of a known season in units of x, or on dates a text such as "7d" or a timedelta; or several.
    season : length of a known season in rows, or several; "none", or "auto" for more seasons than the given ones.
    trend : parts of the trend: "line", "smooth", "walk"; "none" or "auto".
    log : "auto", "always" or "never": whether to model the logarithm of y.
    short_memory : whether deviations from trend and seasons fade over some rows. Default: True.
    robust : "auto", "always" or "never": whether values may be outliers.
    positive : whether predictions are never below 0.
    prior : {name: (median in the data's units, sd of the logarithm)} of hyper-parameters such as "noise".
    hmc : whether to draw the hyper-parameters by Hamiltonian Monte Carlo, which takes ten times as long.
    seed : seed of everything random.
    device : "auto" or "cpu".
    progress : whether to show progress; None: on a terminal or in a notebook; or a function that takes the texts.

    """

    x: ArrayLike | Any
    yerr: Values | None
    regressors: Mapping[str, Any] | Sequence[str] | Any
    holidays: str | Sequence[str] | None
    events: Mapping[str, Any] | None
    period: Period | Sequence[Period] | None
    season: int | str | Sequence[int | str] | None
    trend: str | Sequence[str] | None
    log: Literal["auto", "always", "never"] | None
    short_memory: bool | None
    robust: bool | Literal["auto", "always", "never"] | None
    positive: bool | None
    prior: Prior | None
    hmc: bool | None
    seed: int
    device: str | None
    progress: Progress


def _with_options(function: F) -> F:
    """Complete the documentation and the signature of a function that takes **options: Unpack[Options]."""
    shared = (Options.__doc__ or "").partition("----------\n")[2].rstrip()
    function.__doc__ = (function.__doc__ or "").replace("    **options\n", shared.removeprefix("\n") + "\n", 1)
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    known = [
        inspect.Parameter(
            k, inspect.Parameter.KEYWORD_ONLY, default=0 if k == "seed" else None, annotation=kind.__forward_arg__
        )
        for k, kind in Options.__annotations__.items()
    ]
    setattr(function, "__signature__", signature.replace(parameters=own + known))  # noqa: B010
    return function


@dataclass(frozen=True)
class SeriesModel:
    """A fitted model of a series, as `vssgp forecast -m` writes it.

    `data` is the content of the model file. Python and the command read each other's files and predict the same
    numbers.
    """

    data: bytes = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> SeriesModel:
        """Read a model file. Raises ValueError if it does not contain the model of a series."""
        model = cls(Path(path).read_bytes())
        if "periods" not in _engine.model_info(model.data, path):
            raise ValueError(f"{path}: not the model of a series; must be of forecast (see VSSGPRegressor.load)")
        return model

    def save(self, path: str | Path) -> None:
        """Write the model file (safetensors)."""
        Path(path).write_bytes(self.data)

    def info(self) -> dict[str, Any]:
        """Return the output of `vssgp info --json`, such as parts, periods and hyper-parameters with intervals."""
        return _engine.model_info(self.data)

    def predict(
        self, at: ArrayLike | Any, regressors: Mapping[str, Any] | Any = None, *, level: Level = None
    ) -> Forecast:
        """Predict observations.

        Parameters
        ----------
        at : [m] positions of the kind that the data had, numbers or dates; a pandas Index gives pandas objects.
        regressors : the columns of the model's regressors there, {name: [m]} or a DataFrame. The model knows its
            holidays and events.
        level : percent of observations in further intervals, or several.

        Raises
        ------
        ValueError for positions more than ten times the data's range beyond their end.

        """
        places, info, levels = Places(at, "at"), self.info(), _levels(level)
        columns = regressor_columns(regressors, len(places), places.index)
        if unknown := sorted(set(columns) - {effect["name"] for effect in info.get("effects") or ()}):
            raise ValueError(f"the model has no regressor {unknown[0]!r}")
        table = self._predict(places, columns, "--posterior", *flags(level=levels))
        shape = Shape(info["outputs"], len(info["outputs"]) == 1, places.pandas)
        return _forecast(table, levels, shape, places.index, info, self, columns)

    def _predict(self, places: Places, regressors: Mapping[str, Any], *args: str) -> bytearray:
        names = [self.info()["inputs"][0], *regressors]
        table = _files.to_csv(names, [places.cells(), *map(number_cells, regressors.values())])
        all_args = ["predict", _MODEL, _AT, "-o", _OUT, "--json", "--digits=0", *args]
        return _engine.call(all_args, {_MODEL: self.data, _AT: table}, stacklevel=5, names={"draws": "n"}).files[_OUT]


@dataclass(frozen=True)
class _Predicted:
    """The common part of a forecast and a filling."""

    index: Any
    sd: Values
    lower: Values
    upper: Values
    periods: list[float]
    noise_sd: list[float]
    bound: float | None
    model: SeriesModel = field(repr=False)
    _shape: Shape = field(repr=False)
    ends: dict[str, Values] = field(repr=False, default_factory=dict)
    regressors: dict[str, Any] = field(repr=False, default_factory=dict)

    def interval(self, level: float = 95) -> tuple[Values, Values]:
        """Return the ends of the central interval of `level` percent of observations, in the shape of sd."""
        if not 0 <= _number(level, "level") < 100:
            raise ValueError(f"level={level}: must be from 0 to less than 100 percent")
        at = Places(self.index)
        _, (_, *columns) = _files.from_csv(self.model._predict(at, self.regressors, *flags(level=float(level))))
        all_numbers = [np.array(c, dtype=float) for c in columns]
        return self._shape(all_numbers[2::4], self.index), self._shape(all_numbers[3::4], self.index)

    def frame(self) -> Any:
        """Return a DataFrame with the predictions, sd, lower and upper; for several outputs (output, column).

        It also has lower_80, upper_80 and so on for each level.
        """
        import pandas as pd

        first = {k: getattr(self, k) for k in ("mean", "values") if hasattr(self, k)}
        named = first | {k: getattr(self, k) for k in ("sd", "lower", "upper")} | self.ends
        parts = {k: np.asarray(v).reshape(len(self.index), -1) for k, v in named.items()}
        if self._shape.single:
            return pd.DataFrame({k: v[:, 0] for k, v in parts.items()}, index=self.index)
        columns = {(name, k): v[:, d] for d, name in enumerate(self._shape.names) for k, v in parts.items()}
        return pd.DataFrame(columns, index=self.index)


@dataclass(frozen=True, kw_only=True)
class Forecast(_Predicted):
    """A forecast of observations, noise included.

    `mean` is [m] or [m, D] in the units of y, as are sd (standard deviation), lower and upper (the central 95 %
    interval); `index` [m] contains their positions, and `ends` lower_80 and so on for each level. `periods` are the
    seasons' in units of x (for dates: in the unit that the model counts in, see `model.info()`), `noise_sd` [D] is in
    units of y, and `bound` the log marginal likelihood in nats of the standardized data.
    """

    mean: Values
    observed: Any = field(repr=False, default=None)

    def quantile(self, p: float) -> Values:
        """Return the values below which an observation lies with probability p, 0 < p < 1, in the shape of mean."""
        if not 0 < _number(p, "p") < 1:
            raise ValueError(f"p={p}: must be between 0 and 1, such as 0.9")
        lower, upper = self.interval(100 * abs(2 * p - 1))
        return lower if p < 0.5 else upper

    def draws(self, n: int, seed: int = 0) -> Array:
        """Draw n functions from the posterior, without noise: [n, m] or [n, m, D] in the units of y."""
        args = flags(draws=n, seed=seed)
        _, (_, *columns) = _files.from_csv(self.model._predict(Places(self.index), self.regressors, *args))
        drawn = np.array(columns[2 * len(self._shape.names) :], dtype=float)
        drawn = drawn.reshape(n, len(self._shape.names), len(self.index)).swapaxes(1, 2)
        return drawn[:, :, 0] if self._shape.single else drawn

    def plot(self, ax: Any = None, *, last: int | None = None) -> Any:
        """Draw the data (the `last` rows) and the forecast with its 95 % interval; needs matplotlib.

        Returns the axes; for several outputs an array of them, one for each.
        """
        import matplotlib.pyplot as plt
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        outputs = len(self._shape.names)
        if last is not None and not last > 0:
            raise ValueError(f"last={last}: must be a positive number of rows")
        if ax is None:
            _, ax = plt.subplots(outputs, 1, sharex=True, figsize=(9, 3 * outputs), layout="constrained")
        axes = np.ravel(ax)
        if len(axes) != outputs:
            raise ValueError(f"ax has {len(axes)} axes for {outputs} outputs; must be one for each")
        at = Places(self.index).sortable()
        if at is None or self.observed is not None and self.observed[0] is None:
            raise ValueError("the index is text in another notation than ISO 8601; must be dates (pandas.to_datetime)")
        for d, one in enumerate(axes):
            mean, lower, upper = (np.asarray(a).reshape(len(at), -1)[:, d] for a in (self.mean, self.lower, self.upper))
            if self.observed is not None:
                x, y = self.observed
                order = np.argsort(x, kind="stable")[-last if last else None :]
                x, y = x[order], y[order, d]
                one.plot(x, y, color="0.3", linewidth=1, label="data")
                gone = np.isnan(np.pad(y, 1, constant_values=np.nan))
                alone = gone[:-2] & ~gone[1:-1] & gone[2:]  # a line does not show them
                if alone.any():
                    one.plot(x[alone], y[alone], ".", color="0.3", markersize=3)
            if len(at) > 1:
                (line,) = one.plot(at, mean, linewidth=1.5, label="forecast")
                one.fill_between(at, lower, upper, color=line.get_color(), alpha=0.2, linewidth=0, label="95 %")
            else:
                one.errorbar(at, mean, [mean - lower, upper - mean], fmt=".", capsize=3, label="forecast, 95 %")
            name = self._shape.names[d]
            one.set_ylabel("" if name is None else str(name))
            dates = one.xaxis.get_major_locator()
            if isinstance(dates, AutoDateLocator):  # dates in full overlap
                one.xaxis.set_major_formatter(ConciseDateFormatter(dates, tz=dates.tz))  # type: ignore[no-untyped-call]
        axes[0].legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.2)
        if getattr(self.index, "name", None) is not None:
            axes[-1].set_xlabel(str(self.index.name))
        return ax


@dataclass(frozen=True, kw_only=True)
class Filling(_Predicted):
    """A series whose missing values are filled in.

    `values` is y with its missing values predicted. sd, lower and upper have the same shape, NaN for values that were
    not missing; `missing` [n] or [n, D] marks those that were. The other attributes are a forecast's.
    """

    values: Values
    missing: Values

    def interval(self, level: float = 95) -> tuple[Values, Values]:
        """Return the ends of the central interval of `level` percent, NaN for values that were not missing."""
        lower, upper = (np.where(self.missing, end, np.nan) for end in super().interval(level))
        columns = (end.reshape(len(self.index), -1).T for end in (lower, upper))
        lower, upper = (self._shape(list(one), self.index) for one in columns)
        return lower, upper


@dataclass(frozen=True)
class Backtest:
    """The scores of forecasts from earlier origins of a series.

    `scores` has for each of vssgp, naive and seasonal_naive: rmse, mae, crps, interval_score95 (units of y), mase,
    coverage95, nlpd (nats). For several outputs they are means, and `by_output` has the scores of each.
    """

    horizon: int
    origins: int
    season: int
    scores: dict[str, dict[str, float]]
    by_output: dict[str, dict[str, dict[str, float]]] = field(repr=False)
    seconds: float = field(repr=False)

    def frame(self) -> Any:
        """Return the scores as a DataFrame with a row for each method."""
        import pandas as pd

        return pd.DataFrame(self.scores).T


@_with_options
def forecast(
    y: Values,
    horizon: Horizon | None = None,
    *,
    until: Any = None,
    at: ArrayLike | Any = None,
    future: Mapping[str, Any] | Any = None,
    level: Level = None,
    **options: Unpack[Options],
) -> Forecast | Any:
    """Forecast a series: `horizon` steps of its grid, `until` a position, or `at` given positions.

    Without any of these the forecast is of two of the shortest seasons, or a tenth of the rows. With regressors it is
    of the rows after the last value of y. `vssgp forecast --help` explains each option.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    horizon : number of rows; on dates also a time: "6mo", "8w", "36h", or a timedelta.
    until : the last position, a number or a date.
    at : [m] positions of the kind of x.
    future : the columns of the regressors at `at`, {name: [m]} or a DataFrame.
    level : percent of observations in further intervals, or several.
    **options

    Returns
    -------
    A Forecast; for several series a DataFrame with unique_id, ds, mean, sd, lower, upper and the levels' ends.

    Raises
    ------
    ValueError or TypeError for data or options that cannot be used, with what must be instead; RuntimeError if the
    command fails. A KeyboardInterrupt ends the work at once.

    """
    levels, progress = _levels(level), options.get("progress")
    s, args, files = _task("forecast", y, options)
    args += ["-o", _OUT, "--digits=0"]
    index, known = None, s.regressors
    if future is not None and at is None:
        raise ValueError("future has the regressors at the positions at=…, which are not given")
    if at is not None:
        places = Places(at, "at")
        index = places.index
        known = regressor_columns(future, len(places), index, "future")
        if set(known) != set(s.regressors):
            raise ValueError(f"future has the regressors {list(known)}; must be {list(s.regressors)}")
        files[_AT] = _files.to_csv([s.x_name, *known], [places.cells(), *map(number_cells, known.values())])
        args.append("--at=" + _AT)
    args += flags(horizon=horizon, until=None if until is None else s.places.cell(until), level=levels)
    if s.ids is not None:
        import pandas as pd

        _, (ids, cells, *columns) = _files.from_csv(_several(args, files, progress).files[_OUT])
        table = {"unique_id": s.own_ids(ids), "ds": s.places.parse(cells)}
        return pd.DataFrame(table | {k: np.array(c, float) for k, c in zip(_ends(levels), columns, strict=True)})
    answer = _engine.call([*args, "-m", _MODEL], files, progress=progress)
    observed = (s.places.sortable(), s.columns)
    if index is None:
        index = s.places.parse(_files.from_csv(answer.files[_OUT])[1][0])
        known = {name: column[s.places.nearest(Places(index))] for name, column in known.items()}
    model = SeriesModel(bytes(answer.files[_MODEL]))
    return _forecast(answer.files[_OUT], levels, s.shape(), index, answer.result, model, known, observed)


@_with_options
def fill(y: Values, *, level: Level = None, **options: Unpack[Options]) -> Filling | Any:
    """Fill the missing values of a series, given all other values.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    level : percent of observations in further intervals, or several.
    **options

    Returns
    -------
    A Filling; for several series the DataFrame with y filled in and with sd, lower, upper and the levels' ends, NaN
    for values that were not missing.

    Raises
    ------
    The errors of forecast.

    """
    levels, progress = _levels(level), options.get("progress")
    s, args, files = _task("fill", y, options)
    args += ["-o", _OUT, "--bands", _BANDS, "--digits=0", *flags(level=levels)]
    if several := s.ids is not None:
        answer = _several(args, files, progress)
    else:
        answer = _engine.call([*args, "-m", _MODEL], files, progress=progress)
    columns = _files.from_csv(answer.files[_BANDS])[1]
    ends = _ends(levels)
    rows, _, names = columns[: -len(ends)][-3:]
    at = np.array(rows, dtype=int) - 1, np.array([s.names.index(name) for name in names], dtype=int)
    filled = {name: np.full(s.columns.shape, np.nan) for name in ends}
    for to, column in zip(filled.values(), columns[-len(ends) :], strict=True):
        to[at] = np.array(column, dtype=float)
    mean = filled.pop("mean")
    values = np.where(np.isnan(mean), s.columns, mean)
    if several:
        return y.assign(y=values[:, 0], **{name: column[:, 0] for name, column in filled.items()})
    shape = s.shape()
    index = s.like.index if shape.pandas else s.places.index
    shaped = {name: shape(list(a.T), index) for name, a in (filled | {"values": values}).items()}
    missing = shape(list(np.isnan(s.columns).T), index)
    model = SeriesModel(bytes(answer.files[_MODEL]))
    return _predicted(Filling, shaped, shape, index, answer.result, model, s.regressors, missing=missing)


@_with_options
def backtest(y: Values, horizon: Horizon | None = None, origins: int = 6, **options: Unpack[Options]) -> Backtest | Any:
    """Forecast `horizon` rows from each of the last `origins` possible origins, and score the forecasts.

    Each forecast is by a model of the rows before it alone. It is compared with the last value and with the value one
    season before.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    horizon : number of rows, or a time as in forecast; default: a twentieth of the rows.
    origins : number of forecasts.
    **options

    Returns
    -------
    A Backtest; for several series a DataFrame with the scores of each series by each method.

    Raises
    ------
    The errors of forecast.

    """
    s, args, files = _task("backtest", y, options)
    args += flags(horizon=horizon, origins=origins)
    progress = options.get("progress")
    if s.ids is not None:
        import pandas as pd

        scored = [one for one in _several(args, files, progress).result["series"] if "scores" in one]
        keys = zip(s.own_ids([one["name"] for one in scored]), scored, strict=True)
        return pd.DataFrame(
            [{"unique_id": i, "method": m, **scores} for i, one in keys for m, scores in one["scores"].items()]
        )
    r = _engine.call(args, files, progress=progress).result
    by_output = r.get("by_output") or {s.names[0]: r["scores"]}
    return Backtest(r["horizon"], r["origins"], r["season"], r["scores"], by_output, r["seconds"])


def _task(command: str, y: Values, options: Mapping[str, Any]) -> tuple[Series, list[str], dict[str, Any]]:
    """Return the series of a call with the command's arguments and files."""
    if unknown := set(options) - set(Options.__annotations__):
        raise TypeError(f"{command}() got an unexpected keyword argument {unknown.pop()!r}")
    rest = {"seed": 0, **options}
    x, yerr, regressors, events, _ = (rest.pop(k, None) for k in ("x", "yerr", "regressors", "events", "progress"))
    s = Series(y, x, yerr, regressors)
    args, files = [command, _DATA, "--json", *s.flags(), *flags(**rest)], {_DATA: s.csv()}
    if events is not None and not isinstance(events, Mapping):
        raise TypeError(f"events is a {type(events).__name__}; must be {{name: dates}}")
    days: list[tuple[str, str]] = []
    for name, dates in (events or {}).items():
        for day in np.atleast_1d(dates):
            try:
                days.append((str(np.datetime64(day, "D")), _files.quoted(name)))
            except (TypeError, ValueError):
                raise ValueError(f"events[{name!r}] has {str(day)!r}; must be dates, and the name a text") from None
    if days:
        args.append("--events=" + _EVENTS)
        files[_EVENTS] = _files.to_csv(["day", "event"], list(zip(*days, strict=True)))
    return s, args, files


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r}: must be a number")
    return float(value)


def _levels(level: Level) -> list[float]:
    """Return the levels in percent, each once."""
    several = isinstance(level, Iterable) and not isinstance(level, str)
    all_levels = [_number(one, "level") for one in (level if several else [] if level is None else [level])]  # type: ignore
    for one in all_levels:
        if not 1 <= one < 100:
            raise ValueError(f"level={one:g}: must be in percent, from 1 to less than 100, such as 80")
    return list(dict.fromkeys(all_levels))


def _ends(levels: Sequence[float]) -> list[str]:
    """Return the names of the columns of an output."""
    texts = [repr(level).removesuffix(".0") for level in levels]
    return ["mean", "sd", "lower", "upper", *(f"{end}_{level}" for level in texts for end in ("lower", "upper"))]


def _several(args: list[str], files: _engine.Files, progress: Progress) -> _engine.Answer:
    """Return the answer for several series, with a warning for each that has failed."""
    answer = _engine.call(args, files, progress=progress, stacklevel=5, partial=True)
    for one in answer.result["series"]:
        if "error" in one:
            warnings.warn(in_python(one["error"], {}), _engine.VssgpWarning, stacklevel=3)
    return answer


def _forecast(
    table: bytearray,
    levels: Sequence[float],
    shape: Shape,
    index: Any,
    result: Mapping[str, Any],
    model: SeriesModel,
    regressors: dict[str, Any],
    observed: Any = None,
) -> Forecast:
    """Return the forecast in a table that the command has written."""
    _, (_, *columns) = _files.from_csv(table)
    numbers, names = [np.array(c, dtype=float) for c in columns], _ends(levels)
    shaped = {name: shape(numbers[i :: len(names)], index) for i, name in enumerate(names)}
    return _predicted(Forecast, shaped, shape, index, result, model, regressors, observed=observed)


def _predicted(
    kind: type[P],
    shaped: Mapping[str, Values],
    shape: Shape,
    index: Any,
    result: Mapping[str, Any],
    model: SeriesModel,
    regressors: dict[str, Any],
    **own: Any,
) -> P:
    attributes = {k: v for k, v in shaped.items() if "_" not in k}
    ends = {k: v for k, v in shaped.items() if "_" in k}
    learned: dict[str, Any] = {k: result[k] for k in ("periods", "noise_sd", "bound")}
    common = {"index": index, "model": model, "ends": ends, "regressors": regressors, "_shape": shape}
    return kind(**learned, **common, **attributes, **own)
