"""The command vssgp that this package brings: `python -m vssgp --help`."""

import os
import subprocess
import sys

from ._engine import binary


def main() -> None:
    """Become the command."""
    args = [binary(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(args))
    os.execv(args[0], args)


if __name__ == "__main__":
    main()
