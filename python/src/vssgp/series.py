"""Time series: forecasts, estimates of missing values, and backtests.

The model is a sum of a trend, the seasonal components supported by the data, a mean-reverting residual, regressors and
noise. Intervals are for observations, including the noise.

`y` contains numbers [n] or [n, D], with NaN or None for missing values. It is an array, or a pandas Series or DataFrame
whose index contains the positions of the rows. `x` contains the positions for an array: [n] numbers in any unit and
order, or datetime64 (default: 0, 1, …). Results have the types and units of the data.

A DataFrame with the columns `ds` and `y` contains the positions and the values of a series. If it also has the column
`unique_id`, it contains several series, each with a separate model, and the result is a DataFrame. If a series fails, a
VssgpWarning is issued and the result does not contain the series.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from ._table import Positions, Series, Shape, number_cells, regressor_columns

if TYPE_CHECKING:
    from typing_extensions import Unpack

Horizon = Any  # a number of rows; on dates also a string such as "6mo", or a timedelta
Level = float | Sequence[float] | None  # percent
Quantiles = float | Sequence[float] | None  # probabilities
Period = Any  # a number in units of x; on dates also a string such as "7d", or a timedelta
Prior = Mapping[str, str | Sequence[float]]  # name: (median in the data's units, sd of the logarithm)
Values = Any  # an array [n] or [n, D], or a pandas Series or DataFrame
F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound="_Predicted")

_DATA, _MODEL, _AT, _OUT, _BANDS = "series.csv", "model.safetensors", "at.csv", "out.csv", "bands.csv"
_EVENTS = "events.csv"
_ELSEWHERE = {  # keywords of other libraries
    **dict.fromkeys(("h", "fh", "steps", "periods"), "the number of rows to forecast is horizon"),
    "freq": "the frequency is inferred from the positions",
    "season_length": "the period of a season in rows is season",
}
_COLUMNS = "mean", "sd", "lower", "upper"  # of predictions, before the ends of further intervals and the quantiles


class Options(TypedDict, total=False):
    """The options that forecast, fill and backtest share.

    Parameters
    ----------
    x : [n] positions of the rows of y, numbers or dates in any order. Default: the index of y, or 0, 1, ….
    yerr : known standard deviations of the values, with the shape and in the units of y, or a single number.
    regressors : columns {name: [n]}, a DataFrame with the rows of y, or names of columns of a frame with ds and y.
    holidays : code of a country or state, or several, such as "US" or "DE-BY". Their holidays become regressors: the
        number of their days in each row. The positions must be dates.
    events : {name: dates}, further regressors: the number of these days in each row.
    trading_days : whether the number of each weekday explains sums over months or quarters: "auto", "always" or
        "never". Default: "auto".
    days_of_year : whether to search daily series for days such as 12-25 that differ every year: "auto" or "never".
        Default: "auto".
    period : period of a known season in units of x, or several. On dates, also a string such as "7d" or a timedelta.
    season : period of a known season in rows, or several. "none" disables seasons. "auto" detects seasons, also in
        addition to given ones.
    trend : one or several of "line", "damped" (a slope that varies and returns to 0), "smooth" (a slope that varies)
        and "walk" (a random walk), or "none" or "auto". Default: "auto", an average over several trends.
    log : whether to model the logarithm of y: "auto", "always" or "never". Default: "auto".
    short_memory : whether the model includes a mean-reverting residual. Default: True.
    robust : whether to model outliers: "auto", "always" (True) or "never" (False). Default: "auto".
    positive : if true, predictions are not negative. Default: False.
    prior : {name: (median in units of the data, sd of the logarithm)} of hyper-parameters such as "noise".
    seed : seed of the random number generator.
    device : "auto" or "cpu".
    progress : whether to show progress, or a function that is called with each progress message. None shows progress
        on a terminal and in a notebook.

    """

    x: ArrayLike | Any
    yerr: Values | None
    regressors: Mapping[str, Any] | Sequence[str] | Any
    holidays: str | Sequence[str] | None
    events: Mapping[str, Any] | None
    trading_days: Literal["auto", "always", "never"] | None
    days_of_year: Literal["auto", "never"] | None
    period: Period | Sequence[Period] | None
    season: int | str | Sequence[int | str] | None
    trend: str | Sequence[str] | None
    log: Literal["auto", "always", "never"] | None
    short_memory: bool | None
    robust: bool | Literal["auto", "always", "never"] | None
    positive: bool | None
    prior: Prior | None
    seed: int
    device: str | None
    progress: Progress


def _with_options(function: F) -> F:
    """Add the shared options to the docstring and the signature of a function with **options: Unpack[Options]."""
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


@contextmanager
def _extra(name: str, module: str, what: str) -> Iterator[None]:
    """Name the extra to install if the module that `what` imports is missing."""
    try:
        yield
    except ModuleNotFoundError as err:
        message = f'{what} requires {module}; install it with: pip install "vssgp[{name}]"'
        raise ModuleNotFoundError(message, name=module) from err


@dataclass(frozen=True)
class SeriesModel:
    """A fitted model of a series.

    `data` is the content of the model file, which is the same as the output of `vssgp forecast -m`. Python and the
    command can read each other's files and predict the same numbers.
    """

    data: bytes = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> SeriesModel:
        """Read a model file. Raises ValueError if it does not contain the model of a series."""
        model = cls(Path(path).read_bytes())
        if "periods" not in _engine.model_info(model.data, path):
            raise ValueError(f"{path}: not the model of a series; use VSSGPRegressor.load")
        return model

    def save(self, path: str | Path) -> None:
        """Write the model to a safetensors file."""
        Path(path).write_bytes(self.data)

    def info(self) -> dict[str, Any]:
        """Return the output of `vssgp info --json`, a dict with parts, periods, hyper-parameters and more."""
        return _engine.model_info(self.data)

    def predict(
        self,
        at: ArrayLike | Any,
        regressors: Mapping[str, Any] | Any = None,
        *,
        level: Level = None,
        quantiles: Quantiles = None,
    ) -> Forecast:
        """Predict observations at given positions.

        Parameters
        ----------
        at : [m] positions, numbers or dates like the positions of the data. With a pandas Index, the result has pandas
            objects.
        regressors : values of the model's regressors at these positions, {name: [m]} or a DataFrame. Holidays and
            events are stored in the model.
        level : probability of a further interval in percent, or several.
        quantiles : probability of a quantile of an observation, such as 0.9, or several.

        Returns
        -------
        A Forecast.

        Raises
        ------
        ValueError for invalid arguments, and for positions more than ten times the data's range after its end.

        """
        positions, info, levels, chosen = Positions(at, "at"), self.info(), _levels(level), _quantiles(quantiles)
        columns = regressor_columns(regressors, len(positions), positions.index)
        if unknown := sorted(set(columns) - {effect["name"] for effect in info.get("effects") or ()}):
            raise ValueError(f"the model has no regressor {unknown[0]!r}")
        table = self._predict(positions, columns, "--posterior", *flags(level=levels, quantiles=chosen))
        shape = Shape(info["outputs"], len(info["outputs"]) == 1, positions.pandas)
        return _forecast(table, _ends(levels, chosen), shape, positions.index, info, self, columns)

    def _predict(self, positions: Positions, regressors: Mapping[str, Any], *args: str) -> bytearray:
        names = [self.info()["inputs"][0], *regressors]
        table = _files.to_csv(names, [positions.cells(), *map(number_cells, regressors.values())])
        all_args = ["predict", _MODEL, _AT, "-o", _OUT, "--json", "--digits=0", *args]
        return _engine.call(all_args, {_MODEL: self.data, _AT: table}, stacklevel=5, names={"draws": "n"}).files[_OUT]


@dataclass(frozen=True, repr=False)
class _Predicted:
    """The common attributes and methods of Forecast and Filling."""

    index: Any
    sd: Values
    lower: Values
    upper: Values
    periods: list[float]
    noise_sd: list[float]
    bound: float | None
    model: SeriesModel
    _shape: Shape
    ends: dict[str, Values] = field(default_factory=dict)
    regressors: dict[str, Any] = field(default_factory=dict)

    def _describe(self, what: str, names: Sequence[str], methods: str) -> str:
        outputs = "" if self._shape.single else f" of {len(self._shape.names)} outputs"
        rows = f"{len(self.index)} row{'s' if len(self.index) > 1 else ''}{outputs}, {Positions(self.index).span()}"
        return f"{type(self).__name__} of {rows}{what}: {', '.join([*names, *self.ends])}; {methods}"

    def interval(self, level: float = 95) -> tuple[Values, Values]:
        """Return the lower and upper ends of the central `level` percent prediction interval, with the shape of sd."""
        if not 0 <= _number(level, "level") < 100:
            raise ValueError(f"level={level}: must be from 0 to less than 100 percent")
        at = Positions(self.index)
        _, (_, *columns) = _files.from_csv(self.model._predict(at, self.regressors, *flags(level=float(level))))
        all_numbers = [np.array(c, dtype=float) for c in columns]
        return self._shape(all_numbers[2::4], self.index), self._shape(all_numbers[3::4], self.index)

    def frame(self) -> Any:
        """Return a DataFrame with the predictions, sd, lower, upper, and `ends`.

        For several outputs, the column names are pairs (output, name).
        """
        with _extra("pandas", "pandas", "frame"):
            import pandas as pd

        first = {k: getattr(self, k) for k in ("mean", "values") if hasattr(self, k)}
        named = first | {k: getattr(self, k) for k in ("sd", "lower", "upper")} | self.ends
        parts = {k: np.asarray(v).reshape(len(self.index), -1) for k, v in named.items()}
        if self._shape.single:
            return pd.DataFrame({k: v[:, 0] for k, v in parts.items()}, index=self.index)
        columns = {(name, k): v[:, d] for d, name in enumerate(self._shape.names) for k, v in parts.items()}
        return pd.DataFrame(columns, index=self.index)


@dataclass(frozen=True, kw_only=True, repr=False)
class Forecast(_Predicted):
    """A forecast of observations, including the noise.

    Attributes
    ----------
    mean : [m] or [m, D] in units of y.
    sd : standard deviation, with the shape of mean and in units of y.
    lower, upper : ends of the central 95 % prediction interval, with the shape of mean.
    ends : {"lower_80": …, "upper_80": …, "q0.9": …, …}, the ends of the interval for each level, and the quantiles.
    index : [m] positions.
    periods : periods of the seasons in units of x. On dates, their unit is in `model.info()`.
    noise_sd : [D] standard deviation of the noise in units of y. [] for counts, which have no noise.
    bound : log marginal likelihood of the standardized data, in nats.
    model : the fitted SeriesModel.

    """

    mean: Values
    observed: Any = None

    def __repr__(self) -> str:
        return self._describe("", _COLUMNS, ".frame(), .plot(), .model")

    def quantile(self, p: float) -> Values:
        """Return the p-quantile of an observation, 0 < p < 1, with the shape of mean."""
        if not 0 < _number(p, "p") < 1:
            raise ValueError(f"p={p}: must be between 0 and 1, such as 0.9")
        lower, upper = self.interval(100 * abs(2 * p - 1))
        return lower if p < 0.5 else upper

    def draws(self, n: int, seed: int = 0) -> Array:
        """Draw n functions from the posterior, without noise. Returns [n, m] or [n, m, D] in units of y."""
        args = flags(draws=n, seed=seed)
        _, (_, *columns) = _files.from_csv(self.model._predict(Positions(self.index), self.regressors, *args))
        drawn = np.array(columns[2 * len(self._shape.names) :], dtype=float)
        drawn = drawn.reshape(n, len(self._shape.names), len(self.index)).swapaxes(1, 2)
        return drawn[:, :, 0] if self._shape.single else drawn

    def plot(self, ax: Any = None, *, last: int | None = None) -> Any:
        """Plot the forecast with its 95 % interval and, if available, the data. This requires matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, or one per output. Default: a new figure.
        last : number of last rows of the data to plot. Default: all.

        Returns
        -------
        The axes. For several outputs, an array with one per output.

        """
        with _extra("plot", "matplotlib", "plot"):
            import matplotlib.pyplot as plt
            from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        outputs = len(self._shape.names)
        if last is not None and not last > 0:
            raise ValueError(f"last={last}: must be a positive number of rows")
        if ax is None:
            _, ax = plt.subplots(outputs, 1, sharex=True, figsize=(9, 3 * outputs), layout="constrained")
        axes = np.ravel(ax)
        if len(axes) != outputs:
            raise ValueError(f"ax has {len(axes)} axes for {outputs} outputs; must be one per output")
        at = Positions(self.index).sortable()
        if at is None or self.observed is not None and self.observed[0] is None:
            raise ValueError("the index has text that is not in ISO 8601 notation; must be dates (pandas.to_datetime)")
        for d, one in enumerate(axes):
            mean, lower, upper = (np.asarray(a).reshape(len(at), -1)[:, d] for a in (self.mean, self.lower, self.upper))
            if self.observed is not None:
                x, y = self.observed
                order = np.argsort(x, kind="stable")[-last if last else None :]
                x, y = x[order], y[order, d]
                one.plot(x, y, color="0.3", linewidth=1, label="data")
                gone = np.isnan(np.pad(y, 1, constant_values=np.nan))
                alone = gone[:-2] & ~gone[1:-1] & gone[2:]  # a line does not show values between missing neighbors
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
            if isinstance(dates, AutoDateLocator):  # the labels of full dates would overlap
                one.xaxis.set_major_formatter(ConciseDateFormatter(dates, tz=dates.tz))  # type: ignore[no-untyped-call]
        axes[0].legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0.2)
        if getattr(self.index, "name", None) is not None:
            axes[-1].set_xlabel(str(self.index.name))
        return ax


@dataclass(frozen=True, kw_only=True, repr=False)
class Filling(_Predicted):
    """A series with estimates of its missing values.

    Attributes
    ----------
    values : y with predictions for the missing values, [n] or [n, D].
    missing : boolean, with the shape of values; True for missing values of y.
    sd, lower, upper : standard deviation and 95 % prediction interval of the missing values, with the shape of values.
        They are NaN for values that were not missing.

    The other attributes are the same as in Forecast.
    """

    values: Values
    missing: Values

    def __repr__(self) -> str:
        filled = f", filled {np.sum(np.asarray(self.missing))}"
        return self._describe(filled, ("values", *_COLUMNS[1:]), ".frame(), .model")

    def interval(self, level: float = 95) -> tuple[Values, Values]:
        """Return the ends of the central `level` percent prediction interval, NaN for values that were not missing."""
        lower, upper = (np.where(self.missing, end, np.nan) for end in super().interval(level))
        columns = (end.reshape(len(self.index), -1).T for end in (lower, upper))
        lower, upper = (self._shape(list(one), self.index) for one in columns)
        return lower, upper


@dataclass(frozen=True, repr=False)
class Backtest:
    """Scores of forecasts from several origins in a series.

    Attributes
    ----------
    horizon : number of rows per forecast.
    origins : number of forecasts.
    season : period of the seasonal naive forecast in rows.
    scores : {method: {score: value}}. The methods are vssgp, naive and seasonal_naive. The scores are rmse, mae, crps
        and interval_score95 in units of y, mase, coverage95, and nlpd in nats. They are means over the outputs.
    by_output : {output: scores}.
    seconds : run time in seconds.

    """

    horizon: int
    origins: int
    season: int
    scores: dict[str, dict[str, float]]
    by_output: dict[str, dict[str, dict[str, float]]]
    seconds: float

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for scores in self.scores.values() for name in scores))
        cells = [[m, *(f"{s[n]:.4g}" if n in s else "" for n in names)] for m, s in self.scores.items()]
        columns = list(zip(["", *names], *cells, strict=True))
        widths = [max(map(len, column)) for column in columns]
        rows = zip(*columns, strict=True)
        lines = [" ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"Backtest, horizon={self.horizon}, origins={self.origins}:", *lines])

    def frame(self) -> Any:
        """Return the scores as a DataFrame with one row per method."""
        with _extra("pandas", "pandas", "frame"):
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
    quantiles: Quantiles = None,
    **options: Unpack[Options],
) -> Forecast | Any:
    """Forecast a series for `horizon` steps, until a position, or at given positions.

    Only one of `horizon`, `until` and `at` can be given. By default, the forecast covers two periods of the shortest
    season, or a tenth of the number of rows if there is no season. With regressors, the default is the rows after the
    last value of y. `vssgp forecast --help` describes the options.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    horizon : number of rows to forecast. On dates, also a time such as "6mo", "8w" or "36h", or a timedelta.
    until : last position to forecast, a number or a date. The text of a day, or a datetime.date, includes all its
        times.
    at : [m] positions to forecast, numbers or dates like x.
    future : values of the regressors at `at`, {name: [m]} or a DataFrame.
    level : probability of a further interval in percent, or several.
    quantiles : probability of a quantile of an observation, such as 0.9, or several.
    **options

    Returns
    -------
    A Forecast. For several series, a DataFrame with the columns unique_id, ds, mean, sd, lower and upper, the ends of
    the interval for each level, and the quantiles.

    Raises
    ------
    ValueError or TypeError for invalid data or options. RuntimeError if the command fails. KeyboardInterrupt stops the
    call immediately.

    """
    levels, chosen, progress = _levels(level), _quantiles(quantiles), options.get("progress")
    s, args, files = _task("forecast", y, options)
    args += ["-o", _OUT, "--digits=0"]
    index, known = None, s.regressors
    if future is not None and at is None:
        raise ValueError("future requires at; future has the values of the regressors at these positions")
    if at is not None:
        positions = Positions(at, "at")
        index = positions.index
        known = regressor_columns(future, len(positions), index, "future")
        if set(known) != set(s.regressors):
            raise ValueError(f"future has the regressors {list(known)}; must be {list(s.regressors)}")
        files[_AT] = _files.to_csv([s.x_name, *known], [positions.cells(), *map(number_cells, known.values())])
        args.append("--at=" + _AT)
    args += flags(horizon=horizon, until=None if until is None else s.positions.cell(until))
    args += flags(level=levels, quantiles=chosen)
    names = _ends(levels, chosen)
    if s.ids is not None:
        import pandas as pd

        _, (ids, cells, *columns) = _files.from_csv(_several(args, files, progress).files[_OUT])
        table = {"unique_id": s.own_ids(ids), "ds": s.positions.parse(cells)}
        return pd.DataFrame(table | {k: np.array(c, float) for k, c in zip(names, columns, strict=True)})
    answer = _engine.call([*args, "-m", _MODEL], files, progress=progress)
    observed = (s.positions.sortable(), s.columns)
    if index is None:
        index = s.positions.parse(_files.from_csv(answer.files[_OUT])[1][0])
        known = {name: column[s.positions.nearest(Positions(index))] for name, column in known.items()}
    model = SeriesModel(bytes(answer.files[_MODEL]))
    return _forecast(answer.files[_OUT], names, s.shape(), index, answer.result, model, known, observed)


@_with_options
def fill(y: Values, *, level: Level = None, quantiles: Quantiles = None, **options: Unpack[Options]) -> Filling | Any:
    """Estimate the missing values of a series from all other values.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    level : probability of a further interval in percent, or several.
    quantiles : probability of a quantile of an observation, such as 0.9, or several.
    **options

    Returns
    -------
    A Filling. For several series, a copy of the DataFrame with the estimates in y and with the columns sd, lower,
    upper, the ends of the interval for each level, and the quantiles. These are NaN for values that were not missing.

    Raises
    ------
    The same errors as forecast.

    """
    levels, chosen, progress = _levels(level), _quantiles(quantiles), options.get("progress")
    s, args, files = _task("fill", y, options)
    args += ["-o", _OUT, "--bands", _BANDS, "--digits=0", *flags(level=levels, quantiles=chosen)]
    if several := s.ids is not None:
        answer = _several(args, files, progress)
    else:
        answer = _engine.call([*args, "-m", _MODEL], files, progress=progress)
    columns = _files.from_csv(answer.files[_BANDS])[1]
    ends = _ends(levels, chosen)
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
    index = s.like.index if shape.pandas else s.positions.index
    shaped = {name: shape(list(a.T), index) for name, a in (filled | {"values": values}).items()}
    missing = shape(list(np.isnan(s.columns).T), index)
    model = SeriesModel(bytes(answer.files[_MODEL]))
    return _predicted(Filling, shaped, shape, index, answer.result, model, s.regressors, missing=missing)


@_with_options
def backtest(y: Values, horizon: Horizon | None = None, origins: int = 6, **options: Unpack[Options]) -> Backtest | Any:
    """Evaluate forecasts of `horizon` rows by rolling-origin backtesting.

    Each forecast uses only the rows before its origin. For comparison, the last value and the value one season earlier
    are scored as naive forecasts.

    Parameters
    ----------
    y : [n] or [n, D] values, NaN or None if missing; or a DataFrame with ds and y, and unique_id for several series.
    horizon : number of rows per forecast, or a time as in forecast. Default: 5 % of the rows.
    origins : number of forecast origins.
    **options

    Returns
    -------
    A Backtest. For several series, a DataFrame with one row per series and method.

    Raises
    ------
    The same errors as forecast.

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
    """Return the data of a call, and the arguments and files for the command."""
    for name in options:
        if name not in Options.__annotations__:
            hint = f"; {_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
            raise TypeError(f"{command}() got an unexpected keyword argument {name!r}{hint}")
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
                raise ValueError(f"events[{name!r}] has {str(day)!r}; must be {{name: dates}}") from None
    if days:
        args.append("--events=" + _EVENTS)
        files[_EVENTS] = _files.to_csv(["day", "event"], list(zip(*days, strict=True)))
    return s, args, files


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r}: must be a number")
    return float(value)


