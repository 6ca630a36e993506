"""`mcl why`: what a goal was decided by, and what memory gave to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home
from mcl.core.home import open_home
from mcl.usecases.goal_corrections import goal_changes, model_of
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, read_view

if TYPE_CHECKING:
    from mcl.compiler.outcome import CompileReasons
    from mcl.model import Model

_MEMORY: Final = "matrix://cortex/"


@dataclass(frozen=True)
class WhyReport:
    """Of one intent. reasons: its choices, readings and limits; memories: address and summary of what was
    used of the memory; same: False where skills or models changed since, and the goal would be read otherwise
    now."""

    intent_id: str
    prose: str
    reasons: CompileReasons | None
    memories: tuple[tuple[str, str], ...] = ()
    same: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "intent": self.intent_id,
            "prose": self.prose,
            "why": self.reasons.document() if self.reasons is not None else None,
            "memories": [{"uri": uri, "summary": summary} for uri, summary in self.memories],
            "same": self.same,
        }


def why(
    intent: str,
    *,
    model: Path | Model | None = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home | None = None,
) -> WhyReport:
    """What the goal of an intent was decided by: it is compiled once more, with its answers and corrections,
    the memories of then and the model that read it. Nothing is stored.

    model, ai: read it with this one instead. Raises InputError, NOT_COMPILED among it; SkillError,
    ModelError, MemoryStoreError where what it was compiled with is gone.
    """
    from mcl.compiler.recompilation import reasons_again  # heavy

    home = home or open_home()
    id = find_intent(home, intent)
    view = read_view(home, id)
    reasons, same = reasons_again(
        id,
        view,
        goal_changes(view),
        at=home.journal.rows(id, limit=1)[0].at,
        home=home,
        skills=installed(home.path, skills),
        model=model_of(home, view.intent, model, ai=ai),
    )
    used = view.intent.references if view.intent is not None else ()
    memories = tuple((one.uri, one.summary) for one in used if one.uri.startswith(_MEMORY))
    return WhyReport(id, view.draft.prose if view.draft else "", reasons, memories, same)
