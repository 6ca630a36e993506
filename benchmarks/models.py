"""Models side by side: what the whole compile makes of the same development goals, and how long it takes.

python -m benchmarks.models [--goals 300] [MODEL.gguf ...]

The bundled model and the matcher come first. Goals are drawn with a fixed seed, the same for each model; a
model is loaded, and has read the skills once, before its time begins.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from mcl.model.loader import load_model
from mcl.model.matcher import PatternMatcher
from mcl.model.protocol import Model
from training.compiled_goals import figures, measured

SHOWN = ("verb", "constraints F1", "all right", "asked", "lost", "wrong and not marked", "wrong but marked")


def row(name: str, model: Model, goals: int) -> str:
    """One line of the table, in Markdown."""
    measured(model, "development", None, 1)
    began = time.perf_counter()
    found = [one for rows in measured(model, "development", None, goals).values() for one in rows]
    spent = 1000 * (time.perf_counter() - began) / max(1, len(found))
    told = figures(found)
    cells = [str(told[key]) for key in (*SHOWN, "invented")]
    return f"| {name} | {len(found)} | {' | '.join(cells)} | {spent:.0f} |"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", type=Path, nargs="*", help="GGUFs beside the bundled one")
    parser.add_argument("--goals", type=int, default=300, help="how many goals (300)")
    given = parser.parse_args()
    head = ("model", "goals", *SHOWN, "invented", "ms a goal")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    print(row("the matcher", PatternMatcher(), given.goals), flush=True)
    for path in (None, *given.models):
        with tempfile.TemporaryDirectory() as folder:
            model = load_model(path, home_path=Path(folder))
            print(row(path.stem if path else "the bundled model", model, given.goals), flush=True)


if __name__ == "__main__":
    main()