def _numbers(values: float | Sequence[float] | None, name: str) -> list[float]:
    """Return the distinct numbers of an argument that is a number, several or None."""
    several = isinstance(values, Iterable) and not isinstance(values, str)
    given: Any = values if several else [] if values is None else [values]
    return list(dict.fromkeys(_number(one, name) for one in given))


def _levels(level: Level) -> list[float]:
    """Return the distinct levels in percent. Raises TypeError or ValueError for an invalid level."""
    all_levels = _numbers(level, "level")
    for one in all_levels:
        if not 1 <= one < 100:
            raise ValueError(f"level={one:g}: must be in percent, from 1 to less than 100, such as 80")
    return all_levels


def _quantiles(quantiles: Quantiles) -> list[float]:
    """Return the distinct probabilities. Raises TypeError or ValueError for an invalid one."""
    chosen = _numbers(quantiles, "quantiles")
    for one in chosen:
        if not 0 < one < 1:
            raise ValueError(f"quantiles={one:g}: must be between 0 and 1, such as 0.9")
    return chosen


def _ends(levels: Sequence[float], quantiles: Sequence[float]) -> list[str]:
    """Return the names of the columns of predictions."""
    texts = [repr(level).removesuffix(".0") for level in levels]
    ends = [f"{end}_{level}" for level in texts for end in ("lower", "upper")]
    return [*_COLUMNS, *ends, *("q" + np.format_float_positional(p) for p in quantiles)]


