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


def test_names():
    assert all(hasattr(vssgp, name) and getattr(vssgp, name).__doc__ for name in vssgp.__all__)
