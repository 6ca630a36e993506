"""Everyday goals, run to the end in folders of their own.

python -m benchmarks.everyday [--goals open|apart] [--writer NAME] [--only ID…] [--jobs 2] [--out FILE]
                              [--failures] [--json]
python -m benchmarks.everyday --check FILE…   whether files of goals are valid; runs nothing
python -m benchmarks.everyday --list FOLDER   what lies in a folder, with times and first lines

Results are lines of JSON in --out; what this commit has already tried is not tried again (--again does).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.everyday.batch import code_here, left, read_results, tried
from benchmarks.everyday.folders import files_of
from benchmarks.everyday.goals import HERE, load_all, problems, told
from benchmarks.everyday.page import failures, figures, table


def listed(name: str) -> str:
    """The files of a folder as Markdown: path, time, what is in it."""
    lines = [f"## {name}", ""]
    for file in sorted(files_of(name), key=lambda file: file.path):
        made = " ".join(file.made)
        first = file.text.strip().split("\n")
        inside = f"{len(first)} line{'' if len(first) == 1 else 's'}: {' / '.join(first)[:90]}"
        if made and file.tracked:
            inside = f"{made} {first[0]}".strip()
        lines.append(f"- `{file.path}` {file.when:%Y-%m-%d %H:%M}, {inside}")
    return "\n".join([*lines, ""])


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.everyday",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--list", nargs="+", metavar="FOLDER")
    parser.add_argument("--goals", default="open", help="open, apart, or a folder")
    parser.add_argument("--writer", help="of this writer alone")
    parser.add_argument("--only", nargs="+", metavar="ID", help="these goals alone")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("everyday-results.jsonl"))
    parser.add_argument("--again", action="store_true", help="also what this commit has tried")
    parser.add_argument("--failures", action="store_true", help="say what went wrong, goal by goal")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(given)
    if asked.list:
        print("\n".join(listed(name) for name in asked.list))
        return 0
    if asked.check:
        found = {path: problems(path) for path in asked.check}
        print("\n".join(told(wrong, path) for path, wrong in found.items()))
        return 1 if any(found.values()) else 0
    return run(asked)


def run(asked: argparse.Namespace) -> int:
    place = HERE / "goals" / asked.goals if asked.goals in ("open", "apart") else Path(asked.goals)
    invalid = [wrong for path in sorted(place.glob("*.toml")) for wrong in problems(path)]
    if invalid:
        print("\n".join(invalid), file=sys.stderr)
        return 2
    goals = [
        goal
        for goal in load_all(place)
        if asked.writer in (None, goal.writer) and (asked.only is None or goal.id in asked.only)
    ]
    out, code = asked.out.absolute(), code_here()
    rest = goals if asked.again else left(goals, read_results(out), code)
    for count, result in enumerate(tried(rest, out, jobs=asked.jobs, code=code), start=1):
        print(f"{count}/{len(rest)} {result.id} {result.end} {result.seconds} s", file=sys.stderr, flush=True)
    done = read_results(out)
    results = [done[goal.id] for goal in goals if goal.id in done]
    if asked.json:
        print(json.dumps({**figures(results), "results": results}, ensure_ascii=False, indent=1))
        return 0
    print("\n".join(table(results)))
    if asked.failures:
        print("\n".join(["", *failures(results)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
