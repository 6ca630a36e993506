"""What nobody need have looked at says so, in its row, in what is shown, and at the end of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from walks import Walks, gate, sequence, tool

from executor import Home
from ir import Envelope
from mcl.usecases.authority import door

NOTE = sequence("root", gate("ask", "Write it?"), tool("n1", "fs/write", "write", path="a.txt", content="x"))
ACCEPT, RESOLVE, CANCEL = "intent.accept", "policy.gate.resolve", "intent.cancel"


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits at the terminal."""
    monkeypatch.setattr(door, "nobody_here", lambda: "")


def proposed(mcl: Any) -> str:
    with Home.open(mcl.home) as home:
        return Walks(home, mcl.folder).propose(NOTE)


def signed(mcl: Any, id: str) -> dict[str, bool]:
    """What the user signed of an intent but for its draft, and whether it says that nobody looked."""
    with Home.open(mcl.home) as home:
        envelopes = home.journal.envelopes(id)
        return {one.kind: one.body.unseen for one in envelopes if hasattr(one.body, "unseen")}


def ends(mcl: Any, id: str) -> list[Envelope]:
    with Home.open(mcl.home) as home:
        return [one for one in home.journal.envelopes(id) if one.kind in ("intent.attest", "intent.fail")]


def by_options(mcl: Any) -> str:
    id = proposed(mcl)
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id, "--yes-gates").code == 0
    return id


def by_refusal(mcl: Any) -> str:
    id = proposed(mcl)
    assert mcl.fed(b"yes\n", "accept", id).code == 0
    assert mcl("run", id, "--deny-gates").code == 4
    return id


def by_hand(mcl: Any) -> str:
    id = proposed(mcl)
    assert mcl.fed(b"yes\n", "accept", id).code == 0
    assert mcl.fed(b"approve\n", "run", id).code == 0
    return id


def accepted_unread(mcl: Any) -> str:
    id = proposed(mcl)
    assert mcl("accept", id, "--yes").code == 0
    assert mcl.fed(b"approve\n", "run", id).code == 0
    return id


def called(mcl: Any) -> str:
    done = mcl("tool", "call", "fs/write", "path=b.txt", "content=x", "--yes", "--json")
    assert done.code == 0, done.err
    return str(done.document["intent_id"])


def called_by_hand(mcl: Any) -> str:
    done = mcl.fed(b"y\n", "tool", "call", "fs/write", "path=b.txt", "content=x", "--json")
    assert done.code == 0, done.err
    return str(json.loads(done.out[done.out.index("{") :])["intent_id"])


def cancelled(mcl: Any) -> str:
    id = proposed(mcl)
    assert mcl("cancel", id).code == 0
    return id


Way = Callable[[Any], str]
WAYS: list[tuple[Way, dict[str, bool]]] = [
    (by_options, {ACCEPT: True, RESOLVE: True}),
    (by_refusal, {ACCEPT: False, RESOLVE: True}),
    (by_hand, {ACCEPT: False, RESOLVE: False}),
    (accepted_unread, {ACCEPT: True, RESOLVE: False}),
    (called, {ACCEPT: True}),
    (called_by_hand, {ACCEPT: False}),
    (cancelled, {CANCEL: False}),
]


def check(mcl: Any, way: Way, wanted: dict[str, bool]) -> None:
    id = way(mcl)
    assert signed(mcl, id) == wanted
    unseen = sorted(kind for kind, said in wanted.items() if said)
    told = mcl("show", id, "--json").document["unseen"]
    assert sorted(one["kind"] for one in told) == unseen
    assert ("nobody need have looked" in mcl("show", id).out) == bool(unseen)
    rows = mcl("log", "show", id, "--json", "--limit", "0").document["rows"]
    assert sorted(row["kind"] for row in rows if str(row["says"]).endswith("unseen")) == unseen
    for end in ends(mcl, id):
        evidence = json.loads(end.body.evidence_json)  # type: ignore[union-attr]
        assert evidence.get("unseen", []) == told
    assert mcl("log", "verify").code == 0


@pytest.mark.attended
@pytest.mark.parametrize(("way", "wanted"), WAYS)
def test_what_was_signed_unseen_says_so_and_nothing_else(
    mcl: Any, person: None, way: Way, wanted: dict[str, bool]
) -> None:
    check(mcl, way, wanted)


@pytest.mark.parametrize(("way", "wanted"), WAYS)
def test_in_an_unattended_home_all_that_is_signed_is_unseen(
    mcl: Any, person: None, way: Way, wanted: dict[str, bool]
) -> None:
    check(mcl, way, dict.fromkeys(wanted, True))


@pytest.mark.attended
@pytest.mark.parametrize("answered", [b"approve\n", None])
def test_a_question_shows_whether_anybody_saw_it(mcl: Any, person: None, answered: bytes | None) -> None:
    id = proposed(mcl)
    assert mcl.fed(b"yes\n", "accept", id).code == 0
    ran = mcl.fed(answered, "run", id) if answered else mcl("run", id, "--yes-gates")
    assert ran.code == 0
    with Home.open(mcl.home) as home:
        gate_id = next(iter(home.journal.view(id).gates))
    assert mcl("gate", "show", gate_id, "--json").document["unseen"] is (answered is None)
    assert ("signed unseen" in mcl("gate", "show", gate_id).out) is (answered is None)


def test_rows_without_the_mark_keep_their_bytes(mcl: Any) -> None:
    from ir import IntentAcceptBody, IntentAnswerBody, IntentCancelBody, IntentCorrectBody

    at, digest = "2026-11-22T00:00:00.000Z", "0" * 64
    for body in (
        IntentAcceptBody(digest, at, plan_hash=digest),
        IntentAnswerBody(b"[]", "x"),
        IntentCancelBody(at, "why"),
        IntentCorrectBody("x", b"[]"),
    ):
        plain = body.to_map()
        assert type(body).from_map(plain) == body
        assert not body.unseen
        marked = type(body)(**{**body.__dict__, "unseen": True})
        (added,) = marked.to_map().items() - plain.items()
        assert added[1] is True
        assert type(body).from_map(marked.to_map()) == marked
