"""Variational sparse spectrum Gaussian processes, computed by the command vssgp that comes with this package."""

from ._engine import VssgpWarning
from .recordings import Repair, impute
from .regressors import SparseGPRegressor, VSSGPRegressor
from .series import Backtest, Filling, Forecast, SeriesModel, backtest, fill, forecast

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
