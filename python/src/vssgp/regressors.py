"""Gaussian process regression as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _engine, _files
from ._files import Array
from ._flags import flags
from ._table import usable

if TYPE_CHECKING:
    from typing_extensions import Self

Seed = int | np.random.RandomState | None

_DATA, _MODEL, _AT, _OUT = "data.npy", "model.safetensors", "x.npy", "out.npy"
_DRAWS, _JOINT = "draws.npy", "joint.npy"


class VSSGPRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Variational sparse spectrum Gaussian process regression (Gal & Turner 2015).

    The covariance is a spectral mixture. It is approximated by random cosine features, whose frequencies have an
    approximate posterior. By default, for one input or two, its components are found by a search, and predictions
    average over the hyper-parameters.

    Parameters
    ----------
    method : "vssgp", "ssgp" (optimized point frequencies) or "rp" (fixed random frequencies). Default: "vssgp"; with
        three inputs or more and without `features`, random frequencies that are not optimized.
    components : number of components of the spectral mixture. Default: chosen from the data.
    features : number of random cosine features per component. Default: chosen from the data.
    inference : "exact", "factorized" (time linear in the features) or "stochastic" (with mini-batches).
    init : initialization: "paper", "search" (one input or two), "spectrum" (one), or the path of a model file.
        Default: "search" for one input or two, unless other parameters describe features, windows or their
        optimization.
    lengthscales, periods : initial values in units of X, one per component. A period of 0 means no period.
    noise_precision : initial noise precision in 1/y².
    window : length of the windows along one input, in units of the input; or "none" or "auto".
    iterations : maximum number of iterations of the optimizer.
    batch : number of rows per mini-batch in stochastic inference.
    restarts : number of further initializations. The fit with the best bound is kept.
    fix : tensors of the model file that keep their initial values, such as "noise.precision".
    prior : {name: (median, sd of the logarithm)} of amplitude, lengthscale and noise, or "none" for no priors.
    posterior : number of posterior draws of the hyper-parameters to store in the model. Default: 20 with a search, over
        which predictions average, else none.
    device : "auto", "cpu" or "cuda:0".
    random_state : seed, or a RandomState that draws one. None uses a different seed for each fit.
    progress : whether to show progress, or a function that is called with each progress message. None shows progress
        on a terminal and in a notebook.

    None selects the default of the command, which `vssgp fit --help` describes.

    Attributes
    ----------
    model_ : content of the model file, bytes.
    bound_ : lower bound of the log marginal likelihood of the standardized data, in nats.
    noise_sd_ : [D] standard deviation of the noise in units of y.
    result_ : the output of `vssgp fit --json`, a dict.

    """

    n_features_in_: int

    def __init__(
        self,
        method: Literal["vssgp", "ssgp", "rp"] | None = None,
        *,
        components: int | None = None,
        features: int | None = None,
        inference: Literal["exact", "factorized", "stochastic"] | None = None,
        init: str | None = None,
        lengthscales: Sequence[float] | float | None = None,
        periods: Sequence[float] | float | None = None,
        noise_precision: float | None = None,
        window: float | str | None = None,
        iterations: int | None = None,
        batch: int | None = None,
        restarts: int | None = None,
        fix: Sequence[str] | str | None = None,
        prior: Mapping[str, str | Sequence[float]] | str | None = None,
        posterior: int | None = None,
        device: str | None = None,
        random_state: Seed = 0,
        progress: _engine.Progress = False,
    ):
        self.method = method
        self.components = components
        self.features = features
        self.inference = inference
        self.init = init
        self.lengthscales = lengthscales
        self.periods = periods
        self.noise_precision = noise_precision
        self.window = window
        self.iterations = iterations
        self.batch = batch
        self.restarts = restarts
        self.fix = fix
        self.prior = prior
        self.posterior = posterior
        self.device = device
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model to X [n, Q] and y [n] or [n, D] in any units, and return the estimator.

        Raises ValueError for invalid data or parameters, and RuntimeError if the command fails.
        """
        if self.method not in (None, "vssgp", "ssgp", "rp"):
            raise ValueError(f"method={self.method!r}: must be 'vssgp', 'ssgp', 'rp' or None")
        data: tuple[Any, Any] = X, y
        checked = validate_data(self, *data, dtype="float64", multi_output=True, y_numeric=True, ensure_min_samples=2)
        x, values = (np.asarray(a, dtype="float64") for a in checked)
        table = np.column_stack([x, values])
        q, columns = x.shape[1], list(map(str, range(table.shape[1])))
        files: dict[str, _engine.Buffer | Sequence[_engine.Buffer]] = {_DATA: _files.npy(table)}
        if self.init not in (None, "paper", "spectrum"):
            if not Path(str(self.init)).is_file():
                raise ValueError(f"init={self.init!r}: must be 'paper', 'spectrum' or the path of a model file")
            files[str(self.init)] = Path(self.init).read_bytes()
        options = self.get_params(deep=False) | {"seed": self._seed(self.random_state)}
        del options["random_state"], options["progress"]
        if q == 1 and self.method is None:
            options["method"] = "vssgp"  # the command's default for one input is the structural time series model
        args = ["fit", _DATA, "-o", _MODEL, "--json", "--x=" + ",".join(columns[:q]), "--y=" + ",".join(columns[q:])]
        args += ["--names=" + ",".join([*self._input_names(), *_names("y", len(columns) - q)]), *flags(**options)]
        answer = _engine.call(args, files, progress=self.progress, names={"seed": "random_state"})
        self.model_ = bytes(answer.files[_MODEL])
        self.result_ = answer.result
        self.bound_ = self.result_["bound"]
        self.noise_sd_ = np.array(self.result_["noise_sd"])
        self._single = values.ndim == 1
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False, *, latent: bool = False
    ) -> Array | tuple[Array, Array]:
        """Predict y at X [m, Q].

        Returns the mean [m] or [m, D] in units of y. With return_std, it also returns the standard deviation with the
        same shape. With return_cov, it also returns the joint covariance [m, m] or [m, m, D]. Both include the
        observation noise unless `latent` is true. Raises ValueError if return_std and return_cov are both true.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are both True; must be only one of them")
        joint = ["--joint=" + _JOINT] if return_cov else []
        out = self._predict(X, *flags(latent=latent or None), *joint, output=_OUT)
        q, d = self.n_features_in_, len(self.noise_sd_)
        columns = _files.from_npy(out[_OUT])[:, q:]
        mean, sd = self._shaped(columns[:, 0 : 2 * d : 2]), self._shaped(columns[:, 1 : 2 * d : 2])
        if return_std:
            return mean, sd
        if return_cov:
            cov = np.einsum("ndmd->nmd", _files.from_npy(out[_JOINT]))
            return mean, cov[:, :, 0] if self._single else cov
        return mean

    def _predict(self, X: ArrayLike, *args: str, output: str) -> dict[str, bytearray]:
        check_is_fitted(self)
        rows: Any = X
        x = np.asarray(validate_data(self, rows, dtype="float64", reset=False))
        files: _engine.Files = {_MODEL: self.model_, _AT: _files.npy(x)}
        # No warning, because test rows of a cross-validation are often outside of the range of one of several inputs.
        quiet = ["--quiet"] if self.n_features_in_ > 1 else []
        command = ["predict", _MODEL, _AT, "-o", output, *args, *quiet]
        names = {"draws": "n_samples", "seed": "random_state"}
        return _engine.call(command, files, stacklevel=5, names=names).files

    def _input_names(self) -> list[str]:
        """Return the column names of X if X is a DataFrame with names that the command accepts, else x0, x1, …."""
        names = list(getattr(self, "feature_names_in_", []))
        taken = {"y", *_names("y", 99)}
        if names and all(usable(n) and not set(n) & set(',"') for n in names) and not set(names) & taken:
            return names
        return _names("x", self.n_features_in_)

    def _shaped(self, a: Array) -> Array:
        """Return predictions [m, D] with the shape of y in fit, [m] or [m, D]."""
        return np.ascontiguousarray(a[:, 0] if self._single else a)

    def _seed(self, state: Seed) -> int:
        """Return the seed of a random_state."""
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def save(self, path: str | Path) -> None:
        """Write the model to a safetensors file, which `vssgp predict` and `vssgp info` can read."""
        check_is_fitted(self)
        Path(path).write_bytes(self.model_)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model file and return a fitted estimator. Its constructor parameters are the defaults.

        Raises ValueError if the file contains no model, or the model of a series.
        """
        self = cls()
        self.model_ = Path(path).read_bytes()
        info = _engine.model_info(self.model_, path)
        if not info.get("inference"):
            raise ValueError(f"{path}: not a model of {cls.__name__}; use SeriesModel.load")
        self.result_, self.bound_ = info, info.get("bound")
        self.noise_sd_ = np.array(info["noise_sd"])
        self.n_features_in_, self._single = len(info["inputs"]), len(info["outputs"]) == 1
        return self

    def info(self) -> dict[str, Any]:
        """Return the output of `vssgp info --json` for the model, a dict."""
        check_is_fitted(self)
        return _engine.model_info(self.model_)

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Seed = 0) -> Array:
        """Draw functions from the posterior at the rows of X [m, Q], without observation noise.

        Returns an array [m, n_samples], or [m, D, n_samples] if y was [n, D], in units of y. Raises ValueError if
        n_samples is below 1.
        """
        if isinstance(n_samples, Integral) and n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: must be 1 or more")
        args = flags(draws=n_samples, draws_file=_DRAWS, seed=self._seed(random_state))
        draws = _files.from_npy(self._predict(X, *args, output=_OUT)[_DRAWS])
        return np.moveaxis(draws[:, :, 0] if self._single else draws, 0, -1)


def _names(name: str, count: int) -> list[str]:
    """Return names for a number of columns: x for one column, else x0, x1, …."""
    return [name] if count == 1 else [f"{name}{i}" for i in range(count)]
