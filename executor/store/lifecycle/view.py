"""What the envelopes of one intent add up to, and which kinds of envelope may follow in which state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar

from ir import ClarifyQuestion, Envelope, Intent, IntentAnswerBody, IntentDraftBody, PlanNode, PlanTree
from ir.schedule import Schedule

# ---- Which event is legal in which state of an intent, as data.


NEW: Final = "new"  # before the first event; every other state is one of ir's
TERMINAL: Final = frozenset({"completed", "failed", "cancelled"})

# state -> event -> the states it may lead to; events.EFFECTS says what else must hold, and which it is.
TABLE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    NEW: {
        "intent.draft": ("draft",),
        "intent.dispatch": ("accepted",),  # a firing of a schedule, whose accept is that of the schedule
    },
    "draft": {
        "intent.compiled": ("proposed",),
        "intent.clarify": ("clarifying",),
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "clarifying": {
        "intent.answer": ("clarifying",),
        "intent.compiled": ("proposed",),  # once answered
        "intent.clarify": ("clarifying",),  # once answered, at most MAX_ROUNDS in all
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "proposed": {
        "plan.proposed": ("proposed",),
        "plan.step": ("proposed",),  # only the end of a node that was running when a correction came
        "intent.compiled": ("proposed",),  # only after a correction that asks for a new accept
        "intent.accept": ("accepted",),
        "intent.correct": ("proposed",),
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "accepted": {
        "plan.step": ("executing", "accepted"),  # the walk starts; or a node of the corrected one ends
        "intent.correct": ("accepted", "proposed"),  # proposed where it is material: needs a new accept
        "policy.gate": ("accepted",),
        "policy.gate.resolve": ("accepted",),
        "intent.dispatch": ("accepted",),  # only of a schedule: it is fired
        "intent.attest": ("completed", "failed"),  # only without a plan: the work was done elsewhere
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "executing": {
        "plan.step": ("executing",),
        "plan.output": ("executing",),
        "policy.gate": ("executing",),
        "policy.gate.resolve": ("executing",),
        "intent.dispatch": ("executing",),
        "intent.correct": ("executing", "proposed"),  # proposed where it is material: needs a new accept
        "intent.attest": ("completed", "failed"),
        "intent.fail": ("failed",),
        "intent.cancel": ("cancelled",),
    },
    "completed": {},
    "failed": {
        "intent.correct": ("proposed",),  # only where a run had begun: it goes on after a new accept
    },
    "cancelled": {
        "plan.step": ("cancelled",),  # only the end of a node that was running: what happened, happened
    },
}


# ---- What a person can do with an intent next, by its state: the way out of every act that is not its
# turn.

_NEXT: Final[Mapping[str, str]] = {
    NEW: 'state the goal: mcl compile "GOAL"',
    "draft": 'its compile was interrupted: mcl cancel {id}, and state the goal again: mcl compile "GOAL"',
    "clarifying": "answer its questions: mcl answer {id}",
    "proposed": "read it and sign it: mcl accept {id}",
    "accepted": "run it: mcl run {id}",
    "executing": "go on with its run: mcl run {id} --resume",
}
_ENDED: Final = 'it has ended (mcl show {id}); state the goal again: mcl compile "GOAL"'


def way_on(state: str, intent: str) -> str:
    """What is legal for an intent in this state, as a command; intent: its id or address."""
    said = _ENDED if state in TERMINAL else _NEXT[state]
    return said.format(id=intent.rpartition("/")[2])


# ---- A map that is never changed, whose next version costs no copy of it.


K = TypeVar("K")
V = TypeVar("V")
_ABSENT: Final = object()


class PersistentMap(Mapping[K, V]):
    """An immutable map; `having` gives another with one entry more or changed, in constant time.

    The newest version holds the dict, and an older one what to undo in it: whoever looks into an older one
    pays a copy, once (Baker 1991, "Shallow binding makes functional arrays fast"). A walk of ten thousand
    nodes makes twenty thousand versions and looks at the newest only: 0.1 s, where copies of a dict take 3 s;
    of a thousand nodes either takes less than 0.05 s. Threads may share versions.
    """

    __slots__ = ("_data", "_lock", "_newer", "_undo")

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._data: dict[K, V] | None = dict(items or {})
        self._lock = Lock()  # shared by all versions of one dict
        self._newer: PersistentMap[K, V] | None = None
        self._undo: tuple[K, object] | None = None

    def having(self, key: K, value: V) -> PersistentMap[K, V]:
        """The map with this entry too; this one stays as it is."""
        newer: PersistentMap[K, V] = PersistentMap.__new__(PersistentMap)
        newer._newer, newer._undo, newer._lock = None, None, self._lock
        with self._lock:
            newer._data = data = self._own()
            # In this order an interruption between any two of them leaves this version as it was.
            self._undo, self._newer = (key, data.get(key, _ABSENT)), newer
            self._data = None
            data[key] = value
        return newer

    def _own(self) -> dict[K, V]:
        """The dict of exactly this version: a copy, where a newer version has taken it."""
        if self._data is not None:
            return self._data
        changes = []
        version = self
        while version._data is None:
            assert version._undo is not None, "a version without a dict knows its next"
            assert version._newer is not None, "a version without a dict knows its next"
            changes.append(version._undo)
            version = version._newer
        data = dict(version._data)
        for key, before in reversed(changes):
            if before is _ABSENT:
                data.pop(key, None)
            else:
                data[key] = before  # type: ignore[assignment]  # it was a value of this map
        self._data, self._newer, self._undo = data, None, None
        return data

    def __getitem__(self, key: K) -> V:
        with self._lock:
            return self._own()[key]

    def __iter__(self) -> Iterator[K]:
        with self._lock:  # a copy, which can be gone through while newer versions are made
            return iter(list(self._own()))

    def __reversed__(self) -> Iterator[K]:
        return reversed(list(self))

    def __len__(self) -> int:
        with self._lock:
            return len(self._own())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


def having(items: Mapping[K, V], key: K, value: V) -> PersistentMap[K, V]:
    """Any map, with this entry too."""
    return (items if isinstance(items, PersistentMap) else PersistentMap(items)).having(key, value)


# ---- What the envelopes of one intent add up to.


@dataclass(frozen=True)
class GateState:
    """A question to a person. `decision` is empty while it is open; `by`, `at`: who signed it, and when.
    rule: why it was asked. refuses: those of its options that do. unseen: nobody looked when signing it."""

    options: tuple[str, ...]
    expires_at: str
    node_id: str = ""
    decision: str = ""
    answer: str = ""
    by: str = ""
    at: str = ""
    rule: str = ""
    refuses: tuple[str, ...] = ()
    reason: str = ""
    unseen: bool = False

    @property
    def why(self) -> str:
        """Why it was decided so; rows from before reasons had a place of their own say it as the answer."""
        return self.reason or (self.answer if self.answer != self.decision else "")


@dataclass(frozen=True)
class Firing:
    """One firing of a schedule. child: ULID; due: the local moment; at: when it was; cause: of a file."""

    child: str
    due: str
    at: str
    cause: str
    intent_hash: str
    plan_hash: str


@dataclass(frozen=True)
class View:
    """What the envelopes of one intent add up to. Empty texts, None and () where there is nothing yet.

    questions: those of the last clarify that are not answered. gates: id of the policy.gate envelope -> its
    state. reason: why it failed or was cancelled. nodes: node id -> last status in the run of the accepted
    plan; a new accept after a correction keeps those of nodes that are what they were.

    intent and plan are as corrected; base_intent and base_plan as they were last accepted. After a correction
    that needs a new accept, walked is the plan that the nodes are of, and retry_from what it says. again:
    nodes whose end does not count, because a correction has them run once more; restarts: how often it did.
    unseen: kind and id of each envelope of a user that says that nobody looked when it was signed.

    schedule: where it was accepted to run again and again, the scope of that; accept_id: the envelope.
    firings: by the ULID of the child, with the last one and the calls that they may use. Of a child, under:
    the scope of the schedule, and fired_by: its ULID.
    """

    state: str = NEW
    draft: IntentDraftBody | None = None
    drafted_by: str = ""
    intent: Intent | None = None
    intent_hash: str = ""
    plan: PlanTree | None = None
    plan_hash: str = ""
    questions: tuple[ClarifyQuestion, ...] = ()
    clarify_id: str = ""
    rounds: int = 0
    answers: tuple[IntentAnswerBody, ...] = ()
    accepted_hash: str = ""
    accepted_plan_hash: str = ""
    accepted_by: str = ""
    nodes: Mapping[str, str] = field(default_factory=PersistentMap)
    gates: Mapping[str, GateState] = field(default_factory=PersistentMap)
    corrections: tuple[Envelope, ...] = ()
    base_intent: Intent | None = None
    base_plan: PlanTree | None = None
    walked: PlanTree | None = None
    retry_from: str = ""
    again: frozenset[str] = frozenset()
    restarts: int = 0
    outcome: str = ""
    reason: str = ""
    last_id: str = ""
    unseen: tuple[tuple[str, str], ...] = ()
    schedule: Schedule | None = None
    accept_id: str = ""
    firings: Mapping[str, Firing] = field(default_factory=PersistentMap)
    last_firing: Firing | None = None
    calls_given: int = 0
    under: Schedule | None = None
    fired_by: str = ""

    def having(self, changes: Mapping[str, Any]) -> View:
        """The view with these fields changed. (dataclasses.replace would take each field in its hand.)"""
        changed = object.__new__(View)
        changed.__dict__.update(self.__dict__)
        changed.__dict__.update(changes)
        return changed

    @property
    def terminal(self) -> bool:
        """Whether it has ended: nothing happens any more, unless a person corrects a run that failed."""
        return self.state in TERMINAL

    @property
    def begun(self) -> bool:
        """Whether any run of it has begun."""
        return bool(self.nodes or self.restarts or self.walked is not None)

    @property
    def marks(self) -> Mapping[str, object]:
        """What goes into all that is told of this intent's end: what was signed `unseen`, if anything."""
        return {"unseen": [{"kind": kind, "id": id} for kind, id in self.unseen]} if self.unseen else {}

    def legal(self) -> tuple[str, ...]:
        """The kinds that the table allows now, sorted."""
        return tuple(sorted(TABLE[self.state]))


def has_ended(node: PlanNode, states: Mapping[str, str]) -> bool:
    """Whether a node has completed, or what it was to be done under did not hold."""
    state = states.get(node.id)
    return state == "completed" or (state == "skipped" and node.when is not None)


def intent_id(uri: str) -> str:
    """The ULID of `matrix://intent/<ulid>`; a bare id is given back as it is."""
    return uri.rpartition("/")[2]
