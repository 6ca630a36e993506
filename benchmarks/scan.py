"""What the scan costs and finds in real code, side by side with bandit itself.

    python -m benchmarks.scan [FOLDER …] [--untuned] [--json]

FOLDER: a source archive, unpacked (default: this repository). The same files for both, those that `mcl review
FOLDER` would look at; bandit sees the Python among them. Times are the processor's, both in a process of
their own, with its start.
--untuned: what would be told if bandit's results were weighed by severity and confidence alone (weights.toml
without its rules), outside tests and examples. --json: a document a line for each folder.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio

from executor.core.clock import FixedClock
from executor.sandbox.paths import Workspace
from executor.tools.tool import Bench
from mcl.plugins.review.piece import ReviewTarget
from mcl.plugins.review.scan.bandit_rules import judged
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.weights import place_of
from mcl.plugins.review.target import look_at


def looked(folder: Path) -> ReviewTarget:
    bench = Bench(
        workspace=Workspace(folder),
        clock=FixedClock("2026-01-01T00:00:00.000Z"),
        operation="read",
        max_output=1 << 20,
        idempotency_key="",
    )

    async def look() -> ReviewTarget:
        return await look_at(bench, path=".")

    return anyio.run(look)


def scanned(folder: Path) -> dict[str, Any]:
    """Counts, and milliseconds a file."""
    target = looked(folder)
    spent: dict[str, list[float]] = {"python": [], "others": []}
    counts: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for piece in target.pieces:
        begun = time.process_time()
        found = scan_source(ScanSource(piece.path, piece.text))
        took = (time.process_time() - begun) * 1000
        spent["python" if piece.path.endswith(".py") else "others"].append(took)
        counts.update(one.severity for one in found)
        rules.update(f"{one.severity} {one.rule}" for one in found)
    return {
        "files": len(target.pieces),
        "python": len(spent["python"]),
        "findings": dict(counts),
        "rules": dict(sorted(rules.items())),
        "ms a Python file, median": statistics.median(spent["python"] or [0]),
        "ms a Python file, longest": max(spent["python"] or [0]),
        "ms another file, median": statistics.median(spent["others"] or [0]),
    }


def untuned(folder: Path) -> dict[str, int]:
    """What would be told by bandit's severity and confidence alone."""
    labels = {("HIGH", "HIGH"): "RISK", ("HIGH", "MEDIUM"): "WARNING", ("MEDIUM", "HIGH"): "WARNING"}
    counts: Counter[str] = Counter()
    for piece in looked(folder).pieces:
        if piece.path.endswith(".py") and place_of(piece.path) == "product":
            issues = judged(piece.text).issues
            counts.update(labels.get((one.severity, one.confidence), "NOTE") for one in issues)
    return dict(counts)


def _spent(command: list[str]) -> tuple[float, str]:
    """Seconds of the processor, and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.stdout


def beside_bandit(folder: Path) -> dict[str, Any]:
    """Both on the same Python files."""
    names = [str(folder / one) for one in looked(folder).paths if one.endswith(".py")]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(names))
        listed.flush()
        ours, _ = _spent([sys.executable, "-c", _OURS, listed.name])
    theirs, said = _spent([sys.executable, "-m", "bandit", "-q", "--ignore-nosec", "-f", "json", *names])
    results = json.loads(said)["results"] if names else []
    return {
        "s, ours": round(ours, 2),
        "s, bandit": round(theirs, 2),
        "bandit": dict(Counter(one["issue_severity"] for one in results)),
    }


_OURS = """
import sys
from pathlib import Path
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
for name in Path(sys.argv[1]).read_text().split("\\n"):
    scan_source(ScanSource(name, Path(name).read_bytes().decode("utf-8", "replace")))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(__file__).parent.parent])
    parser.add_argument("--untuned", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for folder in options.folders:
        figures = scanned(folder) | beside_bandit(folder)
        if options.untuned:
            figures["untuned"] = untuned(folder)
        if options.json:
            print(json.dumps({folder.name: figures}), flush=True)
            continue
        print(folder.name)
        for key, value in figures.items():
            print(f"  {key}: {value:.1f}" if isinstance(value, float) else f"  {key}: {value}", flush=True)


if __name__ == "__main__":
    main()
