"""`python -m bakehouse_runtime`: see `--help`."""

import sys

from .cli import main

# A process that it starts imports this module again.
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
