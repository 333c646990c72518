"""Variational sparse spectrum Gaussian processes: time series, regression and repair of recordings.

The package includes the command vssgp, which does the computations.
"""

from typing import TYPE_CHECKING

from ._engine import VssgpWarning
from .recordings import Repair, impute
from .series import Backtest, Filling, Forecast, SeriesModel, backtest, fill, forecast

if TYPE_CHECKING:
    from .regressors import VSSGPRegressor

__version__ = "0.1.0"
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
    """Import the estimator on first use, because importing scikit-learn takes a second."""
    if name != "VSSGPRegressor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import regressors

    return getattr(regressors, name)


def __dir__() -> list[str]:
    return __all__
