"""`mcl review`: a review is planned, signed, judged by the gate, walked and kept, and tells what it found."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from ir.errors import MclError
from mcl.compiler.execution import as_told
from mcl.core.errors import ReviewError
from mcl.core.event_loop import outside_loop
from mcl.core.home import open_home
from mcl.core.text import some
from mcl.language.skills import load_skill
from mcl.plugins.review.conclusion import finding_of
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.finding_text import NO_FINDINGS
from mcl.plugins.review.usecases.draft import PACK, DraftedReview, draft_review
from mcl.plugins.review.usecases.earlier import BLOCKED, found_before
from mcl.usecases.models import Models
from mcl.usecases.run import run

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.interfaces import Listener
    from mcl.model import Model


# ---- Which files changed while a review looked at them: its steps tell that some did.

CHANGED: Final = "CHANGED_MEANWHILE"
_NAMED: Final = 3
_MOST: Final = 10_000  # files that are looked at again
_LARGEST: Final = 1 << 20  # bytes of a file that is reviewed


def changed_meanwhile(root: Path, looked: Mapping[str, Any], since: str) -> str:
    """The names of files that are not as review/look saw them, a few of them and how many more; "" where none
    is known. Of a folder, whose files it does not tell the hashes of, those that were written since.

    looked: the output of review/look. since: when the review was made, ISO 8601.
    """
    began = datetime.fromisoformat(since).timestamp()
    found = []
    with closing(Workspace(root)) as workspace:
        for one in looked.get("files", ())[:_MOST]:
            try:
                if _differs(workspace, one, began):
                    found.append(str(one["path"]))
            except MclError:  # it is a link now, or may not be opened any more
                found.append(str(one["path"]))
    return some(found, _NAMED)


def _differs(workspace: Workspace, one: Mapping[str, Any], began: float) -> bool:
    """Raises ScopeError."""
    there = workspace.check(one["path"])
    if there is None:
        return True
    if "sha256" not in one:
        return there.st_mtime >= began
    data, size = workspace.read(one["path"], _LARGEST)
    return size > _LARGEST or hashlib.sha256(data).hexdigest() != one["sha256"]


_UNREAD = "A line of the review looks like a finding and cannot be read: "
_SHORT = "name a model with a context of 4,096 tokens or more: --model PATH"
_WITHOUT = {"--model": "ask another model: --model PATH", "--no-ai": "review by the rules alone: --no-ai"}


class ReviewDocument(BaseModel):
    """What became of a review, for programs. As it stands it is that of one that there was nothing for."""

    intent: str = ""
    state: str = "unchanged"
    exit: int = 0
    mode: str
    passes: str = ""
    whole: bool = True
    note: str = ""
    kind: str = "diff"
    base: str = ""
    files: list[str] = []
    skipped: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    dismissed: list[dict[str, Any]] = []
    blocking: bool = False
    unreadable: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    truncated: bool = False
    text: str
    failure: dict[str, Any] | None = None


@dataclass(frozen=True)
class ReviewRun:
    """What became of a review. Where it did not come to its end, findings, text and the rest are what was
    found before the step that failed, as a rule what the fixed rules found; empty where there is none.

    before: what review/conclude would tell of the steps that ended; {} where it told itself.
    """

    drafted: DraftedReview
    outcome: "Outcome"
    before: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Did it come to its end? Else what it found is not all that is to be told."""
        return self.outcome.state == "completed"

    @property
    def output(self) -> dict[str, Any]:
        """What the review came to, as review/conclude tells it; of one that did not end what it had found by
        then, {} where it had not come so far."""
        return self._given("conclude") or dict(self.before)

    @property
    def looked(self) -> dict[str, Any]:
        """What was looked at, as review/look tells it; {} where that failed."""
        return self._given("look")

    @cached_property
    def findings(self) -> tuple[ReviewFinding, ...]:
        """The findings, the worst first."""
        return tuple(map(finding_of, self.output.get("findings", ())))

    @cached_property
    def dismissed(self) -> tuple[tuple[ReviewFinding, str], ...]:
        """Findings that a person had dismissed, the worst first, each with why. They do not block."""
        return tuple((finding_of(one), str(one["why"])) for one in self.output.get("dismissed", ()))

    @property
    def blocking(self) -> bool:
        """Is there a finding that blocks, or a line that looks like one and could not be read?"""
        return bool(self.output.get("blocking"))

    @property
    def text(self) -> str:
        """The findings as text; `No findings.`; or what a model said that is no review. "" where a review
        that is not whole has found nothing."""
        return str(self.output.get("text", ""))

    @cached_property
    def maps_note(self) -> str:
        """Where the maps that the model was told of are old or cannot be read, and what to do; "" where there
        is nothing to say."""
        from mcl.plugins.review.usecases.maps import maps_note

        return maps_note(self.drafted.workspace, self._given("context"), self.looked)

    @property
    def exit(self) -> int:
        """Of the command line: 0 nothing blocks, 1 something does, else that of a run that did not end,
        whatever it had found."""
        return self.outcome.exit if self.outcome.exit else BLOCKED if self.blocking else 0

    def problem(self) -> ReviewError | None:
        """What went wrong, as it is told to a person; None where nothing did."""
        failure = self.outcome.failure
        if failure is None:
            return None
        message, fix = as_told(load_skill(PACK).file, failure)
        if failure.code == CHANGED and not self.drafted.asked.staged:  # of what is staged, files say nothing
            since = self.drafted.intent.created_at
            names = changed_meanwhile(self.drafted.workspace, self.looked, since)
            message = f"{message}; since then changed: {names}" if names else message
        asked = next((one for one, _ in self.drafted.plan.root.walk() if one.id == failure.node_id), None)
        if asked is not None and asked.step is not None:
            message = f"the model's step failed ({asked.description}): {message}"
            fix = _SHORT if failure.code == "MODEL_CONTEXT" else fix
            ways = (text for option, text in _WITHOUT.items() if option not in fix)
            fix = "; or ".join((*filter(None, (fix,)), *ways))
        return ReviewError(failure.code, message, place=str(self.drafted.workspace), fix=fix, exit=self.exit)

    def to_json(self) -> dict[str, object]:
        """All of it as a JSON object."""
        asked, looked, output = self.drafted.asked, self.looked, self.output
        failure, problem = self.outcome.failure, self.problem()
        told = {"message": problem.message, "fix": problem.fix} if problem else {}
        return ReviewDocument(
            intent=self.outcome.intent_id,
            state=self.outcome.state,
            exit=self.exit,
            mode=asked.mode,
            passes=asked.passes,
            whole=self.whole,
            note=self.drafted.note,
            kind=looked.get("kind", ""),
            base=looked.get("base", ""),
            files=looked.get("paths", []),
            skipped=looked.get("skipped", []),
            **{name: output.get(name, []) for name in ("findings", "dismissed", "unreadable")},
            blocking=self.blocking,
            counts=output.get("counts", {}),
            truncated=bool(output.get("truncated") or looked.get("truncated")),
            text=self.text,
            failure={**failure.to_json(), **told} if failure else None,
        ).model_dump()

    def to_sarif(self) -> dict[str, object]:
        """The findings as SARIF 2.1.0. A line that looks like one and could not be read is a result too: it
        blocks here, and so it must there."""
        from mcl.core.distribution import VERSION
        from mcl.plugins.review.sarif import to_sarif

        file = next(iter(self.looked.get("paths", ())), ".")
        unread = (
            ReviewFinding("RISK", file, 0, f"{_UNREAD}{one['text']}", "review/unreadable")
            for one in self.output.get("unreadable", ())
        )
        root = str(self.drafted.workspace.resolve())
        return to_sarif(
            (*self.findings, *unread),
            version=VERSION,
            root=root,
            failed=self.problem(),
            dismissed=self.dismissed,
        )

    def _given(self, node: str) -> dict[str, Any]:
        given = self.outcome.outputs.get(node)
        return dict(given) if isinstance(given, dict) else {}


