"""Variational sparse spectrum Gaussian processes: time series, regression and repair of recordings.

The package includes the command vssgp, which does the computations.
"""

from typing import TYPE_CHECKING

from ._engine import VssgpWarning
from .recordings import Repair, impute
from .series import Backtest, Filling, Forecast, SeriesModel, backtest, fill, forecast

if TYPE_CHECKING:
    from .regressors import VSSGPRegressor

    __version__: str

__all__ = [
    "Backtest",
    "Filling",
    "Forecast",
    "Repair",
    "SeriesModel",
    "VSSGPRegressor",
    "VssgpWarning",
    "backtest",
    "fill",
    "forecast",
    "impute",
]


def __getattr__(name: str) -> object:
    """Import the estimator and read the version on first use, because scikit-learn and metadata take time."""
    if name == "__version__":
        from importlib.metadata import version

        return version("vssgp")
    if name != "VSSGPRegressor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import regressors

    return getattr(regressors, name)


def __dir__() -> list[str]:
    return __all__
