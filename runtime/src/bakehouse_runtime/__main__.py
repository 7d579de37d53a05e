"""`python -m bakehouse_runtime`: see `--help`."""

import sys

from .cli import main

# Spawned child processes import this module again.
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
