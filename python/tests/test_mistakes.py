"""Invalid arguments raise a one-line ValueError or TypeError that uses the names of the Python API."""

import datetime
import sys
from pathlib import Path

import numpy as np
import pytest

from vssgp import SeriesModel, VSSGPRegressor, backtest, fill, forecast, impute
from vssgp._flags import in_python

pd = pytest.importorskip("pandas")

N = 60
V = 10 + 0.1 * np.arange(N) + np.sin(2 * np.pi * np.arange(N) / 7) + 0.05 * np.cos(17.3 * np.arange(N))
DAYS = pd.date_range("2024-01-01", periods=N)
Y = pd.Series(V, index=DAYS, name="flow")
LONG = pd.DataFrame({"unique_id": 1, "ds": DAYS, "y": V})
NEXT = DAYS[-1:] + pd.Timedelta(days=1)
X = np.random.default_rng(0).uniform(-3, 3, (50, 2))
S = np.sin(np.arange(6000) / 9).astype("f4")


def gp(*args, **options):
    return VSSGPRegressor(*args, **options).fit(X, X[:, 0])


MISTAKES = [  # argument of forecast, invalid value, pattern of the message
    ("horizon", 0, "horizon=0"),
    ("horizon", -1, "^horizon=-1: must be"),
    ("horizon", 1.5, "horizon=1.5"),
    ("horizon", True, "horizon=True"),
    ("horizon", 10**30, "horizon=1000"),
    ("horizon", "6 moons", "horizon='6 moons'"),
    ("horizon", [1, 2], r"horizon=\[1, 2\]: must be a single"),
    ("horizon", pd.DateOffset(months=1), "horizon=.*not DateOffset"),
    ("level", 100, "level=100"),
    ("level", 0.95, "level=0.95: must be in percent"),
    ("level", "80", "level='80': must be a number"),
    ("quantiles", [0.5, 1], "quantiles=1: must be between 0 and 1"),
    ("quantiles", 0, "quantiles=0"),
    ("quantiles", "0.5", "quantiles='0.5': must be a number"),
    ("quantiles", 1e-300, "quantiles=1e-300: must be"),
    ("season", 7.5, "season=7.5"),
    ("season", ["none", 7], "season"),
    ("period", "7x", "period='7x'"),
    ("trend", "cubic", "trend='cubic'"),
    ("short_memory", "x", "short_memory='x'"),
    ("prior", {"noise": (-1, 1)}, "prior="),
    ("prior", {"noise": 1.0}, r"prior\['noise'\]=1.0: must be"),
    ("device", "tpu", "device='tpu'"),
    ("seed", -1, "seed=-1"),
    ("progress", "always", "progress='always'"),
    ("holidays", "XX", "unknown calendar"),
    ("events", ["2024-01-01"], "events is a list"),
    ("events", {"fair": ["soon"]}, r"events\['fair'\] has 'soon'"),
    ("regressors", {"a": [1, 2]}, "must be \\[60\\]"),
    ("regressors", {"x": V}, "names of x or y"),
    ("regressors", {3: V}, "the name 3"),
    ("regressors", "a", "regressors is a str"),
    ("regressors", {"a": V}, '"a" has no value at 2024-03-01'),
    ("regressors", pd.DataFrame({"a": V}, index=DAYS[::-1]), "a different index"),
    ("future", {"a": [1]}, "future has"),
    ("yerr", [1, 2], "yerr has the shape"),
    ("yerr", -1, "standard deviation"),
    ("yerr", np.inf, "yerr is infinite;"),
    ("horizn", 3, "unexpected keyword argument 'horizn'$"),
    ("h", 3, "unexpected keyword argument 'h'; .* is horizon$"),
    ("freq", "MS", "unexpected keyword argument 'freq'; the frequency is inferred"),
]

