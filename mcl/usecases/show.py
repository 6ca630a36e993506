"""What the journal says about one intent, and about all."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from executor import Home, JournalError, LifecycleError, View
from executor.walker.earlier import read_earlier
from ir import ClarifyQuestion, Intent, PlanTree
from ir.errors import MclError
from mcl.core.home import open_home
from mcl.usecases.ids import find_intent


@dataclass(frozen=True)
class Shown:
    """One intent as it is now.

    `intent` and `plan` are None until they are compiled; `reason`: why it ended; `outputs`: what the nodes of
    its runs gave, by their ids.
    """

    id: str
    state: str
    prose: str
    intent: Intent | None
    plan: PlanTree | None
    questions: tuple[ClarifyQuestion, ...]
    accepted_by: str
    reason: str
    view: View
    outputs: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """One line of a list.

    `flaw` is the code of what is wrong where the rows of the intent cannot be believed.
    """

    id: str
    state: str
    at: str
    verb: str
    prose: str
    flaw: str = ""


def show(intent: str, *, home: Home | None = None) -> Shown:
    """One intent, read from its signed rows.

    intent: an id, a unique beginning of one, or @last. Raises InputError, EnvelopeError, LifecycleError.
    """
    home = home or open_home()
    return shown(home, find_intent(home, intent))


def shown(home: Home, id: str) -> Shown:
    """The same for an id that is known to be one."""
    view = read_view(home, id)
    outputs = read_earlier(home.journal.envelopes(id), view).outputs if view.nodes else {}
    return Shown(
        id=id,
        state=view.state,
        prose=view.draft.prose if view.draft else "",
        intent=view.intent,
        plan=view.plan,
        questions=view.questions,
        accepted_by=view.accepted_by,
        reason=view.reason,
        view=view,
        outputs=outputs,
    )


def read_view(home: Home, id: str, *, fresh: bool = False) -> View:
    """What the rows of an intent add up to.

    Raises JournalError, EnvelopeError where they cannot be believed (exit 6).
    """
    try:
        return home.journal.view(id, fresh=fresh)
    except LifecycleError as error:  # what is stored cannot have happened: not a refusal of what is asked now
        raise JournalError(
            error.code,
            f"the journal does not hold: {error.message}",
            place=id,
            fix="mcl log verify tells all",
            data=error.data,
        ) from error


def list_intents(*, home: Home | None = None, limit: int = 50) -> tuple[Summary, ...]:
    """The intents of a home, the one last written about first; `limit` 0: all."""
    home = home or open_home()
    ids = home.journal.intents()
    return tuple(_summary(home, id) for id in (ids[:limit] if limit else ids))


def _summary(home: Home, id: str) -> Summary:
    first = home.journal.rows(id, limit=1)[0]
    try:
        found = read_view(home, id)
    except MclError as error:  # one broken story must not hide the others
        return Summary(id, "", first.at, "", "", flaw=error.code)
    prose = found.draft.prose if found.draft else ""
    return Summary(id, found.state, first.at, found.intent.frame.verb if found.intent else "", prose)
