"""Forecasts the problems of `bench series` with models of other libraries: python series.py PROBLEMS FORECASTS METHOD ...

PROBLEMS has a line of JSON for each problem. A line for each forecast is appended to FORECASTS, unless it already contains the forecast.
The models of each series are specified by hand with expert knowledge: the true period, and the usual trend, cycle and orders. If there is
more than one usual choice, it is made by AIC before the first origin and never by a score. autoets, autoarima and mstl of statsforecast and
prophet select their models automatically, given the period. EXTRAPOLATORS can only forecast after the end of a series and are not run on
problems with missing rows inside. They need every step, so single missing rows are interpolated. Problems with regressors are only run
with REGRESSIONS.
"""

import json
import os
import signal
import sys
import time
import warnings
from importlib import metadata

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from peer import first_line

LIMIT = 300  # maximum seconds per forecast
SD95 = 1.959963984540054  # half the width of a 95 % interval in standard deviations
GP_ROWS = 600  # maximum number of rows for the GP, which uses the last ones


class Grid:
    """A series on an even grid, with NaN for missing rows, and the grid indices of the inputs to forecast."""

    def __init__(self, p):
        x, y, at = (np.array(p[k], float) for k in ("x", "y", "at"))
        apart = np.diff(x)
        self.step = (x[-1] - x[0]) / np.round(apart / np.median(apart)).sum()
        index = lambda v: np.round((v - x[0]) / self.step).astype(int)
        self.at = index(at)
        self.y = np.full(index(x[-1:])[0] + 1, np.nan)
        self.y[index(x)] = y
        self.mean, self.sd = y.mean(), y.std()
        self.standard = (self.y - self.mean) / self.sd
        self.n = len(self.y)
        self.filled = np.interp(np.arange(self.n), index(x), y)
        self.holes = bool((self.at < self.n).any())
        self.steps = max(0, int(self.at.max()) + 1 - self.n)  # number of steps after the end
        self.exog = None  # the regressors at all indices; 0 for missing rows
        if "regressors" in p:
            self.exog = np.zeros((self.n + self.steps, len(p["regressors"][0])))
            self.exog[index(x)], self.exog[self.at] = p["regressors"], p["at_regressors"]

    def regressors(self, y):
        """Returns the regressors of a model of y, which begins at index 0."""
        return None if self.exog is None else self.exog[: len(y)]

    def pick(self, mean, sd):
        """Returns mean and sd at the inputs to forecast, converted from standardized units to the units of the data."""
        return self.mean + self.sd * mean[self.at], self.sd * sd[self.at]


def statespace(grid, model):
    """Returns smoothed means and standard deviations of observations at the inputs to forecast, in gaps and after the end."""
    y = np.concatenate([grid.standard, np.full(grid.steps, np.nan)])
    fitted = model(grid.standard, False).fit(disp=0, maxiter=300)
    # With a large initial variance instead of a diffuse one, cancellation would destroy the smoothed covariances of the first seasons.
    r = model(y, grid.holes).smooth(fitted.params).smoother_results
    design = r.design if r.design.shape[2] > 1 else np.repeat(r.design, len(y), axis=2)
    z = design[0].T
    mean = (z * r.smoothed_state.T).sum(1) + r.obs_intercept[0]
    var = np.einsum("ti,ijt,tj->t", z, r.smoothed_state_cov, z) + r.obs_cov[0, 0]
    return grid.pick(mean, np.sqrt(np.maximum(var, 1e-12)))


def trigonometric(*periods):
    return dict(freq_seasonal=[dict(period=p, harmonics=h) for p, h in periods])


