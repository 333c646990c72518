"""The path of the command. This module imports little, so that the command starts quickly."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def binary() -> str:
    """Return the path of the command: $VSSGP_BINARY, the binary in this package, or vssgp on PATH, in this order.

    Raises RuntimeError if there is none.
    """
    own = Path(__file__).parent / "_bin" / ("vssgp.exe" if os.name == "nt" else "vssgp")
    for path in (os.environ.get("VSSGP_BINARY"), own if own.exists() else None, shutil.which("vssgp")):
        if path:
            return str(path)
    raise RuntimeError(f"the command vssgp is missing: {own} does not exist; reinstall the package")
