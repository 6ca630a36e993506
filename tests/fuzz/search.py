"""All property tests at random, round after round, each from a seed that is printed.

    python tests/fuzz/search.py [--seed N] [--minutes M] [-- PYTEST ARGUMENTS]

A round is a run of pytest over every test of hypothesis; the line that it prints first repeats it exactly. At
least one round is run, and none begins after M minutes; the first that fails ends the search.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Search; the exit code is that of the last round."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("arguments", nargs="*", help="for pytest; default: two workers over all tests")
    chosen = parser.parse_args()
    seed, end = chosen.seed % (1 << 32), time.monotonic() + 60 * chosen.minutes
    while True:
        words = ["-m", "pytest", "-m", "hypothesis", f"--hypothesis-seed={seed}"]
        words += chosen.arguments or ["-n", "2"]
        again = f"PYTHONHASHSEED={seed} {sys.executable} {' '.join(words)}"
        print(again, flush=True)
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        code = subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=False).returncode
        if code:
            print(f"found something; again: {again}", flush=True)
            return code
        if time.monotonic() >= end:
            return 0
        seed = (seed + 1) % (1 << 32)


if __name__ == "__main__":
    sys.exit(main())