def _several(args: list[str], files: _engine.Files, progress: Progress) -> _engine.Answer:
    """Return the answer for several series, and issue a warning for each failed series."""
    answer = _engine.call(args, files, progress=progress, stacklevel=5, partial=True)
    for one in answer.result["series"]:
        if "error" in one:
            warnings.warn(in_python(one["error"], {}), _engine.VssgpWarning, stacklevel=3)
    return answer


def _forecast(
    table: bytearray,
    names: Sequence[str],
    shape: Shape,
    index: Any,
    result: Mapping[str, Any],
    model: SeriesModel,
    regressors: dict[str, Any],
    observed: Any = None,
) -> Forecast:
    """Return the forecast in a table written by the command."""
    _, (_, *columns) = _files.from_csv(table)
    numbers = [np.array(c, dtype=float) for c in columns]
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
    """Return a Forecast or Filling with the arrays `shaped`, the results of the fit, and further attributes."""
    attributes = {k: v for k, v in shaped.items() if k in (*_COLUMNS, "values")}
    ends = {k: v for k, v in shaped.items() if k not in attributes}
    learned: dict[str, Any] = {k: result[k] for k in ("periods", "bound")} | {"noise_sd": result.get("noise_sd", [])}
    common = {"index": index, "model": model, "ends": ends, "regressors": regressors, "_shape": shape}
    return kind(**learned, **common, **attributes, **own)
