"""The criteria of a piece of work as they stand: looked at where a program can, else put to a person."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from executor.gate.approvals import APPROVE, DENY
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.lifecycle.view import GateState, View
from executor.walker.predicates import Criterion
from ir import Intent, PolicyGateBody, PolicyGateResolveBody, Predicate, SignedOffPredicate
from mcl.plugins.agents.work.item import CRITERION, WorkItem, in_words

SIGN_OFF: Final = "matrix://rule/sign-off"
WHOLE: Final = "success"  # node of the question about work that names no criterion


@dataclass(frozen=True)
class SignOff:
    """A question to the person: is this criterion met? label, name: of the work. agent: which proposed that
    the work is done; notes: how it says that it saw to it, which nobody has checked. gate: its id."""

    label: str
    name: str
    criterion: str
    agent: str
    notes: str
    gate: str


Ask = Callable[[SignOff], bool | None]


@dataclass(frozen=True)
class Looked:
    """One criterion as it stands.

    holds: whether it is met; why: where it is not. person: whether only a person can say. by: the did whose
    word alone counts then ("": that of any user of this home). node, gate: what the question to the person
    is asked about, and its id ("": there is none).
    """

    criterion: str
    holds: bool
    person: bool
    why: str = ""
    by: str = ""
    node: str = ""
    gate: str = ""
    found: Criterion | None = None

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        said: dict[str, object] = {"criterion": self.criterion, "holds": self.holds, "person": self.person}
        said |= {"reason": self.why} if self.why else {}
        return {**said, "gate": self.gate} if self.gate else said


def looked_at(home: Home, root: Path, item: WorkItem, intent: Intent, view: View) -> Iterator[Looked]:
    """Each criterion as it stands, before anybody is asked."""
    if not item.predicates:
        yield _signed(WHOLE, f"{item.name} is done", view, "")
    for place, predicate in enumerate(item.predicates):
        words = in_words(predicate)
        if (by := _signer(predicate, view)) is not None:
            yield _signed(_node(place), words, view, by)
        else:
            from mcl.plugins.agents.work.looking import look

            found = look(home, root, intent, place, predicate)
            yield Looked(words, found.holds, person=False, why=found.reason, found=found)


def _signer(predicate: Predicate, view: View) -> str | None:
    """Of a criterion that a person signs off, the did whose word counts ("": any user of this home); None
    where a program can look."""
    if isinstance(predicate, SignedOffPredicate):
        return predicate.by.removeprefix("matrix://user/") or view.accepted_by
    return "" if predicate.type == CRITERION else None


def _signed(node: str, words: str, view: View, by: str) -> Looked:
    """A criterion for a person, with the last question about it."""
    asked = [(id, gate) for id, gate in view.gates.items() if gate.node_id == node]
    for id, gate in reversed(asked):
        if gate.decision == APPROVE and by in ("", gate.by):
            return Looked(words, True, person=True, by=by, node=node, gate=id)
    id, gate = asked[-1] if asked else ("", GateState((), ""))
    why = "a person must sign it off"
    if gate.decision == DENY:
        why = f"not signed off: {gate.why}" if gate.why else "not signed off: a person said no"
    elif by and (gate.decision or by != view.accepted_by):
        why = f"{by} must sign it off"
    return Looked(words, False, person=True, why=why, by=by, node=node, gate="" if gate.decision else id)


def asked(
    home: Home, item: WorkItem, proposal: tuple[str, str], looked: tuple[Looked, ...], ask: Ask | None
) -> tuple[Looked, ...]:
    """The same after the questions were put: to who is there, or into the journal. Nobody is asked while
    something is left that a program has seen to be missing.

    proposal: the agent that proposed last, and its notes.
    """
    if not all(one.holds or one.person for one in looked):
        return looked
    return tuple(one if one.holds else _put(home, item, proposal, one, ask) for one in looked)


def _put(home: Home, item: WorkItem, proposal: tuple[str, str], one: Looked, ask: Ask | None) -> Looked:
    """One criterion after its question: what counts is what the journal then says."""
    question = f"{item.label} {item.name}: is this met? {one.criterion}"
    gate = one.gate
    if not gate:
        body = PolicyGateBody(rule_ref=SIGN_OFF, question=question, node_id=one.node)
        gate = home.journal.tell(item.intent_id, Statement("policy.gate", body))[0].id
    theirs = one.by in ("", home.keyring.user.did)  # whose key could sign the answer here
    said = ask(SignOff(item.label, item.name, one.criterion, *proposal, gate)) if ask and theirs else None
    if said is None:
        return replace(one, gate=gate)
    at = home.clock.now()
    answer = PolicyGateResolveBody(gate, APPROVE if said else DENY, at, unseen=home.unseen())
    home.journal.tell(item.intent_id, Statement("policy.gate.resolve", answer, at=at))
    return _signed(one.node, one.criterion, home.journal.view(item.intent_id), one.by)


def kept(one: Looked) -> dict[str, object]:
    """A criterion as the record has it: only values that CBOR and JSON both hold."""
    evidence = one.found.to_json() if one.found is not None else {}
    return {**{name: value for name, value in evidence.items() if value is not None}, **one.to_json()}


def _node(place: int) -> str:
    return f"success[{place}]"
