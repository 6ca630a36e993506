"""Everyday goals, run to the end in folders of their own.

python -m benchmarks.everyday --check FILE…   whether files of goals are valid; runs nothing
python -m benchmarks.everyday --list FOLDER   what lies in a folder, with times and first lines
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.everyday.folders import files_of
from benchmarks.everyday.goals import problems, told


def listed(name: str) -> str:
    """The files of a folder as Markdown: path, time, what is in it."""
    lines = [f"## {name}", ""]
    for file in sorted(files_of(name), key=lambda file: file.path):
        made = " ".join(file.made)
        first = file.text.strip().split("\n")
        inside = f"{len(first)} line{'' if len(first) == 1 else 's'}: {' / '.join(first)[:90]}"
        inside = (
            f"{made} {first[0]}".strip()
            if made and made.split()[0] not in ("untracked", "ignored")
            else inside
        )
        lines.append(f"- `{file.path}` {file.when:%Y-%m-%d %H:%M}, {inside}")
    return "\n".join([*lines, ""])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.everyday",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--list", nargs="+", metavar="FOLDER")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(listed(name) for name in asked.list))
        return 0
    wrong = False
    for path in asked.check or ():
        found = problems(path)
        wrong |= bool(found)
        print(told(found, path))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
