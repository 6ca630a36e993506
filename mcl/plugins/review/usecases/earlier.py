"""An earlier review: its model, what it found, read again from the journal, and remembered of each file.

`RUNS` is what the kernel asks about runs of reviews (`mcl.usecases.runs.Runs`).
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.errors import UnresolvedError
from executor.gate.grants import workspace_of
from executor.gate.references import resolve
from executor.store.home import Home
from ir import Intent, PlanTree
from ir.errors import REFUSED, MclError
from mcl.compiler.tape import Unloaded
from mcl.core.errors import ModelError
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from executor import Outcome
    from mcl.model import Model
    from mcl.plugins.review.answer import Reviewing
    from mcl.plugins.review.finding import ReviewFinding
    from mcl.usecases.intents import Shown


def signed_model(
    home: Home, intent: Intent, model: "Path | Model | None", *, ai: bool
) -> "Callable[[], Model]":
    """What loads the model of a review's intent: the one given, else one that this home knows by its digest.

    Raises ModelError MODEL_MISSING (this home does not know it), MODEL_CHANGED (the one given is another),
    and what its file is refused with. Nothing has been run then, so the review can go on.
    """
    digest = next((one.value for one in intent.frame.objects if one.name == "model"), "")
    if model is None and ai:
        known = next((one for one in Models(home).list() if one.digest == digest), None)
        if known is None or known.path is None or known.fault:
            raise ModelError(
                "MODEL_MISSING",
                f"this home has no model with the sha256 {digest[:12]}, which the review was signed with",
                place=intent.id,
                fix=f"name its file: mcl run {intent.id} --resume --model PATH",
            )
        model = known.path
    asked = _opened(home, model, ai=ai)
    if asked.digest != digest:
        raise ModelError(
            "MODEL_CHANGED",
            f"the review was signed with the model {digest[:12]}, and this is {asked.digest[:12]}",
            place=intent.id,
            fix="name the file that it began with, or review again",
            exit=REFUSED,
        )
    return asked.load if isinstance(asked, Unloaded) else lambda: asked


def _opened(home: Home, model: "Path | Model | None", *, ai: bool) -> "Unloaded | Model":
    if model is None:
        return Models(home).open(ai=ai)
    return Models(home).unloaded(model) if isinstance(model, Path) else model


_SKILL: Final = "review-code"
_REVIEW: Final = f"matrix://skill/{_SKILL}@"
_LAST: Final = "conclude"
BLOCKED: Final = 1  # the exit code where something blocks


def concluded_before(home: Home, found: "Shown") -> dict[str, Any]:
    """What a review came to, as review/conclude told it: findings, blocking, counts, text and the rest, and
    whether that is whole: of a review that did not come to its end it is what was found before. {} of another
    intent, and of a review that did not come so far."""
    if not RUNS.fits(found):
        return {}
    from executor.walker.history import read_run_history

    outputs = read_run_history(home.journal.envelopes(found.id), found.view).outputs
    if isinstance(given := outputs.get(_LAST), dict):
        return {**given, "whole": True}
    assert found.plan is not None
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
    from mcl.plugins.review.memory.history import ReviewMemories

    try:
        with closing(workspace_of(home, workspace)) as opened:
            told = conclude(args, ReviewMemories(home, opened.root), _ROOM)
    except (MclError, KeyError):  # of two texts; or of a plan of another version
        return {}
    return told if told["findings"] or told["unreadable"] else {**told, "text": ""}


def _name(home: Home, digest: str) -> str:
    """What this home calls a model; of one that it does not know, the beginning of its digest."""
    known = (one.name for one in Models(home).list() if one.digest == digest)
    return next(known, digest[:12]) if digest else ""


def _whole(file: Mapping[str, Any]) -> bool:
    return bool(file["judged"] == file["total"])


# ---- Runs of reviews, as the kernel asks about them.

_UNFINISHED = "These are not all: the review did not come to its end."


class Reviews:
    """Plans that look at code."""

    def fits(self, found: "Shown") -> bool:
        """Is it a review? No goal is compiled to one; its contract says what a model is told."""
        compiled = found.intent is not None and found.intent.compile_metadata is not None
        return found.plan is not None and not compiled and found.plan.skill_ref.startswith(_REVIEW)

    def steps(self, home: Home, found: "Shown", model: "Path | Model | None", *, ai: bool) -> "Reviewing":
        """Its passes, asked of the model that it was signed with. Raises ModelError."""
        from mcl.plugins.review.answer import Reviewing
        from mcl.usecases.compile import open_model

        load: Callable[[], Model] = lambda: open_model(home, model, ai=ai)  # noqa: E731
        assert found.intent is not None
        assert found.plan is not None
        if any(node.step is not None for node, _ in found.plan.root.walk()):
            load = signed_model(home, found.intent, model, ai=ai)
        return Reviewing(load)

    def ended(self, home: Home, found: "Shown", outcome: "Outcome", workspace: Path) -> None:
        """Remember what was found in each file; nothing where the review did not come to its end.

        What was found in a part of a file is added to what its last review found, and a part in which nothing
        is found leaves it as it is: only a review of the whole file can say that something is gone. Of a
        folder, files are remembered that have findings or had some.
        """
        intent = found.intent
        assert intent is not None
        looked, ended = outcome.outputs.get("look"), outcome.outputs.get("conclude")
        if not isinstance(looked, dict) or not isinstance(ended, dict):
            return
        from mcl.plugins.review.conclusion import finding_of  # each run asks whether it is a review
        from mcl.plugins.review.finding import without_repeats
        from mcl.plugins.review.memory.history import ReviewMemories

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
            here = of.get(name, [])
            if here or (_whole(file) and (known.get(name) or not folder)):
                for before in () if _whole(file) else history.last(name, 1):
                    here = [*without_repeats([*here, *before.findings, *before.dismissed])]
                history.record(
                    name,
                    findings=here,
                    mode=slots["mode"],
                    model=model,
                    skill=_SKILL,
                    intent=intent.id,
                    at=home.clock.now(),
                    content=texts.get(name, ""),
                )

    def exit(self, outputs: Mapping[str, object]) -> int:
        """1 where something blocks."""
        given = outputs.get(_LAST)
        return BLOCKED if isinstance(given, Mapping) and given.get("blocking") else 0

    def said(self, home: Home, found: "Shown") -> tuple[dict[str, Any], str]:
        review = concluded_before(home, found)
        if not review:
            return {}, ""
        text = str(review.get("text", ""))
        whole = (text,) if review["whole"] else (text, _UNFINISHED)
        return {"review": review}, "\n\n".join(filter(None, whole))


RUNS = Reviews()