CALLS = [
    (lambda: forecast(Y, until="soon"), "until"),
    (lambda: forecast(Y, 3, until="2030-01-01"), "horizon, until and at"),
    (lambda: forecast(V, "6mo"), "numbers, not dates"),
    (lambda: forecast(V, at=DAYS), "^at, row 0: "),
    (lambda: forecast(Y, at=["x"]), "^at, row 0: "),
    (lambda: forecast(Y, at=NEXT, regressors={"a": V}, future={"b": [1]}), r"\['b'\]; must be \['a'\]"),
    (lambda: forecast(LONG.assign(price=1), 2), r"regressors=\['price'\]"),
    (lambda: forecast(LONG.rename(columns={"unique_id": "shop"}), 2), r"columns \['shop'\] .* the name unique_id"),
    (
        lambda: forecast(LONG.rename(columns={"ds": "date"}), 2),
        r"\['unique_id', 'date', 'y'\]: .* dates to ds, .*index$",
    ),
    (lambda: fill(LONG.assign(unique_id="a").set_index("ds")), "rename_axis"),
    (lambda: backtest(LONG.rename(columns={"y": "v"})), r"'v'\]: rename the column of values to y$"),
    (lambda: forecast(LONG[["unique_id"]].assign(v=V), 2), "dates to ds, .* and rename the column of values to y$"),
    (lambda: forecast(LONG, 2, x=[1]), "x cannot be combined"),
    (lambda: forecast(LONG, 2, regressors="heat"), "no such column"),
    (lambda: forecast(LONG.iloc[-2:], 2), "; all 1 series failed"),
    (lambda: forecast(LONG.assign(unique_id=["a"] * 30 + ["a "] * 30), 2), "with the same text"),
    (lambda: forecast(LONG.assign(unique_id=[None] * 30 + ["a"] * 30), 2), "missing"),
    (lambda: forecast(Y.iloc[:3], 2), "has 3 values"),
    (lambda: forecast(Y.astype(str) + "x"), "not numbers: .*'10.05x'"),
    (lambda: forecast(["x"] * 60), "not numbers: .*: 'x'"),
    (lambda: forecast(Y + 1j), "complex"),
    (lambda: forecast([*V, np.inf]), "y is infinite in row 60"),
    (lambda: forecast([10**400] * 60), "too large"),
    (lambda: forecast([[1, 2], [3]]), "y has"),
    (lambda: forecast(pd.Series(DAYS)), "dates"),
    (
        lambda: forecast(pd.DataFrame({"a": V, "when": DAYS}), 2),
        r"dates; .* columns \['a', 'when'\]: .* y=frame\['a'\], x=frame\['when'\], or rename",
    ),
    (lambda: forecast(pd.DataFrame({"id": "u", "on": DAYS, "v": V})), r"y=frame\['v'\], x=frame\['on'\]"),
    (lambda: fill(pd.DataFrame([["2024-01", 1.0]] * 9, columns=["v", "v"])), r"x=frame\['v'\]"),
    (lambda: forecast(pd.DataFrame()), "at least one row"),
    (lambda: forecast(np.zeros((2, 2, 2))), "shape"),
    (lambda: forecast(V, x=[1, 2]), "2 positions and y 60 rows"),
    (lambda: forecast(V, x=np.full(N, np.nan)), "not finite"),
    (lambda: forecast(V, x=3), "0 dimensions"),
    (lambda: forecast(Y.set_axis([pd.NaT, *DAYS[1:]])), "NaT"),
    (lambda: forecast(Y.set_axis([f"row {i}" for i in range(N)])), "row 0"),
    (lambda: forecast(Y.set_axis(pd.MultiIndex.from_product([[1], DAYS]))), "MultiIndex"),
    (lambda: forecast(Y.set_axis(pd.timedelta_range("0s", periods=N, freq="1h"))), "durations"),
    (lambda: forecast(Y.set_axis([True, False] * 30)), "bool"),
    (lambda: forecast(Y - 50, positive=True), "^the series: row 0: flow is -39.95"),
    (lambda: fill(Y, level=0), "level=0"),
    (lambda: backtest(Y, 500), "origins=1 and horizon=50"),
    (lambda: backtest(Y, 20), "use origins=2$"),
    (lambda: backtest(Y, 3, 2.5), "origins=2.5"),
    (lambda: SeriesModel(b"no model").info(), "safetensors"),
    (lambda: SeriesModel.load(__file__), "test_mistakes.py: "),
    (lambda: VSSGPRegressor.load(__file__), "test_mistakes.py: "),
    (lambda: gp("structural"), "method='structural'"),
    (lambda: gp(features=-3), "features=-3"),
    (lambda: gp(window="wide"), "window='wide'"),
    (lambda: gp(init="nowhere.safetensors"), "init='nowhere.safetensors'"),
    (lambda: gp(prior={"noise": (0, 1)}), "prior="),
    (lambda: gp(random_state=-1), "random_state=-1"),
    (lambda: impute(S, 8000), "no gaps"),
    (lambda: impute(S.astype("i8"), 8000, [(1, 2)]), "samples are int64; must"),
    (lambda: impute(S, 8000, [(1, 10**9)]), "^gaps, row 0: .*ends at sample"),
    (lambda: impute(S, 8000, [(5, 5)]), "gap"),
    (lambda: impute(S, 8000, [(5, 9, -1)]), "from 0"),
    (lambda: impute(S, 8000, [(5.5, 9)]), "in samples"),
    (lambda: impute(S, 8000, (5, 9)), "gaps has 5: must be"),
    (lambda: impute(S, 8000, np.zeros(6000, int)), "a mask of bool"),
    (lambda: impute(S, 8000, np.zeros(6000, bool)), "empty"),
    (lambda: impute(S, 8000, [(5, 9, 1)]), "channel"),
    (lambda: impute(S, 0, [(5, 9)]), "rate=0"),
    (lambda: impute(S, 1 << 31, [(5, 9)]), "rate=2147483648"),
    (lambda: impute(S, 8000, [(5, 9)], detect="clicks"), "only one"),
    (lambda: impute(S, 8000, [(5, 9)], sensitivity=3), "requires detect"),
    (lambda: impute(S, 8000, detect="scratches"), "detect='scratches'"),
    (lambda: impute(np.where(np.arange(6000) < 9, np.nan, S), 8000, [(100, 109)]), "NaN and not in a gap"),
    (
        lambda: impute(np.where(np.arange(999) == 500, np.nan, np.ones((2, 999))).T, 8000, [(490, 510, 1)]),
        "sample 500 of channel 0 is NaN",
    ),
    (lambda: impute(np.full(999, np.inf), 8000, [(300, 304)]), "samples is inf at sample 0"),
    (lambda: impute(S, 8000, [(5, 9)], reference=S * np.nan), "reference is nan"),
    (lambda: impute(S, 8000, np.zeros(5, dtype=bool)), "mask"),
    (lambda: impute(S, 8000, [(5, 9)], reference=S[:100]), "^reference has 100 samples"),
    (lambda: impute(S[:, None, None], 8000, [(5, 9)]), "shape"),
    (lambda: impute(np.stack([S, S]), 8000, [(5, 9)]), "transpose"),
]


