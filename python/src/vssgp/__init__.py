"""Variational sparse spectrum Gaussian processes: time series, regression and repair of recordings.

The package includes the command vssgp, which does the computations.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._engine import VssgpWarning
    from .recordings import Repair, impute
    from .regressors import VSSGPRegressor
    from .series import Backtest, Filling, Forecast, SeriesModel, backtest, fill, forecast

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

# The modules of the names. They are imported on first use, because NumPy and scikit-learn take longer to import than
# the command takes to start.
_MODULES = {"Repair": "recordings", "VSSGPRegressor": "regressors", "VssgpWarning": "_engine", "impute": "recordings"}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("vssgp")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES.get(name, 'series')}", __name__), name)


def __dir__() -> list[str]:
    return __all__
