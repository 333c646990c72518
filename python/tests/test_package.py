import os
import subprocess
import sys

import vssgp
from vssgp import _engine


def test_command():
    """The package is the command, too."""
    assert os.access(_engine.binary(), os.X_OK)
    done = subprocess.run([sys.executable, "-m", "vssgp", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("vssgp ") and subprocess.run([sys.executable, "-m", "vssgp", "oops"]).returncode == 2


def test_import():
    """Scikit-learn, which takes its time, is imported for the estimators alone."""
    code = "import sys, vssgp; print('sklearn' in sys.modules); vssgp.VSSGPRegressor; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_names():
    assert all(hasattr(vssgp, name) and getattr(vssgp, name).__doc__ for name in vssgp.__all__)
