"""How often a model finds a planted defect, and how often it finds one where there is none.

    python -m benchmarks.marks [--model PATH] [--part fit|held] [--json]

`review_pairs.toml` has pieces of code with a planted defect, each with its clean twin; half of them ("fit")
may be fitted to, the others ("held") tell figures. Without --model the bundled model is asked, which only
chooses: the threshold of its marks (marks.toml of the passes) is fitted again and told. A model that
writes is asked as in a review: it counts where it finds anything in the planted piece, or in the clean one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcl.model import Choice, Model, load_model
from mcl.model.protocol import Writer
from mcl.plugins.review.answer import answered, candidates, is_marked, marking
from mcl.plugins.review.contract import contract
from mcl.plugins.review.finding_text import read_findings
from mcl.plugins.review.piece import piece_of
from mcl.plugins.review.question import ReviewQuestion, the_pass

PARTS, KINDS = ("fit", "held"), ("planted", "clean")
_PAIRS = Path(__file__).with_name("review_pairs.toml")
_STEPS = [step / 20 for step in range(21)]
_FEWEST = 4
_RIGHT = 0.75  # of the marks on the fitting half that must be planted defects


def pairs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(_PAIRS.read_text("utf-8"))["pair"]
    return found


def question(pair: dict[str, Any], kind: str) -> ReviewQuestion:
    piece = piece_of(pair["path"], pair[kind].lstrip("\n").encode())
    assert piece is not None
    return ReviewQuestion(contract(pair["mode"]), the_pass("review"), (piece,))


def choices(model: Model, part: str) -> list[tuple[str, Choice]]:
    """Of each piece whether it is planted or clean, and what a model that chooses makes of it."""
    return [
        (kind, model.choose(pair[kind].strip("\n"), candidates(contract(pair["mode"]))))
        for pair in pairs()
        if pair["part"] == part
        for kind in KINDS
    ]


def marks(found: list[tuple[str, Choice]], threshold: float) -> dict[str, int]:
    """How many pieces of each kind are marked."""
    return {kind: sum(is_marked(one, threshold) for of, one in found if of == kind) for kind in KINDS}


def fitted(found: list[tuple[str, Choice]]) -> float:
    """The lowest step from which marks are planted defects often enough, at it and at all above."""
    best = 1.0
    for step in reversed(_STEPS):
        of = marks(found, step)
        if sum(of.values()) < _FEWEST:  # one mark that happens to be right says nothing
            continue
        if of["planted"] < _RIGHT * sum(of.values()):
            break
        best = step
    return best


def order(found: list[tuple[str, Choice]]) -> float:
    """How often a planted piece looks more like some label than a clean one does: 0.5 is chance."""
    share = {kind: [1 - dict(one.probabilities)[""] for of, one in found if of == kind] for kind in KINDS}
    wins = [(a > b) + (a == b) / 2 for a in share["planted"] for b in share["clean"]]
    return sum(wins) / len(wins)


def chosen(model: Model) -> dict[str, Any]:
    found = {part: choices(model, part) for part in PARTS}
    threshold = fitted(found["fit"])
    return {
        "model": model.version,
        "pairs": {part: len(found[part]) // 2 for part in PARTS},
        "chance is 0.5": {part: round(order(found[part]), 2) for part in PARTS},
        "any choice": {part: marks(found[part], 0.0) for part in PARTS},
        "fitted": threshold,
        "marked": {part: marks(found[part], threshold) for part in PARTS},
        "in use": marking().threshold,
    }


def told(model: Model, parts: Sequence[str]) -> dict[str, Any]:
    """What a model that writes finds. blocking: pieces with a finding that blocks. told apart:
    planted pieces that it finds something in, and nothing in their twin."""
    found = dict.fromkeys(KINDS, 0)
    blocking, unreadable = dict(found), 0
    told_apart = 0
    rows = [pair for pair in pairs() if pair["part"] in parts]
    for pair in rows:
        some = {}
        for kind in KINDS:
            reading = read_findings(answered(model, question(pair, kind)))
            some[kind] = bool(reading.findings)
            found[kind] += some[kind]
            blocking[kind] += reading.blocking
            unreadable += len(reading.unreadable)
        told_apart += some["planted"] and not some["clean"]
    return {
        "model": model.version,
        "pairs": len(rows),
        "found": found,
        "told apart": told_apart,
        "blocking": blocking,
        "unreadable": unreadable,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--part", choices=PARTS, help="of a model that writes: the other half is not asked")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = load_model(given.model, home_path=None)
    began = time.perf_counter()
    figures = (
        told(model, [given.part] if given.part else PARTS) if isinstance(model, Writer) else chosen(model)
    )
    figures["seconds"] = round(time.perf_counter() - began, 1)
    figures["pairs file"] = hashlib.sha256(_PAIRS.read_bytes()).hexdigest()[:12]
    if given.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
