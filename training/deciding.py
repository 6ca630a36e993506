"""When to compile, to mark for review and to ask: what costs least on development goals.

python -m training.deciding [--model FILE]

Costs are in costs.toml: of a wrong Intent that nobody was told to look at, of one that was
marked, of a question, of reading what is marked. The two thresholds of its procedure are what this prints.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcl.model.loader import load_model
from training import compiled_goals
from training.compiled_goals import GoalVerdict

COSTS = Path(__file__).parent / "costs.toml"
STEPS = tuple(round(0.02 * i, 2) for i in range(1, 50))


def costs() -> dict[str, float]:
    """What each mistake costs, by its name."""
    found: dict[str, float] = tomllib.loads(COSTS.read_text(encoding="utf-8"))
    return found


def cost(rows: Sequence[GoalVerdict], ask: float, read: float, price: Mapping[str, float]) -> float:
    """The mean cost of a goal where parts below `ask` are asked about and all below `read` is marked."""
    total = 0.0
    for one in rows:
        if one.outcome == "refused":
            continue
        if one.blocked or one.least < ask:
            total += price["question"]
        elif one.confidence < read:
            total += price["reading"] + (0.0 if one.essential else price["marked"])
        else:
            total += 0.0 if one.essential else price["wrong"]
    return total / max(1, len(rows))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = load_model(given.model, home_path=Path(folder))
        found = compiled_goals.measured(model, "development", None)
    meant = [one for rows in found.values() for one in rows if one.meant]
    price = costs()
    print(price)
    ranked = sorted((cost(meant, ask, read, price), ask, read) for ask in STEPS for read in STEPS)
    for value, ask, read in ranked[:10]:
        asked = sum(one.blocked or one.least < ask for one in meant if one.outcome != "refused")
        print(f"ask below {ask:.2f}, mark below {read:.2f}: cost {value:.3f}, asked {asked / len(meant):.1%}")


if __name__ == "__main__":
    main()
