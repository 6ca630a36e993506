"""`python -m mcl` is the command `mcl`."""

import sys

from mcl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
