from pathlib import Path

import numpy as np
import pytest

TESTDATA = Path(__file__).parents[2] / "testdata"


@pytest.fixture
def co2():
    """Ten years of monthly CO₂, the months as a pandas index."""
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