CYCLE = dict(cycle=True, stochastic_cycle=True, damped_cycle=True)
UCM = {
    "co2": dict(level="strend", autoregressive=1, **trigonometric((12, 4))),
    "airline": dict(level="lltrend", **trigonometric((12, 6))),
    "sunspots": dict(level="llevel", cycle_period_bounds=(8, 14), **CYCLE),
    "solar": dict(level="llevel", cycle_period_bounds=(8, 14), **CYCLE),
    "gdp": dict(level="rwdrift", cycle_period_bounds=(6, 48), **CYCLE),
    "unemployment": dict(level="rwalk", cycle_period_bounds=(6, 48), **CYCLE),
    "nile": dict(level="llevel"),
    "elnino": dict(level="llevel", autoregressive=1, **trigonometric((12, 4))),
    "m4-hourly": dict(level="llevel", autoregressive=1, **trigonometric((24, 6), (168, 4))),
    "m4-weekly": dict(level="llevel", autoregressive=1),
    "victoria": dict(level="llevel", autoregressive=1, **trigonometric((7, 3))),
    "bikes": dict(level="llevel", autoregressive=1, **trigonometric((7, 3))),
}
SARIMAX = {
    "co2": ((1, 1, 1), (0, 1, 1, 12), "n"),
    "airline": ((0, 1, 1), (0, 1, 1, 12), "n"),
    "sunspots": ((9, 0, 0), (0, 0, 0, 0), "c"),
    "solar": ((11, 1, 0), (0, 0, 0, 0), "n"),
    "gdp": ((1, 1, 0), (0, 0, 0, 0), "c"),
    "unemployment": ((2, 0, 0), (0, 0, 0, 0), "c"),
    "nile": ((0, 1, 1), (0, 0, 0, 0), "n"),
    "elnino": ((2, 0, 0), (0, 1, 1, 12), "n"),
    "m4-hourly": ((1, 0, 1), (0, 1, 1, 24), "n"),
    "m4-weekly": ((1, 1, 1), (0, 0, 0, 0), "n"),
    "victoria": ((1, 0, 1), (0, 1, 1, 7), "n"),
    "bikes": ((2, 1, 2), (2, 0, 0, 7), "n"),
}


def chosen(table, p):
    """Returns the specification for a problem: by set for M4, by name for other series, and the same for all sets of CO2."""
    return table[p["set"] if p["set"].startswith("m4") else "co2" if p["set"].startswith("co2") else p["series"]]


def ucm(p, grid):
    from statsmodels.tsa.statespace.structural import UnobservedComponents

    model = lambda y, diffuse: UnobservedComponents(y, exog=grid.regressors(y), use_exact_diffuse=diffuse, **chosen(UCM, p))
    return statespace(grid, model)


def sarimax(p, grid):
    from statsmodels.tsa.statespace.sarimax import SARIMAX as Model

    order, seasonal, trend = chosen(SARIMAX, p)
    given = dict(order=order, seasonal_order=seasonal, trend=trend)
    return statespace(grid, lambda y, diffuse: Model(y, exog=grid.regressors(y), use_exact_diffuse=diffuse, **given))


