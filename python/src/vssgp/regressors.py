"""Gaussian process regression as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _engine, _files
from ._flags import flags
from ._table import usable

Seed = int | np.random.RandomState | None

_DATA, _MODEL, _AT, _OUT = "data.npy", "model.safetensors", "x.npy", "out.npy"
_DRAWS, _JOINT = "draws.npy", "joint.npy"


class VSSGPRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Variational sparse spectrum Gaussian process regression (Gal & Turner 2015).

    The covariance is a spectral mixture, approximated by random cosines whose frequencies have a posterior.

    Parameters
    ----------
    method : "vssgp", "ssgp" (point frequencies, optimised) or "rp" (random frequencies, kept); None: "vssgp", or, of
        several inputs and where no `features` are given, random frequencies if the bound is better with them.
    components : covariance components; None: chosen from the data.
    features : random cosines for each component; None: chosen by the bound.
    inference : "exact", "factorised" (time linear in the features), "stochastic" (on mini-batches).
    init : "paper", "spectrum" (of one input), or the path of a model file.
    lengthscales, periods : where the components start, in units of X, a number for each; a period of 0 is none.
    noise_precision : where the noise's precision starts, in 1/y².
    window : length of the windows along one input, in its units, "none" or "auto".
    iterations, batch, restarts : of the optimiser.
    fix : tensors of the model file to keep at their starts, such as "noise.precision".
    prior : {name: (median, sd of the logarithm)} of amplitude, lengthscale and noise; "none" for no priors.
    posterior : draws of the hyper-parameters that the model keeps.
    device : "auto", "cpu" or "cuda:0".
    random_state : seed of everything random; None draws one.
    progress : False, True, None (on a terminal or in a notebook), or a function that gets the texts.

    None leaves a choice to the command; `vssgp fit --help` explains each.

    After a fit, `model_` is the content of the model file, `bound_` the bound of the log marginal likelihood in nats
    of the standardised data, `noise_sd_` [D] the noise's standard deviation in units of y, `result_` what the command
    says of the fit.
    """

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

    def _fit_args(self, inputs: int, outputs: int) -> list[str]:
        options = self.get_params(deep=False)
        del options["random_state"], options["progress"]
        if inputs == 1 and self.method is None:
            options["method"] = "vssgp"  # the command would fit the model of a series
        return ["fit", _DATA, "-o", _MODEL, "--json", *_columns(inputs, outputs), *flags(**options)]

    def _fit_files(self) -> _engine.Files:
        if self.init is None or not Path(self.init).is_file():
            return {}
        return {str(self.init): Path(self.init).read_bytes()}

    def fit(self, X: ArrayLike, y: ArrayLike):
        """Fit to X [n, Q] and y [n] or [n, D], in any units. Returns the estimator."""
        checked = validate_data(self, X, y, dtype="float64", multi_output=True, y_numeric=True, ensure_min_samples=2)
        x, y = (np.asarray(a, dtype="float64") for a in checked)
        outputs = y.reshape(len(y), -1)
        args = self._fit_args(x.shape[1], outputs.shape[1]) + flags(seed=self._seed(self.random_state))
        args.append("--names=" + ",".join([*self._input_names(), *_names("y", outputs.shape[1])]))
        files: _engine.Files = {_DATA: _files.npy(np.column_stack([x, outputs])), **self._fit_files()}
        answer = _engine.call(args, files, progress=self.progress)
        self.model_ = bytes(answer.files[_MODEL])
        self.result_ = answer.result
        self.bound_ = self.result_["bound"]
        self.noise_sd_ = np.array(self.result_["noise_sd"])
        self._single = y.ndim == 1
        return self

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False, *, latent: bool = False
    ) -> NDArray | tuple[NDArray, NDArray]:
        """Predict y at X [m, Q].

        Returns the mean [m] or [m, D]; with return_std also the standard deviation, of the same shape; with
        return_cov also the joint covariance, [m, m] or [m, m, D]. They are of observations: the noise is in them,
        unless `latent`, which asks for the function itself.
        """
        if return_std and return_cov:
            raise ValueError("return_std and return_cov are both set; want one of them")
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
        x = np.asarray(validate_data(self, X, dtype="float64", reset=False))
        files: _engine.Files = {_MODEL: self.model_, _AT: _files.npy(x)}
        return _engine.call(["predict", _MODEL, _AT, "-o", output, *args], files, stacklevel=5).files

    def _input_names(self) -> list[str]:
        """The names of X's columns, where it is a DataFrame whose names the command can take."""
        names = list(getattr(self, "feature_names_in_", []))
        taken = {"y", *_names("y", 99)}
        if names and all(usable(n) and not set(n) & set(',"') for n in names) and not set(names) & taken:
            return names
        return _names("x", self.n_features_in_)

    def _shaped(self, a: NDArray) -> NDArray:
        """A column for each output, in the shape of the y of the fit."""
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
    def load(cls, path: str | Path):
        """An estimator that predicts with the model in a file; its own parameters are the defaults."""
        self = cls()
        self.model_ = Path(path).read_bytes()
        info = _engine.call(["info", _MODEL, "--json"], {_MODEL: self.model_}).result
        if not info.get("inference"):
            raise ValueError(f"{path}: not a model that {cls.__name__} predicts with")
        self.result_, self.bound_ = info, info.get("bound")
        self.noise_sd_ = np.array(info["noise_sd"])
        self.n_features_in_, self._single = len(info["inputs"]), len(info["outputs"]) == 1
        return self

    def info(self) -> dict[str, Any]:
        """What was learnt, as `vssgp info --json` has it."""
        check_is_fitted(self)
        return _engine.call(["info", _MODEL, "--json"], {_MODEL: self.model_}).result

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Seed = 0) -> NDArray:
        """Draw functions from the posterior, jointly at all rows of X [m, Q], without noise.

        Returns [m, n_samples], or [m, D, n_samples] for a y of two dimensions.
        """
        args = flags(draws=n_samples, draws_file=_DRAWS, seed=self._seed(random_state))
        draws = _files.from_npy(self._predict(X, *args, output=_OUT)[_DRAWS])
        return np.moveaxis(draws[:, :, 0] if self._single else draws, 0, -1)


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}{i}" for i in range(count)]


def _columns(inputs: int, outputs: int) -> list[str]:
    """--x and --y of a table of inputs and then outputs."""
    numbers = list(map(str, range(inputs + outputs)))
    return ["--x=" + ",".join(numbers[:inputs]), "--y=" + ",".join(numbers[inputs:])]
