import datetime
import pickle
import subprocess

import numpy as np
import pytest

from vssgp import SeriesModel, VssgpWarning, _engine, backtest, fill, forecast

pd = pytest.importorskip("pandas")


def short(n=40):
    t = np.arange(n, dtype=float)
    return 10 + 0.1 * t + np.sin(2 * np.pi * t / 7) + 0.05 * np.cos(17.3 * t)


INDEXES = {
    "days": pd.date_range("2024-01-01", periods=40, name="day"),
    "months": pd.date_range("2020-01-31", periods=40, freq="ME"),
    "hours": pd.date_range("2024-03-30", periods=40, freq="h", tz="Europe/Berlin"),
    "milliseconds": pd.date_range("2024-01-01", periods=40, freq="250ms"),
    "periods": pd.period_range("2021-01", periods=40, freq="M"),
    "business days": pd.bdate_range("2024-01-01", periods=40),
    "integers": pd.RangeIndex(5, 45),
    "floats": pd.Index(np.arange(40) / 12 + 2000, name="year"),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_index(index):
    """A forecast continues the index of the data, and the model's predictions at these times are equal to it."""
    y = pd.Series(short(), index=index, name="flow")
    f = forecast(y, 3)
    assert type(f.index) is type(index) or isinstance(index, pd.RangeIndex)
    assert f.index.name == index.name and isinstance(f.mean, pd.Series) and f.mean.name == "flow"
    step = index[-1] - index[-2]
    if "Date" in type(index).__name__ and index.freq is not None:
        want = pd.date_range(index[-1], periods=4, freq=index.freq)[1:]
        assert list(f.index) == list(want) and f.index.tz == index.tz
    elif isinstance(index, pd.PeriodIndex):
        assert list(f.index) == [index[-1] + i for i in (1, 2, 3)]
    else:
        np.testing.assert_allclose(np.asarray(f.index, float), [index[-1] + i * step for i in (1, 2, 3)], rtol=1e-12)
    assert (f.lower < f.mean).all() and (f.mean < f.upper).all() and (f.sd > 0).all()
    again = f.model.predict(f.index)
    assert isinstance(again.mean, pd.Series) and again.mean.index.equals(f.index)
    for name in ("mean", "sd", "lower", "upper"):
        np.testing.assert_allclose(getattr(again, name), getattr(f, name), rtol=1e-12)
    assert list(f.frame().columns) == ["mean", "sd", "lower", "upper"] and f.frame().index.equals(f.index)


FREQUENCIES = ["D", "B", "W-SUN", "W-WED", "MS", "ME", "BME", "BMS", "QS-OCT", "QE-JAN", "BQE", "YE", "h", "15min"]
ZONED = {"D": "2024-03-10", "W-MON": "2023-10-02", "MS": "2023-01-01", "h": "2024-03-29"}  # to summer or winter time


@pytest.mark.parametrize("freq", [*FREQUENCIES, *(f"{freq} in Berlin" for freq in ZONED)])
def test_frequency(freq):
    """The index of a forecast has the frequency of the data, also if it is inferred. Dates without it have none."""
    freq, *zone = freq.split(" in ")
    zone = "Europe/Berlin" if zone else None
    index = pd.date_range(ZONED[freq] if zone else "2021-01-01", periods=18, freq=freq, tz=zone)
    for own in (index, pd.DatetimeIndex(list(index))):
        y = pd.Series(short(18), index=own)
        f = forecast(y, 7, season="none", trend="none")
        want = pd.date_range(index[-1], periods=8, freq=freq)[1:]
        assert f.index.equals(want) and f.mean.index.freq is not None and f.index.tz == index.tz
        assert own.freq is None or f.index.freq == own.freq
        np.testing.assert_allclose(f.model.predict(f.index).mean, f.mean, rtol=1e-12)
    y.iloc[-2:] = np.nan  # the forecast begins in the data
    assert forecast(y, 3, season="none", trend="none").index.freq is not None
    assert forecast(y, at=index[[3, 5, 9]], season="none", trend="none").index.freq is None


@pytest.mark.parametrize("freq", ["D", "W-WED", "M", "2M", "Q-SEP", "Y-MAR", "h"])
def test_periods(freq):
    index = pd.period_range("2021-01-01", periods=18, freq=freq, name="when")
    f = forecast(pd.Series(short(18), index=index), 3, season="none", trend="none")
    assert isinstance(f.index, pd.PeriodIndex) and f.index.dtype == index.dtype and f.index.name == "when"
    assert list(f.index) == [index[-1] + n for n in (1, 2, 3)]


def test_arrays():
    y = short()
    f = forecast(y, 4)
    assert isinstance(f.mean, np.ndarray) and f.index.tolist() == [40, 41, 42, 43] and f.mean.shape == (4,)
    days = np.arange("2024-01-01", "2024-02-10", dtype="M8[D]")
    g = forecast(y, 4, x=days)
    assert g.index.dtype == days.dtype and g.index[0] == np.datetime64("2024-02-10")
    np.testing.assert_allclose(g.mean, f.mean, rtol=0.05)  # a weekly season is tried because rows are days
    two = np.column_stack([y, 2 * y])
    h = forecast(two.tolist(), 4)
    assert h.mean.shape == (4, 2) and list(h.frame().columns[:2]) == [("y0", "mean"), ("y0", "sd")]


def test_text_and_dates():
    """Dates as text are returned as text in the same notation; Python's dates become datetime64."""
    days = pd.date_range("2024-01-01", periods=40)
    want = forecast(short(), 2, x=days.to_numpy())
    iso = forecast(pd.Series(short(), index=days.strftime("%Y-%m-%d")), 2)
    german = forecast(short(), 2, x=days.strftime("%d.%m.%Y").tolist())
    python = forecast(short(), 2, x=[d.date() for d in days])
    assert list(iso.index) == ["2024-02-10", "2024-02-11"] and list(german.index) == ["10.02.2024", "11.02.2024"]
    assert python.index.dtype.kind == "M" and python.index[0] == want.index[0]
    for f in (iso, german, python):
        np.testing.assert_allclose(f.mean, want.mean, rtol=1e-12)
    with pytest.raises(ValueError, match="ISO 8601 notation"):
        german.plot()


def test_positions():
    y = pd.Series(short(), index=INDEXES["days"])
    until = [forecast(y, until=u) for u in ("2024-02-12", pd.Timestamp("2024-02-12"), datetime.date(2024, 2, 12))]
    assert all(len(f.index) == 3 and (f.mean == until[0].mean).all() for f in until)
    at = pd.DatetimeIndex(["2024-02-10", "2024-01-15"])
    assert list(forecast(y, at=at).index) == list(at)
    period = [forecast(y, 2, period=p).mean for p in ("7d", pd.Timedelta(days=7), np.timedelta64(7, "D"), [7])]
    assert all((p == period[0]).all() for p in period)
    monthly = pd.Series(short(), index=INDEXES["periods"])
    assert forecast(monthly, until=monthly.index[-1] + 2).index[-1] == monthly.index[-1] + 2


def test_frame(co2):
    frame = pd.DataFrame({"co2": co2, 7: 2 * co2, "a,b": co2 - 300})
    f = forecast(frame, 2)
    assert list(f.mean.columns) == ["co2", 7, "a,b"] and f.frame().shape == (2, 12)
    quoted = frame[["a,b"]].rename(columns={"a,b": 'so "called"'})
    assert forecast(quoted, 1).model.info()["outputs"] == ['so "called"']
    assert all((f.frame()[name, k] == getattr(f, k)[name]).all() for name in frame for k in ("mean", "sd", "upper"))
    np.testing.assert_allclose(f.mean[7], 2 * f.mean["co2"], rtol=0.01)


def test_same_names():
    """Outputs may have the same name, and the index may have the same name as the series."""
    twice = pd.DataFrame(np.column_stack([short(), 2 * short()]), columns=["a", "a"])
    f = forecast(twice, 1)
    assert list(f.mean.columns) == ["a", "a"] and f.model.info()["outputs"] == ["y0", "y1"]
    own = pd.Series(short(), index=pd.Index(np.arange(40), name="flow"), name="flow")
    g = forecast(own, 1)
    assert (g.index.name, g.mean.name, g.index[0]) == ("flow", "flow", 40)


def test_known_errors():
    """A value with a large error has a small weight. Each output has separate errors."""
    y, yerr = np.column_stack([short(), -short()]), np.full((40, 2), 0.05)
    want = forecast(y, 3, yerr=yerr).mean
    y[[20, 30], [0, 1]] += 50
    yerr[[20, 30], [0, 1]] = 500
    np.testing.assert_allclose(forecast(y, 3, yerr=yerr).mean, want, atol=0.1)


def test_fill(co2):
    holes = co2.copy()
    holes.iloc[[3, 50, 51]] = np.nan
    f = fill(holes, level=80)
    assert list(f.frame().columns) == ["values", "sd", "lower", "upper", "lower_80", "upper_80"]
    np.testing.assert_allclose(f.interval(80), (f.ends["lower_80"], f.ends["upper_80"]), rtol=1e-12)
    np.testing.assert_allclose(f.interval(), (f.lower, f.upper), rtol=1e-12)
    assert f.values.index.equals(co2.index) and f.missing.sum() == 3 and f.sd.notna().sum() == 3
    known = ~f.missing
    assert (f.values[known] == co2[known]).all()
    assert ((f.lower < co2) & (co2 < f.upper))[f.missing].all()
    two = pd.DataFrame({"a": holes, "b": co2})
    g = fill(two)
    assert g.frame().shape == (120, 8) and g.interval(80)[0].notna().sum().tolist() == [3, 0]
    assert g.missing.sum().tolist() == [3, 0] and g.values.shape == two.shape and not g.values.isna().any(axis=None)
    none = fill(co2.to_numpy())
    assert (none.values == co2.to_numpy()).all() and not none.missing.any() and np.isnan(none.sd).all()


def test_nullable_and_none():
    nullable = pd.Series(short()).convert_dtypes()
    nullable.iloc[4] = pd.NA
    np.testing.assert_array_equal(fill(nullable).values, fill([*short()[:4], None, *short()[5:]]).values)


def test_backtest(co2):
    b = backtest(co2, 6, 2)
    assert (b.horizon, b.origins, b.season) == (6, 2, 12) and b.scores["vssgp"]["rmse"] < b.scores["naive"]["rmse"]
    assert list(b.frame().index) == ["vssgp", "naive", "seasonal_naive"] and b.by_output == {"co2": b.scores}


def test_model(co2, tmp_path):
    f = forecast(co2, 5)
    path = tmp_path / "m.safetensors"
    f.model.save(path)
    model = SeriesModel.load(path)
    assert (model.predict(f.index).mean == f.mean).all() and model.info()["outputs"] == ["co2"]
    assert (pickle.loads(pickle.dumps(f)).model.predict(f.index).mean == f.mean).all()
    with pytest.raises(ValueError, match="exceeds the maximum"):
        model.predict(pd.DatetimeIndex(["2100-01-01"]))


def test_command_to_python(tmp_path):
    """Models fitted by the command to dates in another notation or to row numbers can be loaded."""
    days = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame({"day": days.strftime("%d.%m.%Y"), "flow": short()})
    for table, at in ((frame, pd.date_range("2024-02-10", periods=2)), (frame[["flow"]], [41, 42])):
        table.to_csv(tmp_path / "d.csv", index=False)
        command = [_engine.binary(), "fit", tmp_path / "d.csv", "-o", tmp_path / "m.safetensors"]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        f = SeriesModel.load(tmp_path / "m.safetensors").predict(at)
        assert list(f.index) == list(at)
        np.testing.assert_allclose(f.mean, forecast(short(), 2, x=days.to_numpy()).mean, rtol=0.05)


def test_same_seed(co2):
    a, b, c = (forecast(co2, 3, seed=s) for s in (1, 1, 2))
    assert (a.mean == b.mean).all() and (a.sd != c.sd).any()


def test_repr(co2):
    """The display of a result is short and contains the rows, the attributes and the methods."""
    methods = ".frame(), .plot(), .model"
    for y, rows in (
        (co2, "2 rows, 1980-01-01 to 1980-02-01"),
        (co2.to_period("M"), "2 rows, 1980-01 to 1980-02"),
        (co2.set_axis(co2.index.strftime("%Y-%m-%d")), "2 rows, 1980-01-01 to 1980-02-01"),
        (co2.to_numpy(), "2 rows, 120 to 121"),
        (pd.DataFrame({"a": co2, "b": co2}), "2 rows of 2 outputs, 1980-01-01 to 1980-02-01"),
    ):
        assert repr(forecast(y, 2)) == f"Forecast of {rows}: mean, sd, lower, upper; {methods}"
    f = forecast(co2.to_numpy(), 1, x=1970 + np.arange(120) / 12, level=80)
    assert str(f) == f"Forecast of 1 row, 1980: mean, sd, lower, upper, lower_80, upper_80; {methods}"
    holes = repr(fill(co2.where(co2.index.month != 3)))
    assert (
        holes == "Filling of 120 rows, 1970-01-01 to 1979-12-01, filled 10: values, sd, lower, upper; .frame(), .model"
    )
    b = backtest(co2, 3, 2)
    title, names, *scores = repr(b).splitlines()
    assert title == "Backtest, horizon=3, origins=2:" and names.split() == list(b.frame().columns)
    assert [line.split()[:2] for line in scores] == [[m, f"{s['rmse']:.4g}"] for m, s in b.scores.items()]


def test_plot(co2):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    text = pd.Series(co2.to_numpy(), index=co2.index.strftime("%Y-%m-%d"))
    for y in (
        co2,
        co2.to_numpy(),
        co2.to_period("M"),
        pd.DataFrame({"a": co2, "b": co2}),
        co2.tz_localize("UTC"),
        text,
    ):
        axes = np.ravel(forecast(y, 3).plot(last=30))
        assert all(len(ax.lines) == 2 and len(ax.lines[0].get_xdata()) == 30 for ax in axes)
        plt.close("all")
    holes = co2.copy()
    holes.iloc[[-4, -2]] = np.nan
    ax = forecast(holes, 1).plot(last=30)
    alone = ax.lines[1].get_xdata()
    assert list(alone) == [co2.index[-3], co2.index[-1]] and len(ax.containers) == 1 and ax.get_xlabel() == "month"
    plt.close("all")


def test_distribution(co2):
    """Quantiles, intervals and draws are consistent, for one output and for two."""
    for y in (co2, co2.to_numpy(), pd.DataFrame({"a": co2, "b": co2**2})):
        f = forecast(y, 4, level=80)
        quantiles = [np.asarray(f.quantile(p)) for p in (0.025, 0.1, 0.5, 0.9, 0.975)]
        assert all(q.shape == f.mean.shape for q in quantiles) and (np.diff(quantiles, axis=0) > 0).all()
        assert type(f.quantile(0.5)) is type(f.mean)
        np.testing.assert_allclose(quantiles[2], f.mean, rtol=0.01)
        np.testing.assert_allclose(f.interval(), (f.lower, f.upper), rtol=1e-12)
        np.testing.assert_allclose(f.interval(80), quantiles[1:4:2], rtol=1e-9)
        again = f.model.predict(f.index, level=80)
        for one in (f, again):
            np.testing.assert_allclose(f.interval(80), (one.ends["lower_80"], one.ends["upper_80"]), rtol=1e-12)
        draws = f.draws(200)
        assert draws.shape == (200, *f.mean.shape) and (draws == f.draws(200)).all()
        assert (f.draws(1, seed=1) != draws[:1]).any()
        spread = draws.std(axis=0) / np.asarray(f.sd)
        assert (np.abs(draws.mean(axis=0) - f.mean) < 0.5 * f.sd).all(axis=None) and (spread < 1.2).all()
        if isinstance(y, pd.Series):
            assert list(f.frame().columns[4:]) == ["lower_80", "upper_80"]


def test_quantiles(co2):
    """Quantiles are those of `quantile`, in the given order and for one output and two, also of a fill and several."""
    for y in (co2, pd.DataFrame({"a": co2, "b": co2**2})):
        f = forecast(y, 2, quantiles=[0.9, 0.5, 0.00001], level=80)
        names = ["lower_80", "upper_80", "q0.9", "q0.5", "q0.00001"]
        assert list(f.ends) == names
        again = f.model.predict(f.index, quantiles=0.9, level=80)
        for p, end in ((0.9, "q0.9"), (0.5, "q0.5"), (0.1, "lower_80")):
            np.testing.assert_allclose(f.ends[end], f.quantile(p), rtol=1e-9)
        np.testing.assert_allclose(again.ends["q0.9"], f.ends["q0.9"], rtol=1e-12)
        assert (f.ends["q0.00001"] < f.lower).all(axis=None) and f.frame().shape == (2, 9 * (1 if y.ndim == 1 else 2))
    frame = long_frame().iloc[:80]
    assert list(forecast(frame, 1, season=7, quantiles=[0.3]).columns[-2:]) == ["upper", "q0.3"]
    frame.loc[10, "y"] = np.nan
    filled = fill(frame, season=7, quantiles=[0.975])
    np.testing.assert_allclose(filled["q0.975"], filled["upper"], rtol=1e-12)


def test_times_as_horizons(co2):
    assert len(forecast(co2, "1y").index) == 12
    daily = pd.Series(short(), index=INDEXES["days"])
    assert all(len(forecast(daily, h).index) == 14 for h in ("2w", pd.Timedelta(days=14), datetime.timedelta(14)))


def long_frame():
    """Return two interleaved series and one that is too short."""
    days = pd.date_range("2024-01-01", periods=40)
    parts = [pd.DataFrame({"unique_id": i, "ds": days, "y": i * short()}) for i in (7, 3)]
    few = pd.DataFrame({"unique_id": 9, "ds": days[:2], "y": [1.0, 2.0]})
    return pd.concat([pd.concat(parts).sort_values("ds", kind="stable"), few], ignore_index=True)


def test_several():
    frame = long_frame()
    with pytest.warns(VssgpWarning, match='unique_id 9: column "y" has 2 values') as warned:
        f = forecast(frame, 3, level=[80, 95], season=7)
    assert len(warned) == 1 and warned[0].filename == __file__
    assert list(f.columns) == ["unique_id", "ds", "mean", "sd", "lower", "upper"] + [
        f"{end}_{level}" for level in (80, 95) for end in ("lower", "upper")
    ]
    assert f["unique_id"].tolist() == [7] * 3 + [3] * 3 and f["ds"].tolist() == 2 * list(
        pd.date_range("2024-02-10", periods=3)
    )
    one = forecast(frame.loc[frame["unique_id"] == 3, ["ds", "y"]], 3, season=7)  # a frame of one series
    assert one.index.equals(pd.DatetimeIndex(f["ds"][3:])) and one.mean.name == "y"
    np.testing.assert_allclose(f["mean"][3:], one.mean, rtol=1e-9)
    np.testing.assert_allclose(f["upper_95"], f["upper"], rtol=1e-12)

    holes = frame.copy()
    holes.loc[[10, 21], "y"] = np.nan
    filled = fill(holes, season=7, level=80)
    assert ((filled["lower"] < filled["lower_80"]) & (filled["upper_80"] < filled["upper"])).sum() == 2
    assert filled["sd"].notna().sum() == 2 and filled.drop([10, 21])["y"].equals(frame.drop([10, 21])["y"])
    assert ((filled["lower"] < frame["y"]) & (frame["y"] < filled["upper"]))[[10, 21]].all()

    with pytest.warns(VssgpWarning, match="unique_id 9"):
        scores = backtest(frame, 2, 2, season=7)
    assert scores["unique_id"].tolist() == [7] * 3 + [3] * 3 and (scores["crps"] > 0).all()
    assert scores["method"].tolist() == 2 * ["vssgp", "naive", "seasonal_naive"]


def test_regressors():
    """Regressors, holidays and events work with arrays, frames and several series. The effects are recovered."""
    n, ahead = 200, 4
    days = pd.date_range("2023-10-01", periods=n + ahead)
    heat = 15 + 8 * np.sin(np.arange(n + ahead) ** 2)
    y = 100 + 2 * heat + np.tile(short(7), 30)[: n + ahead] + 0.5 * np.cos(17.3 * np.arange(n + ahead))
    y[days == "2023-12-25"] += 30
    y[[40, 90, 140, n + 1]] += 20
    fair = {"fair": days[[40, 90, 140, n + 1]]}
    options = {"holidays": "US", "events": fair, "season": 7}
    f = forecast(
        y[:n],
        x=days[:n].to_numpy(),
        at=days[n:].to_numpy(),
        regressors={"heat": heat[:n]},
        future={"heat": heat[n:]},
        **options,
    )
    assert np.abs(f.mean - y[n:]).max() < 3
    effects = {e["name"]: e["mean"][0] for e in f.model.info()["effects"]}
    assert abs(effects["heat"] - 2) < 0.1 and abs(effects["fair"] - 20) < 3 and effects["Christmas Day"] > 20
    assert np.allclose(f.interval(95)[0], f.lower) and f.draws(3).shape == (3, ahead)
    assert np.allclose(f.model.predict(days[n:], {"heat": heat[n:]}).mean, f.mean)

    future = np.where(np.arange(n + ahead) < n, y, np.nan)
    frame = pd.DataFrame({"ds": days, "y": future, "heat": heat})
    g = forecast(frame, regressors="heat", **options)  # the rows without a value
    assert np.allclose(g.mean, f.mean) and np.allclose(g.interval(95)[0], f.lower) and list(g.index) == list(days[n:])
    for x in (days, [str(d.date()) for d in days], np.arange(n + ahead) / 3):
        h = forecast(future, x=x, regressors={"heat": heat}, season=7)
        assert np.allclose(h.interval(95)[0], h.lower) and np.allclose(h.regressors["heat"], heat[n:])
    both = pd.concat([frame.assign(unique_id=i) for i in "ab"])
    assert np.allclose(forecast(both, regressors=["heat"], **options)["mean"], np.tile(f.mean, 2))
    scores = backtest(pd.Series(y, index=days), 4, 2, regressors={"heat": heat}, **options).scores
    assert scores["vssgp"]["rmse"] < 3
    holes = np.where(np.arange(n + ahead) % 50 == 7, np.nan, y)
    filled = fill(holes, x=days, regressors={"heat": heat}, level=80, **options)
    assert np.abs(filled.values - y).max() < 5 and np.allclose(
        filled.interval(80)[0], filled.ends["lower_80"], equal_nan=True
    )


def test_counts_have_no_noise():
    counts = np.random.default_rng(1).poisson(1.0, 80)
    assert forecast(counts, 2).noise_sd == [] and len(forecast(counts + 0.5, 2).noise_sd) == 1


@pytest.mark.parametrize(
    ("until", "last"),
    [
        ("2024-05-31", "2024-05-31 23:00"),
        (datetime.date(2024, 5, 31), "2024-05-31 23:00"),
        (pd.Timestamp("2024-05-31", tz="Europe/Berlin"), "2024-05-31 00:00"),
        ("2024-05-31T05:00+02:00", "2024-05-31 05:00"),
    ],
)
def test_until_a_day(until, last):
    """A day includes all its times, which a Timestamp is one of."""
    y = pd.Series(short(24), index=pd.date_range("2024-05-30", periods=24, freq="h", tz="Europe/Berlin"))
    f = forecast(y, until=until, season="none", trend="none")
    assert f.index[-1] == pd.Timestamp(last, tz="Europe/Berlin")
