"""What is remembered of a folder, or made of it, and is not so any more: decisions and maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.core.errors import ScopeError
from mcl.core.errors import ReviewError
from mcl.plugins.review.drift.rules import Flaw, drift_rules
from mcl.plugins.review.drift.tree import Tree

if TYPE_CHECKING:
    from mcl.plugins.review.memory import Memories

_CODES: Final = {
    "new": "DECISION_UNKNOWN",
    "changed": "DECISION_DIFFERS",
    "missing": "DECISION_GONE",
    "forgotten": "DECISION_FORGOTTEN",
    "unreadable": "DECISION_BROKEN",
}
_NAMED: Final = 3  # files that are named
_STANDING: Final = ("proposed", "accepted")


def decision_flaws(tree: Tree, memories: Memories) -> Iterator[Flaw]:
    """Decisions whose file and memory differ, or which are about files that are gone."""
    from executor.core.globs import Glob

    rules = drift_rules()
    messages = {
        "new": "{id} is in a file and not remembered",
        "changed": "file and memory differ: {why}",
        "missing": "{id} is remembered, and its file is gone",
        "forgotten": "{id} was forgotten, and its file is there",
        "unreadable": "{why}",
    }
    for one in memories.decisions.compare(tree.workspace):
        yield rules.flaw(_CODES[one.what], one.path, messages[one.what].format(id=one.id, why=one.why))
    for decision in memories.decisions.all():
        if decision.status not in _STANDING:
            continue
        for pattern in decision.files:
            glob = Glob.read(pattern)
            if not any(glob.matches(path) for path in tree.files):
                said = f"{decision.id} is about {pattern}, and no file is called that"
                yield rules.flaw("DECISION_FILES", decision.path, said)


def map_flaws(tree: Tree, cache: Path) -> Iterator[Flaw]:
    """Maps that are not of the files as they are. cache: as for ``mcl.plugins.review.maps.build``."""
    from mcl.plugins.review.maps import load, stale
    from mcl.plugins.review.maps.maps import FOLDER

    rules = drift_rules()
    try:
        maps = load(tree.workspace)
    except (ReviewError, ScopeError) as problem:
        yield rules.flaw("MAPS_BROKEN", problem.place, problem.message, fix=problem.fix)
        return
    if maps is None:
        return
    old = stale(tree.workspace, maps, cache=cache)
    if old:
        counted = Counter(one.why for one in old if one.path)
        names = [one.path for one in old if one.path]
        said = [one.why for one in old if not one.path]
        if names:
            first = f"{', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}"
            said.append(f"files: {', '.join(f'{n:,} {why}' for why, n in counted.items())} ({first})")
        yield rules.flaw("MAPS_STALE", FOLDER, "; ".join(said))
