"""Run the command vssgp that is included in this package: `python -m vssgp --help`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from ._binary import binary


def main() -> None:
    """Replace this process with the command. Windows has no exec, so there the command runs as a child process."""
    args = [""]
    try:
        args = [binary(), *sys.argv[1:]]
        if Path(args[0]).resolve().with_suffix("") == Path(sys.argv[0]).resolve().with_suffix(""):
            sys.exit(f"vssgp: {args[0]} is this script instead of the binary; reinstall the package")
        if os.name != "nt":
            os.execv(args[0], args)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command handles ^C and cleans up
        sys.exit(subprocess.call(args))
    except OSError as err:
        sys.exit(f"vssgp: cannot start {args[0]}: {err.strerror}")
    except RuntimeError as err:
        sys.exit(f"vssgp: {err}")


if __name__ == "__main__":
    main()