def gp(p, grid):
    """The textbook kernel: a smooth trend, a decaying season, irregularities on several scales, and noise."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, RationalQuadratic, WhiteKernel

    rows = np.flatnonzero(~np.isnan(grid.standard))[-GP_ROWS:]
    span, s = float(rows[-1] - rows[0]), p["season"]
    c = lambda v: ConstantKernel(v, (1e-4, 1e4))
    kernel = c(1.0) * RBF(span / 2, (span / 20, 20 * span))
    if s > 1:
        season = ExpSineSquared(1.0, float(s), length_scale_bounds=(0.05, 20), periodicity_bounds="fixed")
        kernel += c(0.5) * RBF(span, (s, 100 * span)) * season
    kernel += c(0.1) * RationalQuadratic(max(2.0, span / 50), 1.0, (0.5, 10 * span), (1e-2, 1e3)) + WhiteKernel(0.05, (1e-8, 1.0))
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(rows[:, None], grid.standard[rows])
    mean, sd = model.predict(grid.at[:, None].astype(float), return_std=True)
    return grid.mean + grid.sd * mean, grid.sd * sd  # sd includes the white noise of the kernel


def ets(p, grid):
    """Exponential smoothing with additive errors, a damped trend, and the season."""
    from pandas import Series
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    season = dict(seasonal="add", seasonal_periods=p["season"]) if p["season"] > 1 else {}
    fitted = ETSModel(Series(grid.filled), error="add", trend="add", damped_trend=True, **season).fit(disp=0)
    forecast = fitted.get_prediction(start=grid.n, end=grid.n + grid.steps - 1)
    return np.asarray(forecast.predicted_mean), np.sqrt(np.asarray(forecast.forecast_variance))


def theta(p, grid):
    from pandas import Series
    from statsmodels.tsa.forecasting.theta import ThetaModel

    model = ThetaModel(Series(grid.filled), period=p["season"], deseasonalize=p["season"] > 1, method="additive")
    fitted = model.fit()
    band = fitted.prediction_intervals(grid.steps, alpha=0.05)
    return np.asarray(fitted.forecast(grid.steps)), np.asarray(band["upper"] - band["lower"]) / (2 * SD95)


def seasons(p):
    """Returns the periods of a series for methods with several periods or a calendar, up to half the length of the series."""
    periods = {"m4-hourly": [24, 168], "m4-weekly": [52]}.get(p["set"], [p["season"]] if p["season"] > 1 else [])
    return [s for s in periods if 2 * s <= len(p["y"])]


def automatic(grid, model):
    """Returns the forecast of a statsforecast model. The standard deviation is computed from its interval."""
    exog = {} if grid.exog is None else dict(X=grid.exog[: grid.n], X_future=grid.exog[grid.n :])
    result = model.forecast(grid.filled, grid.steps, level=[95], **exog)
    mean, low, high = (np.asarray(result[k]) for k in ("mean", "lo-95", "hi-95"))
    return mean, (high - low) / (2 * SD95)


def autoets(p, grid):
    from statsforecast.models import AutoETS

    return automatic(grid, AutoETS(p["season"]))


def autoarima(p, grid):
    from statsforecast.models import AutoARIMA

    return automatic(grid, AutoARIMA(season_length=p["season"]))


def mstl(p, grid):
    """Seasons by STL and exponential smoothing of the remainder. Without a season, only the smoothing."""
    from statsforecast.models import MSTL, AutoETS

    trend, periods = AutoETS(model="ZZN"), seasons(p)
    return automatic(grid, MSTL(periods, trend_forecaster=trend) if periods else trend)


def prophet(p, grid):
    """Prophet with a calendar of one day per step. Seasons have Prophet's default orders for days, weeks and years; 52 weeks are a year."""
    from pandas import DataFrame, Timedelta, Timestamp
    from prophet import Prophet

    model = Prophet(interval_width=0.95, daily_seasonality=False, weekly_seasonality=False, yearly_seasonality=False)
    for s in seasons(p):
        model.add_seasonality(str(s), 365.25 / 7 if s == 52 else s, {24: 4, 168: 3}.get(s, min(10, s // 2)))
    exog = {} if grid.exog is None else {f"regressor{j}": column for j, column in enumerate(grid.exog.T)}
    for name in exog:
        model.add_regressor(name)
    days = [Timestamp(2000, 1, 1) + Timedelta(days=i) for i in range(grid.n + grid.steps)]
    table = DataFrame(dict(ds=days) | exog)
    np.random.seed(0)
    result = model.fit(table[: grid.n].assign(y=grid.y)).predict(table.loc[grid.at])
    return result.yhat.to_numpy(), (result.yhat_upper - result.yhat_lower).to_numpy() / (2 * SD95)


METHODS = dict(
    ucm=ucm, sarimax=sarimax, gp=gp, ets=ets, theta=theta, autoets=autoets, autoarima=autoarima, mstl=mstl, prophet=prophet
)
EXTRAPOLATORS = ("ets", "theta", "autoets", "autoarima", "mstl")
REGRESSIONS = ("ucm", "sarimax", "autoarima", "prophet")
LIBRARIES = dict(gp="scikit-learn", autoets="statsforecast", autoarima="statsforecast", mstl="statsforecast", prophet="prophet")


def version(method):
    library = LIBRARIES.get(method, "statsmodels")
    return f"{library} {metadata.version(library)}"


def forecast(method, p):
    line = {k: p[k] for k in ("set", "series", "origin")} | dict(method=method, version=version(method))
    began = time.perf_counter()
    signal.alarm(LIMIT)
    try:
        mean, sd = METHODS[method](p, Grid(p))
        if not (np.isfinite(mean).all() and np.isfinite(sd).all()):
            raise ValueError("the forecast is not finite")
        line |= dict(mean=mean.tolist(), sd=sd.tolist(), status="ok")
    except Exception as e:  # the failure of a peer is reported in its row
        line["status"] = "failed: " + first_line(e)
    finally:
        signal.alarm(0)
    return line | dict(seconds=time.perf_counter() - began)


def late(*_):
    raise TimeoutError(f"more than {LIMIT} seconds")


def main(problems, forecasts, *methods):
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    key = lambda line, method: (line["set"], line["series"], line["origin"], method)
    done = set()
    if os.path.exists(forecasts):
        with open(forecasts) as lines:
            done = {key(line, line["method"]) for line in map(json.loads, lines)}
    with open(problems) as lines, open(forecasts, "a") as out:
        for p in map(json.loads, lines):
            for method in methods:
                if key(p, method) in done or method in EXTRAPOLATORS and p["at"][0] < p["x"][-1]:
                    continue
                if "regressors" in p and method not in REGRESSIONS:
                    continue
                line = forecast(method, p)
                print(json.dumps(line), file=out, flush=True)
                print(method, p["set"], p["series"], p["origin"], "%.1f s" % line["seconds"], line["status"], file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
