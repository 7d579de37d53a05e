"""`python -m bakehouse_runtime`: see `--help`."""

import sys

from .cli import main

sys.exit(main(sys.argv[1:]))
