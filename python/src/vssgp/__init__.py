"""Variational sparse spectrum Gaussian processes, computed by the command vssgp that comes with this package."""

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
    """Load the estimator when it is asked for: scikit-learn takes a second to import."""
    if name != "VSSGPRegressor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import regressors

    return getattr(regressors, name)


def __dir__() -> list[str]:
    return __all__