def review_code(
    target: str = "",
    *,
    base: str = "",
    staged: bool = False,
    mode: str = "comment",
    deep: bool = False,
    ai: bool = True,
    model: "Path | Model | None" = None,
    workspace: Path | None = None,
    began: Callable[[DraftedReview], None] = lambda made: None,
    listener: "Listener | None" = None,
    home: Home | None = None,
) -> ReviewRun:
    """Review a file, a folder (with ``ai=False``), or what changed.

    The arguments are those of `draft_review`. began: called before the first step. listener: is told of every
    step. It is signed with the user's key and kept in the journal; nothing in the workspace is written. One
    that was interrupted goes on with `run(…, resume=True)`.

    Raises what `draft_review` raises; ReviewError with the gate's code; what accept and run raise.
    """
    outside_loop("review_code", plugin=True)
    home = home or open_home()
    if isinstance(model, Path):
        model = Models(home).named(model)
    made = draft_review(
        target,
        base=base,
        staged=staged,
        mode=mode,
        deep=deep,
        ai=ai,
        model=model,
        workspace=workspace,
        home=home,
    )
    made.passed(ReviewError)
    id = made.sign(home)
    began(made)
    outcome = run(id, workspace=made.workspace, listener=listener, model=model, ai=ai, home=home)
    return ReviewRun(made, outcome, found_before(home, made.workspace, made.plan, outcome.outputs))


# ---- What a review of a difference comes to in which nothing changed: nothing is signed or run.

NOTHING_CHANGED: Final = "NOTHING_CHANGED"


@dataclass(frozen=True)
class Unchanged:
    """The documents of a review that there was nothing for. why: what did not change, since when."""

    why: str
    mode: str
    workspace: Path
    text: str = NO_FINDINGS
    exit: int = 0

    def to_json(self) -> dict[str, object]:
        """The same names as a review's document; it is no intent, and no step was made."""
        return ReviewDocument(mode=self.mode, text=self.text, exit=self.exit).model_dump()

    def to_sarif(self) -> dict[str, object]:
        """SARIF 2.1.0 without a finding."""
        from mcl.core.distribution import VERSION
        from mcl.plugins.review.sarif import to_sarif

        return to_sarif((), version=VERSION, root=str(self.workspace.resolve()))
