"""Variational sparse spectrum Gaussian processes, computed by the command vssgp that comes with this package."""

from typing import TYPE_CHECKING

from ._engine import VssgpWarning
from .recordings import Repair, impute
from .series import Backtest, Filling, Forecast, SeriesModel, backtest, fill, forecast

if TYPE_CHECKING:
    from .regressors import SparseGPRegressor, VSSGPRegressor

__version__ = "0.1.0"
__all__ = [
    "Backtest",
    "Filling",
    "Forecast",
    "Repair",
    "SeriesModel",
    "SparseGPRegressor",
    "VSSGPRegressor",
    "VssgpWarning",
    "backtest",
    "fill",
    "forecast",
    "impute",
]


def __getattr__(name: str) -> object:
    """Load the estimators when they are asked for: scikit-learn takes a second to import."""
    if name not in ("SparseGPRegressor", "VSSGPRegressor"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import regressors

    return getattr(regressors, name)


def __dir__() -> list[str]:
    return __all__
