"""Time series: forecasts, fills of missing values, and backtests.

The model is a sum of parts that have names: a level and a slope that wander, seasons that earn their place, a short
memory and noise. Bands are of observations, noise included.

`y` is [n] or [n, D] numbers, NaN or None where a value is missing: an array, or a pandas Series or DataFrame, whose
index has the places of the rows. `x` gives the places of an array: [n] numbers in any unit and order, or datetime64
(default: 0, 1, …). What comes back has the caller's types and units.

A DataFrame with the columns `ds` and `y` is the places and the values of a series. With `unique_id` as well it is
several series, each with a separate model, several at a time. The result is then a DataFrame. A series that
fails is left out with a VssgpWarning.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _engine, _files
from ._engine import Progress
from ._flags import flags
from ._table import Places, Series, Shape, number_cells, regressor_columns

Horizon = Any  # a number of rows; on dates also a text such as "6mo", or a timedelta
Period = Any  # a number in units of x; on dates a text such as "7d", or a timedelta
Prior = Mapping[str, str | Sequence[float]]  # name: (median in the data's units, sd of the logarithm)
Values = Any  # an array [n] or [n, D], or a pandas Series or DataFrame

_DATA, _MODEL, _AT, _OUT, _BANDS = "series.csv", "model.safetensors", "at.csv", "out.csv", "bands.csv"
_EVENTS = "events.csv"


@dataclass(frozen=True)
class SeriesModel:
    """A fitted model of a series, as `vssgp forecast -m` keeps it.

    `data` is the content of the model file. Python and the command read what the other has saved, and predict the
    same numbers.
    """

    data: bytes = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> SeriesModel:
        """Read a model file. Raises ValueError if it does not hold the model of a series."""
        model = cls(Path(path).read_bytes())
        if "periods" not in model.info():
            raise ValueError(f"{path}: not the model of a series; want one of forecast, or VSSGPRegressor.load")
        return model

    def save(self, path: str | Path) -> None:
        """Write the model file (safetensors)."""
        Path(path).write_bytes(self.data)

    def info(self) -> dict[str, Any]:
        """What was learnt, as `vssgp info --json` has it: parts, periods, hyper-parameters with intervals, reach."""
        return _engine.call(["info", _MODEL, "--json"], {_MODEL: self.data}).result

    def predict(self, at: ArrayLike | Any, regressors: Mapping[str, Any] | Any = None) -> Forecast:
        """Predict observations at places [n] of the kind that the data had: numbers or dates.

        regressors are the columns of the model's regressors there, {name: [n]} or a DataFrame. A pandas Index gives
        pandas objects. Raises ValueError beyond the model's reach, which is ten times the data's
        range beyond their end.
        """
        places, info = Places(at), self.info()
        columns = regressor_columns(regressors, len(places))
        table = self._predict(places, columns, info, "--posterior")
        shape = Shape(info["outputs"], len(info["outputs"]) == 1, places.pandas)
        return _forecast(table, (), shape, places.index, info, self, None, columns)

    def _predict(self, places: Places, regressors: Mapping[str, Any], info: Mapping[str, Any], *args: str) -> bytearray:
        names = [info["inputs"][0], *regressors]
        table = _files.to_csv(names, [places.cells(), *map(number_cells, regressors.values())])
        all_args = ["predict", _MODEL, _AT, "-o", _OUT, "--json", "--digits=0", *args]
        return _engine.call(all_args, {_MODEL: self.data, _AT: table}, stacklevel=5).files[_OUT]


@dataclass(frozen=True)
class Forecast:
    """A forecast of observations, noise included.

    mean, sd (standard deviation), lower and upper (the central 95 % interval) are [horizon] or [horizon, D] in the
    units of y; `index` has their places. `periods` are the seasons' in units of x (of dates: in the unit that the
    model counts in, see `model.info()`), `noise_sd` [D], `bound` the log marginal likelihood in nats of the
    standardised data.
    """

    index: Any
    mean: Values
    sd: Values
    lower: Values
    upper: Values
    periods: list[float]
    noise_sd: list[float]
    bound: float
    model: SeriesModel = field(repr=False)
    observed: Any = field(repr=False, default=None)
    names: list[Any] = field(repr=False, default_factory=list)
    ends: dict[str, Values] = field(repr=False, default_factory=dict)
    regressors: dict[str, Any] = field(repr=False, default_factory=dict)

    def quantile(self, p: float) -> Values:
        """The values below which an observation lies with the probability p, 0 < p < 1, in the shape of mean."""
        if not 0 < p < 1:
            raise ValueError(f"p is {p}; must be between 0 and 1, such as 0.9")
        lower, upper = self.interval(100 * abs(2 * p - 1))
        return lower if p < 0.5 else upper

    def interval(self, level: float = 95) -> tuple[Values, Values]:
        """The ends of the central interval that contains `level` percent of observations, each in the shape of mean."""
        places, info = Places(self.index), self.model.info()
        _, (_, *columns) = _files.from_csv(self.model._predict(places, self.regressors, info, f"--level={level!r}"))
        numbers, shape = [np.array(c, dtype=float) for c in columns], self._shape()
        return shape(numbers[2::4], self.index), shape(numbers[3::4], self.index)

    def draws(self, n: int, seed: int = 0) -> NDArray:
        """Functions drawn from the posterior, without noise: [n, horizon] or [n, horizon, D]."""
        places, info, outputs = Places(self.index), self.model.info(), 1 if self.mean.ndim == 1 else self.mean.shape[1]
        table = self.model._predict(places, self.regressors, info, f"--draws={n}", f"--seed={seed}")
        _, (_, *columns) = _files.from_csv(table)
        drawn = np.array(columns[2 * outputs :], dtype=float).reshape(n, outputs, len(places)).swapaxes(1, 2)
        return drawn[:, :, 0] if self.mean.ndim == 1 else drawn

    def _shape(self) -> Shape:
        return Shape(self.names, self.mean.ndim == 1, hasattr(self.mean, "index"))

    def frame(self) -> Any:
        """A pandas DataFrame with the columns mean, sd, lower and upper; of several outputs (output, column).

        Of each level of the forecast it has lower_80, upper_80, and so on.
        """
        import pandas as pd

        named = {k: getattr(self, k) for k in ("mean", "sd", "lower", "upper")} | self.ends
        parts = {k: np.asarray(v).reshape(len(self.index), -1) for k, v in named.items()}
        if self.mean.ndim == 1:
            return pd.DataFrame({k: v[:, 0] for k, v in parts.items()}, index=self.index)
        columns = {(name, k): v[:, d] for d, name in enumerate(self.names) for k, v in parts.items()}
        return pd.DataFrame(columns, index=self.index)

    def plot(self, ax: Any = None, *, last: int | None = None) -> Any:
        """Draw the data (the `last` rows) and the forecast with its band; needs matplotlib.

        Returns the axes; of several outputs an array of them, one for each.
        """
        import matplotlib.pyplot as plt
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        outputs = 1 if self.mean.ndim == 1 else self.mean.shape[1]
        if ax is None:
            _, ax = plt.subplots(outputs, 1, sharex=True, figsize=(9, 3 * outputs), layout="constrained")
        axes = np.ravel(ax)
        if len(axes) != outputs:
            raise ValueError(f"{len(axes)} axes for {outputs} outputs; want one for each")
        at = Places(self.index).sortable()
        if at is None or self.observed is not None and self.observed[0] is None:
            raise ValueError("the index is text in another notation than ISO 8601; want dates (pandas.to_datetime)")
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
            one.set_ylabel(str(self.names[d]) if self.names and self.names[d] is not None else "")
            dates = one.xaxis.get_major_locator()
            if isinstance(dates, AutoDateLocator):  # dates in full overlap
                one.xaxis.set_major_formatter(ConciseDateFormatter(dates, tz=dates.tz))
        axes[0].legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.2)
        if getattr(self.index, "name", None) is not None:
            axes[-1].set_xlabel(str(self.index.name))
        return ax


@dataclass(frozen=True)
class Filling:
    """A series without holes.

    `values` is y with its missing values filled in; what was there is as it was. mean, sd, lower and upper have the
    same shape, NaN where nothing was missing; `missing` [n] or [n, D] says where it was.
    """

    values: Values
    missing: Values
    sd: Values
    lower: Values
    upper: Values
    periods: list[float]
    noise_sd: list[float]
    bound: float | None
    model: SeriesModel | None = field(repr=False)


@dataclass(frozen=True)
class Backtest:
    """The scores of forecasts from earlier ends of a series.

    `scores` has for each of vssgp, naive and seasonal_naive: rmse, mae, crps, interval_score95 (units of y), mase,
    coverage95, nlpd (nats); of several outputs they are means, and `by_output` has the scores of each.
    """

    horizon: int
    origins: int
    season: int
    scores: dict[str, dict[str, float]]
    by_output: dict[str, dict[str, dict[str, float]]] = field(repr=False)
    seconds: float = field(repr=False)

    def frame(self) -> Any:
        """The scores as a pandas DataFrame, a method a row."""
        import pandas as pd

        return pd.DataFrame(self.scores).T


def forecast(
    y: Values,
    horizon: Horizon | None = None,
    *,
    x: ArrayLike | None = None,
    until: Any = None,
    at: ArrayLike | Any = None,
    future: Mapping[str, Any] | Any = None,
    level: float | Sequence[float] | None = None,
    yerr: Values | None = None,
    regressors: Mapping[str, Any] | Sequence[str] | Any = None,
    holidays: str | Sequence[str] | None = None,
    events: Mapping[str, Any] | None = None,
    period: Period | Sequence[Period] | None = None,
    season: int | str | Sequence[int | str] | None = None,
    trend: str | Sequence[str] | None = None,
    log: Literal["auto", "always", "never"] | None = None,
    short_memory: bool | None = None,
    robust: bool | Literal["auto", "always", "never"] | None = None,
    positive: bool | None = None,
    prior: Prior | None = None,
    hmc: bool | None = None,
    seed: int = 0,
    device: str | None = None,
    progress: Progress = None,
) -> Forecast | Any:
    """Forecast a series: `horizon` steps of its grid, `until` a place, or `at` places [m] of the kind of x.

    On dates horizon may be a time, too: "6mo", "8w", "36h", or a timedelta. Without any of these: two of the shortest
    season, or a tenth of the rows. level adds intervals of that percent of observations to `frame`. A DataFrame with
    the columns unique_id, ds and y gives one with unique_id, ds, mean, sd, lower, upper and the levels' ends.

    regressors explain y: columns {name: [n]} or a DataFrame, or names of columns of a frame with ds and y. The rows
    after the last value of y are what is forecast, or `future` has their columns at `at`. holidays are of countries or
    states ("US", "DE-BY"), events {name: dates}; both are of days or shorter steps.

    period (in units of x, "7d", or a timedelta) and season (in rows) name known seasons; "none" and "auto" are seasons,
    too. trend is of line, smooth, walk, none; yerr the known standard deviation of each value; prior {name: (median, sd
    of the logarithm)}.
    `vssgp forecast --help` explains each. progress: None shows it on a terminal or in a notebook; a function gets
    its texts.

    Raises ValueError, with what would be right, for data or options that cannot be; RuntimeError if the Go side
    fails. A KeyboardInterrupt ends the work at once.
    """
    options = _options(locals())
    s = Series(y, x, yerr, regressors)
    args = ["forecast", _DATA, "-o", _OUT, "--json", "--digits=0", *s.flags()]
    files = {_DATA: s.csv()} | _events_file(events)
    index, known = None, s.regressors
    if at is not None:
        places = Places(at)
        index = places.index
        known = regressor_columns(future, len(places))
        files[_AT] = _files.to_csv([s.x_name, *known], [places.cells(), *map(number_cells, known.values())])
        args.append("--at=" + _AT)
    levels = [] if level is None else np.atleast_1d(level).tolist()
    args += flags(horizon=horizon, until=None if until is None else s.places.cell(until), level=levels)
    args += options
    if s.ids is not None:
        return _forecasts(_several(args, files, progress), s, levels)
    answer = _engine.call([*args, "-m", _MODEL], files, progress=progress)
    model = SeriesModel(bytes(answer.files[_MODEL]))
    observed = (s.places.sortable(), s.columns())
    if index is None:
        index = s.places.parse(_files.from_csv(answer.files[_OUT])[1][0])
        known = {name: column[s.places.nearest(Places(index))] for name, column in known.items()}
    return _forecast(answer.files[_OUT], levels, s.shape(), index, answer.result, model, observed, known)


def fill(
    y: Values,
    *,
    x: ArrayLike | None = None,
    yerr: Values | None = None,
    regressors: Mapping[str, Any] | Sequence[str] | Any = None,
    holidays: str | Sequence[str] | None = None,
    events: Mapping[str, Any] | None = None,
    period: Period | Sequence[Period] | None = None,
    season: int | str | Sequence[int | str] | None = None,
    trend: str | Sequence[str] | None = None,
    log: Literal["auto", "always", "never"] | None = None,
    short_memory: bool | None = None,
    robust: bool | Literal["auto", "always", "never"] | None = None,
    positive: bool | None = None,
    prior: Prior | None = None,
    hmc: bool | None = None,
    seed: int = 0,
    device: str | None = None,
    progress: Progress = None,
) -> Filling | Any:
    """Fill the missing values of a series, each from all that is known of it. Options and errors are forecast's.

    A DataFrame with the columns unique_id, ds and y comes back with y filled in, and with sd, lower and upper, NaN
    where nothing was missing.
    """
    options = _options(locals())
    s = Series(y, x, yerr, regressors)
    args = ["fill", _DATA, "-o", _OUT, "--bands", _BANDS, "--json", "--digits=0", *s.flags(), *options]
    if s.ids is not None:
        answer = _several(args, {_DATA: s.csv()} | _events_file(events), progress)
        _, (_, rows, _, _, *bands) = _files.from_csv(answer.files[_BANDS])
        frame = y.copy()
        for name, column in zip(("y", "sd", "lower", "upper"), bands, strict=True):
            numbers = s.y.copy() if name == "y" else np.full(len(y), np.nan)
            numbers[np.array(rows, dtype=int) - 1] = np.array(column, dtype=float)
            frame[name] = numbers
        return frame
    answer = _engine.call([*args, "-m", _MODEL], {_DATA: s.csv()} | _events_file(events), progress=progress)
    _, (rows, _, names, *bands) = _files.from_csv(answer.files[_BANDS])
    at = np.array(rows, dtype=int) - 1, np.array([s.names.index(name) for name in names], dtype=int)
    mean, sd, lower, upper = (np.full(s.columns().shape, np.nan) for _ in range(4))
    for to, column in zip((mean, sd, lower, upper), bands, strict=True):
        to[at] = np.array(column, dtype=float)
    values = np.where(np.isnan(s.columns()), mean, s.columns())
    shape, index, result = s.shape(), getattr(s.like, "index", None), answer.result

    def shaped(a: Any) -> Values:
        return shape(list(a.T), index)

    return Filling(
        values=shaped(values),
        missing=shaped(np.isnan(s.columns())),
        sd=shaped(sd),
        lower=shaped(lower),
        upper=shaped(upper),
        periods=result["periods"],
        noise_sd=result["noise_sd"],
        bound=result["bound"],
        model=SeriesModel(bytes(answer.files[_MODEL])),
    )


def backtest(
    y: Values,
    horizon: Horizon | None = None,
    origins: int = 6,
    *,
    x: ArrayLike | None = None,
    yerr: Values | None = None,
    regressors: Mapping[str, Any] | Sequence[str] | Any = None,
    holidays: str | Sequence[str] | None = None,
    events: Mapping[str, Any] | None = None,
    period: Period | Sequence[Period] | None = None,
    season: int | str | Sequence[int | str] | None = None,
    trend: str | Sequence[str] | None = None,
    log: Literal["auto", "always", "never"] | None = None,
    short_memory: bool | None = None,
    robust: bool | Literal["auto", "always", "never"] | None = None,
    positive: bool | None = None,
    prior: Prior | None = None,
    hmc: bool | None = None,
    seed: int = 0,
    device: str | None = None,
    progress: Progress = None,
) -> Backtest | Any:
    """Forecast `horizon` rows from each of the last `origins` ends of the series, and score the forecasts.

    Each forecast is by a model of the rows before it alone; beside it stand the last value and the value one season
    before. horizon defaults to a twentieth of the rows. Options and errors are forecast's. A DataFrame with the columns
    unique_id, ds and y gives one with the scores of each series by each method.
    """
    options = _options(locals())
    s = Series(y, x, yerr, regressors)
    args = ["backtest", _DATA, "--json", *s.flags(), *flags(horizon=horizon, origins=origins)]
    args += options
    if s.ids is not None:
        import pandas as pd

        all_scores = [
            one
            for one in _several(args, {_DATA: s.csv()} | _events_file(events), progress).result["series"]
            if "scores" in one
        ]
        keys = zip(s.own_ids([one["name"] for one in all_scores]), all_scores, strict=True)
        return pd.DataFrame(
            [{"unique_id": i, "method": m, **scores} for i, one in keys for m, scores in one["scores"].items()]
        )
    r = _engine.call(args, {_DATA: s.csv()} | _events_file(events), progress=progress).result
    by_output = r.get("by_output") or {s.names[0]: r["scores"]}
    return Backtest(r["horizon"], r["origins"], r["season"], r["scores"], by_output, r["seconds"])


_OPTIONS = (
    *("holidays", "period", "season", "trend", "log", "short_memory", "robust", "positive"),
    *("prior", "hmc", "seed", "device"),
)


def _options(arguments: Mapping[str, Any]) -> list[str]:
    """The flags of the options that forecast, fill and backtest share, from the arguments of one of them."""
    args = flags(**{name: arguments[name] for name in _OPTIONS})
    return args if arguments["events"] is None else [*args, "--events=" + _EVENTS]


def _events_file(events: Mapping[str, Any] | None) -> dict[str, bytes]:
    """The table of --events: a line for each day of each name."""
    if events is None:
        return {}
    days = [(np.datetime64(day, "D"), name) for name, all_days in events.items() for day in np.atleast_1d(all_days)]
    return {_EVENTS: _files.to_csv(["day", "event"], [[str(d) for d, _ in days], [_files.quoted(n) for _, n in days]])}


def _several(args: list[str], files: _engine.Files, progress: Progress) -> _engine.Answer:
    """The answer about several series, with a warning for each that has failed."""
    answer = _engine.call(args, files, progress=progress, stacklevel=5, partial=True)
    for one in answer.result["series"]:
        if "error" in one:
            warnings.warn(one["error"], _engine.VssgpWarning, stacklevel=3)
    return answer


def _forecasts(answer: _engine.Answer, s: Series, levels: Sequence[float]) -> Any:
    """The forecasts of several series as a DataFrame."""
    import pandas as pd

    _, (ids, places, *columns) = _files.from_csv(answer.files[_OUT])
    table = {"unique_id": s.own_ids(ids), "ds": s.places.parse(places)}
    return pd.DataFrame(table | {k: np.array(c, dtype=float) for k, c in zip(_columns(levels), columns, strict=True)})


def _columns(levels: Sequence[float]) -> list[str]:
    """What the columns of an output contain."""
    return ["mean", "sd", "lower", "upper", *(f"{end}_{level:g}" for level in levels for end in ("lower", "upper"))]


def _forecast(
    table: bytearray,
    levels: Sequence[float],
    shape: Shape,
    index: Any,
    result: Mapping[str, Any],
    model: SeriesModel,
    observed: Any,
    regressors: dict[str, Any],
) -> Forecast:
    """The table that the command has written, as the caller's kind of objects."""
    _, (_, *columns) = _files.from_csv(table)
    numbers = [np.array(c, dtype=float) for c in columns]
    names = _columns(levels)
    mean, sd, lower, upper, *ends = (shape(numbers[i :: len(names)], index) for i in range(len(names)))
    return Forecast(
        index=index,
        mean=mean,
        sd=sd,
        lower=lower,
        upper=upper,
        periods=result["periods"],
        noise_sd=result["noise_sd"],
        bound=result["bound"],
        model=model,
        observed=observed,
        names=shape.names,
        ends=dict(zip(names[4:], ends, strict=True)),
        regressors=regressors,
    )
