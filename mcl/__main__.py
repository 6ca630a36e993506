"""`python -m mcl` is the command `mcl`."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first. A workspace, where tools write, is no place to load modules from.
    if sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):  # noqa: PTH109, PTH120
        del sys.path[0]

    from mcl.cli.main import main

    sys.exit(main())
