"""How many files and functions of ours a person's commands run through.

    python -m benchmarks.walked [--json]

The demo (compile, accept, run) is run once, each command in a process of its own, and what Python calls is
counted by `sys.setprofile`. A file counts where one of its functions ran; what only its import ran does not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.house import PACKAGES, ROOT

COMMANDS = (
    ("compile", "which files in notes mention invoice"),
    ("accept", "@last", "--yes"),
    ("run", "@last"),
)
_COUNTED = """
import json, os, sys, threading
root, seen = sys.argv[1], set()
def imported(frame):
    # What a module calls while it is imported (a table made by a comprehension, say) is its import's.
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(root):
            return True
        frame = frame.f_back
    return False
def called(frame, event, argument):
    code = frame.f_code
    # Modules and the bodies of classes run when they are imported; of all that runs, they alone have fast
    # locals of no kind (CO_OPTIMIZED).
    runs = event == "call" and code.co_filename.startswith(root) and code.co_flags & 1
    if runs and not imported(frame.f_back):
        seen.add((code.co_filename, code.co_qualname))
threading.setprofile(called)
from mcl.cli.main import main
sys.setprofile(called)
code = main(sys.argv[3:])
sys.setprofile(None)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(sorted(seen), file)
sys.exit(code)
"""


def walked(place: Path) -> dict[str, set[tuple[str, str]]]:
    """Of each command of the demo: the functions of ours that ran, as file and name."""
    home = {**os.environ, "MCL_HOME": str(place / "home"), "PYTHONPATH": str(ROOT)}
    (place / "notes").mkdir()
    (place / "notes" / "monday.txt").write_text("Invoice 4711 is due on Friday.\n")
    subprocess.run(
        [sys.executable, "-m", "mcl", "init", "--unattended"],
        cwd=place,
        env=home,
        check=True,
        capture_output=True,
    )
    found = {}
    for command in COMMANDS:
        out = place / "calls.json"
        given = [sys.executable, "-c", _COUNTED, f"{ROOT}/", str(out), *command]
        subprocess.run(given, cwd=place, env=home, check=True, capture_output=True)
        calls = [(str(Path(file).relative_to(ROOT)), name) for file, name in json.loads(out.read_text())]
        found[command[0]] = {(file, name) for file, name in calls if file.split("/")[0] in PACKAGES}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="the files and functions themselves")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = walked(Path(place))
    if asked.json:
        print(json.dumps({command: sorted(calls) for command, calls in found.items()}, indent=1))
        return
    for command, calls in [*found.items(), ("together", set().union(*found.values()))]:
        print(f"{command:10} {len({file for file, _ in calls}):4} files {len(calls):5} functions")


if __name__ == "__main__":
    main()
