"""What a review has found that did not come to its end: the steps before the one that failed are recorded."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from executor.core.errors import UnresolvedError
from executor.gate.known import workspace_of
from executor.gate.references import resolve
from executor.store.home import Home
from ir import PlanTree
from ir.errors import MclError

_LAST: Final = "conclude"
_RULES: Final = "scan"
_ROOM: Final = 1 << 20  # bytes, as an answer of the tool


def found_before(
    home: Home, workspace: Path, plan: PlanTree, outputs: Mapping[str, object]
) -> dict[str, Any]:
    """What review/conclude would tell of the steps that ended, in its form; {} of a review that came to its
    end, or in which the rules did not, or where files changed between its steps. Its text is "" where nothing
    was found by then: nobody knows whether there is something.

    plan: the review's. outputs: what each completed node gave. The journal says what was done; this is a view
    of it, and nothing is recorded.
    """
    last = next((node for node, _ in plan.root.walk() if node.id == _LAST), None)
    if last is None or last.tool_call is None or _LAST in outputs or _RULES not in outputs:
        return {}
    args: dict[str, object] = {}
    for name, text in last.tool_call.args.items():
        try:
            args[name] = resolve(text, outputs)
        except UnresolvedError:  # of the step that failed, or of one after it
            continue
    from mcl.plugins.review.concluding import conclude
    from mcl.plugins.review.memory import Memories

    try:
        with closing(workspace_of(home, workspace)) as opened:
            told = conclude(args, Memories(home, opened.root), _ROOM)
    except (MclError, KeyError):  # of two texts; or of a plan of another version
        return {}
    return told if told["findings"] or told["unreadable"] else {**told, "text": ""}