def refused(call, match):
    """Check that the call raises a one-line error that matches and contains no flags or file names."""
    with pytest.raises((ValueError, TypeError), match=match) as error:
        call()
    message = str(error.value)
    assert "\n" not in message and "--" not in message and ".csv" not in message and ".safetensors:" not in message


@pytest.mark.parametrize("name, value, match", MISTAKES, ids=str)
def test_argument(name, value, match):
    refused(lambda: forecast(Y, **{name: value}), match)


@pytest.mark.parametrize("call, match", CALLS, ids=[match for _, match in CALLS])
def test_call(call, match):
    refused(call, match)


def test_results():
    f = forecast(Y, 2)
    refused(lambda: f.quantile(1), "between 0 and 1")
    refused(lambda: f.interval(-5), "level=-5")
    refused(lambda: f.interval([80, 90]), "must be a number")
    refused(lambda: f.draws(-1), "n=-1")
    refused(lambda: f.plot(last=-1), "last=-1")
    refused(lambda: f.model.predict(NEXT, {"a": [1]}), "no regressor 'a'")


@pytest.mark.parametrize("path", ["patients.csv", Path("patients.csv")], ids=["text", "path"])
def test_path(path):
    """A path instead of data raises a TypeError that contains a call to read the file."""
    calls = [
        (lambda call=call: call(path), "y", "pandas.read_csv(%s)['column']") for call in (forecast, fill, backtest)
    ]
    calls += [
        (lambda: impute(path, 8000), "samples", "scipy.io.wavfile.read(%s)[1]"),
        (lambda: impute(S, 8000, [(5, 9)], reference=path), "reference", "scipy.io.wavfile.read(%s)[1]"),
    ]
    for call, name, example in calls:
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == f"{name} is a path or text; must be the data, such as {example % repr(str(path))}"
    with pytest.raises(TypeError, match=r"read_csv\(path\)"):
        forecast("1\n" * 200)


def test_missing_extras(monkeypatch):
    f, scores = forecast(V, 2), backtest(V, 2, 2)
    for module in ("pandas", "matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)  # an import fails
    for call, message in (
        (f.plot, 'plot requires matplotlib; install it with: pip install "vssgp[plot]"'),
        (f.frame, 'frame requires pandas; install it with: pip install "vssgp[pandas]"'),
        (scores.frame, 'frame requires pandas; install it with: pip install "vssgp[pandas]"'),
    ):
        with pytest.raises(ModuleNotFoundError) as error:
            call()
        assert str(error.value) == message


WORKS = {  # unusual but valid values of y and x
    "bool": {"y": V > 13},
    "category": {"y": Y.astype("category")},
    "pandas.NA": {"y": [1, pd.NA, 3] * 20},
    "text": {"y": list(map(str, V))},
    "masked": {"y": np.ma.masked_array(V, mask=np.arange(N) == 4)},
    "large integers": {"y": [10**30 + i for i in range(N)]},
    "duplicate index": {"y": Y.set_axis(DAYS[[0, *range(N - 1)]])},
    "unsorted index": {"y": Y[::-1]},
    "categories of dates": {"y": Y.set_axis(pd.CategoricalIndex(DAYS))},
    "list with a time zone": {"y": V, "x": [d.to_pydatetime().replace(tzinfo=datetime.timezone.utc) for d in DAYS]},
    "series of dates": {"y": V, "x": pd.Series(DAYS.tz_localize("Europe/Berlin"))},
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("data", WORKS.values(), ids=WORKS)
def test_works(data):
    f = forecast(horizon=2, **data)
    assert np.isfinite(np.asarray(f.mean)).all() and len(f.index) == 2
    assert repr(f).startswith("Forecast of 2 rows, ") and "\n" not in repr(f)


def test_in_python():
    for message, want in (
        ('--noise-sd "-1": must be 0 or more; see vssgp fit --help', "noise_sd=-1: must be 0 or more"),
        ("--at at.csv: x 9 is beyond 5", "at: x 9 is beyond 5"),
        ("at.csv:3: bad", "at, row 1: bad"),
        ("--device cuda: no", "device='cuda': no"),
        ("--seed 3 and --positive; must be one", "random_state=3 and positive; must be one"),
    ):
        assert in_python(message, {"seed": "random_state"}) == want
