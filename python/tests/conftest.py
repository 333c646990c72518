import os
from pathlib import Path

import numpy as np
import pytest

TESTDATA = Path(__file__).parents[2] / "testdata"


def required(report):
    """If VSSGP_REQUIRE_PYTHON is set, turn a skip into a failure, except on Windows and in scikit-learn's checks."""
    if report.skipped and os.environ.get("VSSGP_REQUIRE_PYTHON") and os.name != "nt":
        path, line, reason = report.longrepr
        if "SCIPY_ARRAY_API" not in reason:
            report.outcome, report.longrepr = "failed", f"{path}:{line}: {reason}; VSSGP_REQUIRE_PYTHON is set"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return required((yield))


@pytest.fixture
def co2():
    """Ten years of monthly CO₂ with a pandas index."""
    pd = pytest.importorskip("pandas")
    table = pd.read_csv(TESTDATA / "co2_monthly.csv")
    y = table["co2_ppm"][table["decimal_year"] > 1970].to_numpy()[:120]
    return pd.Series(y, index=pd.date_range("1970-01-01", periods=120, freq="MS", name="month"), name="co2")


@pytest.fixture
def wave():
    """300 rows of a noisy sine: X [n, 1], y [n]."""
    random = np.random.default_rng(0)
    x = random.uniform(-3, 3, (300, 1))
    return x, np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=300)
