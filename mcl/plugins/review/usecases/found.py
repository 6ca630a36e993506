"""What an earlier review found, read again from the journal, and remembered of each file."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.errors import UnresolvedError
from executor.gate.references import resolve
from executor.gate.workspaces import workspace_of
from executor.store.home import Home
from ir import Intent, PlanTree
from ir.errors import MclError
from mcl.plugins.review.conclusion import finding_of
from mcl.plugins.review.findings import without_repeats
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from executor.walker import Outcome
    from mcl.plugins.review.findings import ReviewFinding
    from mcl.usecases.intents import Shown

_REVIEW: Final = "matrix://skill/review-code@"
_LAST: Final = "conclude"
BLOCKED: Final = 1  # the exit code where something blocks


def is_review(found: "Shown") -> bool:
    """Is the plan that of a review, which no goal is compiled to? Its contract says what a model is told."""
    compiled = found.intent is not None and found.intent.compile_metadata is not None
    return found.plan is not None and not compiled and found.plan.skill_ref.startswith(_REVIEW)


def review_exit(outputs: Mapping[str, object]) -> int:
    """The exit code of a review's run that came to its end: 1 where something blocks."""
    given = outputs.get(_LAST)
    return BLOCKED if isinstance(given, Mapping) and given.get("blocking") else 0


def concluded_before(home: Home, found: "Shown") -> dict[str, Any]:
    """What a review came to, as review/conclude told it: findings, blocking, counts, text and the rest, and
    whether that is whole: of a review that did not come to its end it is what was found before. {} of another
    intent, and of a review that did not come so far."""
    if not is_review(found):
        return {}
    from executor.walker.history import read_run_history

    outputs = read_run_history(home.journal.envelopes(found.id), found.view).outputs
    if isinstance(given := outputs.get(_LAST), dict):
        return {**given, "whole": True}
    if found.plan is None:
        return {}

    before = found_before(home, Path.cwd(), found.plan, outputs)
    return {**before, "whole": False} if before else {}


# ---- What a review has found that did not come to its end: the steps before the one that failed are
# recorded.

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
    from mcl.plugins.review.conclusion import conclude
    from mcl.plugins.review.memory import ReviewMemories

    try:
        with closing(workspace_of(home, workspace)) as opened:
            told = conclude(args, ReviewMemories(home, opened.root), _ROOM)
    except (MclError, KeyError):  # of two texts; or of a plan of another version
        return {}
    return told if told["findings"] or told["unreadable"] else {**told, "text": ""}


# ---- What a review found, remembered of each file when its run has ended.

SKILL: Final = "review-code"


def keep_review(home: Home, intent: Intent, outcome: "Outcome", workspace: Path) -> None:
    """Remember what a review found in each file; nothing where it did not end.

    What was found in a part of a file is added to what its last review found, and a part in which nothing is
    found leaves it as it is: only a review of the whole file can say that something is gone. Of a folder,
    files are remembered that have findings or had some.
    """
    looked, ended = outcome.outputs.get("look"), outcome.outputs.get("conclude")
    if not isinstance(looked, dict) or not isinstance(ended, dict):
        return
    from mcl.plugins.review.memory import ReviewMemories

    history = ReviewMemories(home, workspace).history
    of: dict[str, list[ReviewFinding]] = {}
    for one in map(finding_of, (*ended["findings"], *ended.get("dismissed", ()))):
        of.setdefault(one.file, []).append(one)
    texts = {one["path"]: one["text"] for one in looked.get("pieces", ())}
    folder = looked["kind"] == "folder"
    known = {one.file: one.total + len(one.dismissed) for one in history.files()} if folder else {}
    slots = {one.name: one.value for one in intent.frame.objects}
    model = _name(home, slots.get("model", ""))
    for file in looked["files"]:
        name = file["path"]
        found = of.get(name, [])
        if found or (_whole(file) and (known.get(name) or not folder)):
            for before in () if _whole(file) else history.last(name, 1):
                found = [*without_repeats([*found, *before.findings, *before.dismissed])]
            history.record(
                name,
                findings=found,
                mode=slots["mode"],
                model=model,
                skill=SKILL,
                intent=intent.id,
                at=home.clock.now(),
                content=texts.get(name, ""),
            )


def _name(home: Home, digest: str) -> str:
    """What this home calls a model; of one that it does not know, the beginning of its digest."""
    known = (one.name for one in Models(home).list() if one.digest == digest)
    return next(known, digest[:12]) if digest else ""


def _whole(file: Mapping[str, Any]) -> bool:
    return bool(file["judged"] == file["total"])
