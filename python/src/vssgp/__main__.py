"""The command vssgp, which comes with this package: `python -m vssgp --help`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from ._engine import binary


def main() -> None:
    """Become the command, or on Windows, which cannot, wait for it."""
    args = [""]
    try:
        args = [binary(), *sys.argv[1:]]
        if Path(args[0]).resolve().with_suffix("") == Path(sys.argv[0]).resolve().with_suffix(""):
            sys.exit("vssgp: the package has lost its command, and finds this script on PATH; install it again")
        if os.name != "nt":
            os.execv(args[0], args)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is the command's, which tidies up
        sys.exit(subprocess.call(args))
    except OSError as err:
        sys.exit(f"vssgp: cannot start {args[0]}: {err.strerror}")
    except RuntimeError as err:
        sys.exit(f"vssgp: {err}")


if __name__ == "__main__":
    main()
