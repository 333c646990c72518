import pickle
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vssgp import VSSGPRegressor, _engine, forecast

ESTIMATORS = [
    VSSGPRegressor(),
    VSSGPRegressor(features=20),
    VSSGPRegressor("ssgp"),
    VSSGPRegressor("rp"),
    VSSGPRegressor(inference="factorized"),
]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn(estimator, check):
    check(estimator)


KINDS = [VSSGPRegressor(), VSSGPRegressor("ssgp")]


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_predict(model, wave):
    x, y = wave
    m = clone(model).fit(x[:200], y[:200])
    mean, sd = m.predict(x[200:], return_std=True)
    assert mean.shape == sd.shape == (100,) and np.sqrt(np.mean((mean - y[200:]) ** 2)) < 0.15
    assert 0.85 <= np.mean(np.abs(mean - y[200:]) < 1.96 * sd) and (m.predict(x[200:]) == mean).all()
    again, cov = m.predict(x[200:], return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), sd, rtol=1e-6)
    assert (again == mean).all() and cov.shape == (100, 100) and np.linalg.eigvalsh(cov).min() > 0
    function = m.predict(x[200:], return_std=True, latent=True)[1]
    np.testing.assert_allclose(sd**2 - function**2, m.noise_sd_[0] ** 2, rtol=1e-6)
    with pytest.raises(ValueError, match="one of them"):
        m.predict(x, return_std=True, return_cov=True)


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_sample(model, wave):
    """Draws have the mean and covariance of the function without noise, as returned by predict."""
    x, y = wave
    m = clone(model).fit(x, y)
    at = np.linspace(-4, 4, 7)[:, None]
    draws = m.sample_y(at, 4000)
    mean, cov = m.predict(at, return_cov=True, latent=True)
    assert draws.shape == (7, 4000)
    sd = np.sqrt(np.diag(cov))
    np.testing.assert_allclose((draws.mean(axis=1) - mean) / sd, 0, atol=0.08)
    np.testing.assert_allclose(np.cov(draws) / np.outer(sd, sd), cov / np.outer(sd, sd), atol=0.12)
    assert (m.sample_y(at, 2, random_state=1) == m.sample_y(at, 2, random_state=1)).all()
    assert (m.sample_y(at, 2, random_state=1) != m.sample_y(at, 2, random_state=2)).any()


def test_outputs(wave):
    x, y = wave
    m = VSSGPRegressor().fit(x, np.column_stack([y, 100 - 3 * y]))
    mean, sd = m.predict(x[:9], return_std=True)
    _, cov = m.predict(x[:9], return_cov=True)
    assert mean.shape == sd.shape == (9, 2) and cov.shape == (9, 9, 2) and m.noise_sd_.shape == (2,)
    np.testing.assert_allclose(np.sqrt(np.einsum("nnd->nd", cov)), sd, rtol=1e-6)
    np.testing.assert_allclose(100 - 3 * mean[:, 0], mean[:, 1], rtol=1e-3)
    assert m.sample_y(x[:9], 5).shape == (9, 2, 5)


def test_kept(wave, tmp_path):
    """A pickled or saved model makes identical predictions, and the command can read the file."""
    x, y = wave
    m = VSSGPRegressor().fit(x, y)
    want = m.predict(x, return_std=True)
    path = tmp_path / "m.safetensors"
    m.save(path)
    for other in (pickle.loads(pickle.dumps(m)), type(m).load(path)):
        assert all((a == b).all() for a, b in zip(other.predict(x, return_std=True), want, strict=True))
        assert other.n_features_in_ == 1 and (other.noise_sd_ == m.noise_sd_).all() and other.info()["outputs"]
    np.save(tmp_path / "x.npy", x)
    command = [_engine.binary(), "predict", path, tmp_path / "x.npy", "-o", tmp_path / "o.npy"]
    subprocess.run(list(map(str, command)), check=True)
    assert (np.load(tmp_path / "o.npy")[:, 1] == want[0]).all()
    forecast(np.sin(np.arange(60.0)), horizon=3).model.save(path)
    with pytest.raises(ValueError, match="not a model"):
        VSSGPRegressor.load(path)


def test_command_to_python(wave, tmp_path):
    x, y = wave
    np.savetxt(tmp_path / "d.csv", np.column_stack([x, y]), delimiter=",", header="depth,heat", comments="")
    command = [_engine.binary(), "fit", tmp_path / "d.csv", "--method", "vssgp", "-o", tmp_path / "m.safetensors"]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    m = VSSGPRegressor.load(tmp_path / "m.safetensors")
    assert m.score(x, y) > 0.95 and m.info()["outputs"] == ["heat"]


def test_names(wave):
    """The model stores the column names of a DataFrame, unless the command does not accept one of them."""
    pd = pytest.importorskip("pandas")
    x, y = wave
    for name in ("depth", "a,b", "y"):
        m = VSSGPRegressor("rp", features=9).fit(pd.DataFrame({name: x[:, 0], "heat": y**2}), y)
        assert m.info()["inputs"] == (["depth", "heat"] if name == "depth" else ["x0", "x1"])
        assert m.info()["outputs"] == ["y"]


def test_outside(wave):
    """Rows outside the range of one of several inputs, which are frequent in cross-validation, cause no warning."""
    x, y = wave
    m = VSSGPRegressor("rp", features=9).fit(np.column_stack([x, y**2]), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.predict([[x.min(), 1e6]])


def test_pipeline(wave):
    x, y = wave
    pipe = make_pipeline(StandardScaler(), VSSGPRegressor())
    assert cross_val_score(pipe, x, y, cv=3).min() > 0.9
    assert cross_val_score(pipe, x, y, cv=3, n_jobs=2).min() > 0.9
    search = GridSearchCV(VSSGPRegressor(), {"features": [5, 40]}, cv=2).fit(x, y)
    assert search.best_score_ > 0.9 and search.best_estimator_.features == search.best_params_["features"]


def test_random_state(wave):
    x, y = wave
    x, y = np.column_stack([x, x**2]), y
    a, b, c = (VSSGPRegressor(features=20, random_state=s).fit(x, y).model_ for s in (3, 3, 4))
    assert a == b != c
    d, e = (VSSGPRegressor(features=20, random_state=np.random.RandomState(s)).fit(x, y).model_ for s in (0, 0))
    f, g = (VSSGPRegressor(features=20, random_state=None).fit(x, y).model_ for _ in range(2))
    assert d == e != f != g


def test_init_file(wave, tmp_path):
    x, y = wave
    first = VSSGPRegressor(features=20, iterations=5).fit(x, y)
    first.save(path := tmp_path / "first.safetensors")
    again = VSSGPRegressor(init=str(path), iterations=20).fit(x, y)
    assert again.bound_ > first.bound_
