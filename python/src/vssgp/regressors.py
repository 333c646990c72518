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

    The covariance is a spectral mixture, approximated by random cosines whose frequencies have a posterior.

    Parameters
    ----------
    method : "vssgp", "ssgp" (point frequencies, optimized) or "rp" (random frequencies, kept). Default: "vssgp", or for
        several inputs without `features` random frequencies, if the bound is better with them.
    components : number of covariance components; None: chosen from the data.
    features : number of random cosines for each component; None: chosen by the bound.
    inference : "exact", "factorised" (time linear in the features), "stochastic" (on mini-batches).
    init : "paper", "spectrum" (for one input), or the path of a model file.
    lengthscales, periods : initial values of the components, in units of X, one for each; a period of 0 is none.
    noise_precision : initial precision of the noise, in 1/y².
    window : length of the windows along one input, in its units, "none" or "auto".
    iterations, batch, restarts : of the optimizer.
    fix : tensors of the model file that keep their initial values, such as "noise.precision".
    prior : {name: (median, sd of the logarithm)} of amplitude, lengthscale and noise; "none" for no priors.
    posterior : number of draws of the hyper-parameters that the model keeps.
    device : "auto", "cpu" or "cuda:0".
    random_state : seed of everything random; None draws one.
    progress : False, True, None (on a terminal or in a notebook), or a function that takes the texts.

    None leaves a choice to the command; `vssgp fit --help` explains each.

    Attributes
    ----------
    model_ : content of the model file.
    bound_ : bound of the log marginal likelihood, in nats of the standardized data.
    noise_sd_ : [D] standard deviation of the noise, in units of y.
    result_ : what `vssgp fit --json` prints.

    """

    n_features_in_: int

    def __init__(
        self,
        method: Literal["vssgp", "ssgp", "rp"] | None = None,
        *,
        components: int | None = None,
        features: int | None = None,
        inference: Literal["exact", "factorised", "stochastic"] | None = None,
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
        """Fit to X [n, Q] and y [n] or [n, D], in any units. Returns the estimator."""
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
            options["method"] = "vssgp"  # the command would fit the model of a series
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

        Returns the mean [m] or [m, D]; with return_std also the standard deviation, in the same shape; with
        return_cov also the joint covariance, [m, m] or [m, m, D]. All are in units of y and of observations, noise
        included, or of the function without noise if `latent`.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are both True; must be one of them")
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
        command, names = ["predict", _MODEL, _AT, "-o", output, *args], {"draws": "n_samples", "seed": "random_state"}
        return _engine.call(command, files, stacklevel=5, names=names).files

    def _input_names(self) -> list[str]:
        """Return the names of X's columns if it is a DataFrame whose names the command takes, else x0, x1, …."""
        names = list(getattr(self, "feature_names_in_", []))
        taken = {"y", *_names("y", 99)}
        if names and all(usable(n) and not set(n) & set(',"') for n in names) and not set(names) & taken:
            return names
        return _names("x", self.n_features_in_)

    def _shaped(self, a: Array) -> Array:
        """Return columns, one for each output, in the shape of the y of the fit."""
        return np.ascontiguousarray(a[:, 0] if self._single else a)

    def _seed(self, state: Seed) -> int:
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def save(self, path: str | Path) -> None:
        """Write the model file (safetensors), which `vssgp predict` and `info` read."""
        check_is_fitted(self)
        Path(path).write_bytes(self.model_)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return an estimator that predicts with the model in a file; its parameters are the defaults."""
        self = cls()
        self.model_ = Path(path).read_bytes()
        info = _engine.model_info(self.model_, path)
        if not info.get("inference"):
            raise ValueError(f"{path}: not a model that {cls.__name__} predicts with; see SeriesModel.load")
        self.result_, self.bound_ = info, info.get("bound")
        self.noise_sd_ = np.array(info["noise_sd"])
        self.n_features_in_, self._single = len(info["inputs"]), len(info["outputs"]) == 1
        return self

    def info(self) -> dict[str, Any]:
        """Return the output of `vssgp info --json` for the model."""
        check_is_fitted(self)
        return _engine.model_info(self.model_)

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Seed = 0) -> Array:
        """Draw functions from the posterior, jointly at all rows of X [m, Q], without noise.

        Returns [m, n_samples], or [m, D, n_samples] if y was [n, D], in units of y.
        """
        if isinstance(n_samples, Integral) and n_samples < 1:
            raise ValueError(f"n_samples={n_samples}: must be 1 or more")
        args = flags(draws=n_samples, draws_file=_DRAWS, seed=self._seed(random_state))
        draws = _files.from_npy(self._predict(X, *args, output=_OUT)[_DRAWS])
        return np.moveaxis(draws[:, :, 0] if self._single else draws, 0, -1)


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{i}" for i in range(count)]
