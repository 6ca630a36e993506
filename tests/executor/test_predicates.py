"""Success criteria: what is looked at, through the same gate, and what the journal says of it."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey
from walks import Says, Walks, context_of, granted, sequence, tool
from websites import Site, moved, page, website

from executor import Call, Deny, GateAnswer, GateQuestion, Outcome, decide
from executor.gate.page import parse_check
from ir import (
    Header,
    IntentAttestBody,
    IntentCancelBody,
    IntentFailBody,
    PolicyGateResolveBody,
    did_of,
    seal,
)

BUILD = '{"build": {"state": "done", "n": 3, "ok": true, "code": "007"}, "items": [{"id": 9}], "none": null}'


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


def look(walks: Walks, url: str, check: str = "", *, people: object = None, node: Any = None) -> Outcome:
    criterion = {"type": "external", "url": url, "check": check}
    return walks.go(node or tool("n1", "time/now"), criteria=[criterion], people=people or Says())


def last_body(walks: Walks, outcome: Outcome) -> Any:
    return walks.home.journal.envelopes(outcome.intent_id)[-1].body


@pytest.mark.parametrize(
    ("check", "holds"),
    [
        *(("", True), ("200", True), ("status=200", True), ("status=404", False)),
        *(("contains:done", True), ("contains:Done", False), ("contains: done", False)),
        *(("json:$.build.state=done", True), ('json:$.build.state="done"', True)),
        *(("json:$.build.n=3", True), ("json:$.build.n=3.0", True), ('json:$.build.n="3"', False)),
        *(("json:$.build.ok=true", True), ("json:$.build.ok=1", False), ("json:$.build.code=007", True)),
        *(("json:$.items[0].id=9", True), ("json:$.items[1]", False), ("json:$.items.id", False)),
        *(("json:$.none", True), ("json:$.none=null", True), ("json:$.build.state=", False)),
        *(("json:$", True), ("json:$.build[0]", False), ("json:$.missing", False)),
        (f"sha256={hashlib.sha256(BUILD.encode()).hexdigest()}", True),
        (f"sha256={'0' * 64}", False),
    ],
)
def test_a_check_says_what_a_page_must_hold(walks: Walks, site: Site, check: str, holds: bool) -> None:
    site.pages["/ci"] = page(BUILD, "application/json")
    granted(walks, site.origin)
    outcome = look(walks, f"{site.origin}/ci", check)
    assert outcome.criteria[0].holds is holds, outcome.criteria
    assert (outcome.state, site.paths) == ("completed" if holds else "failed", ["/ci"])


def test_a_page_that_is_gone_may_be_what_is_wanted(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    assert look(walks, f"{site.origin}/old", "status=404").state == "completed"
    outcome = look(walks, f"{site.origin}/old", "contains:nothing here")
    assert outcome.criteria[0].reason == "the status is 404"


@pytest.mark.parametrize(
    "check",
    [
        *("the page is up", "status=600", "status=20", "contains:", "json:build", "json:$..x", "sha256=abc"),
        *("regex:.*", "json:$[a]", "status>=200", "200 OK"),
    ],
)
def test_a_check_that_nobody_understands_is_told_before_the_first_node(
    walks: Walks, site: Site, check: str
) -> None:
    granted(walks, site.origin)
    outcome = look(walks, site.origin, check)
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "PROMISE_UNCHECKABLE", {})
    assert "is not understood" in outcome.failure.message
    assert f"{site.origin}: {check}" in outcome.failure.message
    assert site.requests == []


def test_a_criterion_without_an_address_is_told_before_the_first_node(walks: Walks) -> None:
    outcome = look(walks, "", "the tests pass")
    assert outcome.failure is not None
    assert (outcome.state, outcome.nodes) == ("denied", {})
    assert "names no address" in outcome.failure.message


def test_a_host_that_was_not_granted_is_asked_about_beforehand_and_at_the_end(
    walks: Walks, site: Site
) -> None:
    site.pages["/"] = page("ok", "text/plain")
    granted(walks)
    intent = walks.propose(tool("n1", "time/now"), criteria=[{"type": "external", "url": f"{site.origin}/"}])
    walker = walks.walker()
    foreseen = {verdict.node_id: verdict for verdict in walker.preflight(intent)}
    walker.close()
    assert (foreseen["success[0]"].kind, foreseen["success[0]"].decision) == ("criterion", "ask")
    people = Says("approve")
    assert look(walks, f"{site.origin}/", people=people).state == "completed"
    assert people.asked[0].node_id == "success[0]"
    refused = look(walks, f"{site.origin}/", people=Says("deny"))
    assert refused.failure is not None
    assert (refused.state, refused.failure.code) == ("failed", "CRITERION_NOT_MET")
    assert "GATE_DENIED" in refused.criteria[0].reason
    assert len(site.requests) == 1


def test_what_can_never_be_looked_at_is_refused_before_the_first_node(walks: Walks, site: Site) -> None:
    outcome = look(walks, f"{site.origin}/")
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "CAPABILITY_DENIED", {})
    granted(walks)
    outcome = look(walks, "file:///etc/passwd")
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("denied", "PROMISE_UNCHECKABLE")


def test_a_redirect_to_a_host_that_was_not_granted_ends_there(walks: Walks, site: Site) -> None:
    with website({"/": page("ok")}) as other:
        site.pages["/"] = moved(f"{other.origin}/")
        granted(walks, site.origin)
        outcome = look(walks, f"{site.origin}/")
        assert "HOST_DENIED" in outcome.criteria[0].reason
        assert other.connections == 0


def test_an_address_may_be_made_of_what_the_plan_gave(walks: Walks, site: Site) -> None:
    walks.write("id.txt", "42")
    site.pages["/items/42"] = page("ok", "text/plain")
    granted(walks, site.origin)
    node = tool("n1", "fs/read", path="id.txt")
    assert look(walks, f"{site.origin}/items/${{n1.output.text}}", node=node).state == "completed"
    outcome = look(walks, f"{site.origin}/items/${{n9.output.text}}", node=node)
    assert "n9" in outcome.criteria[0].reason


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("executor.walker.criteria._WAITS", (0.01, 0.01))


def answers(site: Site, *pages: bytes) -> None:
    """The site gives these pages in turn, then the last one."""
    left = list(pages)

    def turn(connection: socket.socket) -> None:
        connection.sendall(left.pop(0) if len(left) > 1 else left[0])

    site.pages["/"] = turn


@pytest.mark.usefixtures("quick")
def test_a_host_that_is_busy_for_a_moment_is_looked_at_again(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    busy = page("wait", "text/plain", "503 Service Unavailable")
    answers(site, busy, b"", page("done", "text/plain"))
    assert look(walks, f"{site.origin}/", "contains:done").state == "completed"
    assert len(site.requests) == 3
    answers(site, busy)
    outcome = look(walks, f"{site.origin}/", "contains:done")
    assert (outcome.criteria[0].reason, len(site.requests)) == ("the status is 503", 6)
    assert look(walks, f"{site.origin}/", "status=503").state == "completed"
    assert len(site.requests) == 7


@pytest.mark.usefixtures("quick")
def test_what_does_not_pass_by_itself_is_looked_at_once(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    answers(site, page("no", "text/plain"))
    assert look(walks, f"{site.origin}/", "contains:done").state == "failed"
    assert look(walks, f"{site.origin}/gone").state == "failed"
    assert len(site.requests) == 2


@pytest.mark.usefixtures("quick")
def test_a_person_is_not_asked_again_and_again(walks: Walks, site: Site) -> None:
    granted(walks)
    answers(site, page("wait", "text/plain", "503 Service Unavailable"))
    people = Says("approve", "approve", "approve")
    assert look(walks, f"{site.origin}/", people=people).state == "failed"
    assert (len(people.asked), len(site.requests)) == (1, 1)


def test_a_person_may_cancel_while_a_slow_page_is_looked_at(walks: Walks, site: Site) -> None:
    looked, ended, answered = threading.Event(), threading.Event(), threading.Event()

    def slow(connection: socket.socket) -> None:
        looked.set()
        if not ended.wait(12):  # nobody waits for this page
            answered.set()

    site.pages["/"] = slow
    granted(walks, site.origin)
    intent = walks.accept(tool("n1", "time/now"), criteria=[{"type": "external", "url": f"{site.origin}/"}])
    outcomes: list[Outcome] = []

    async def both() -> None:
        async def walk() -> None:
            async with walks.walker() as walker:
                outcomes.append(await walker.run(intent))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(walk)
            while not looked.is_set():
                await anyio.sleep(0.02)
            walks.tell(intent, "intent.cancel", IntentCancelBody(walks.home.clock.now()))

    anyio.run(both)
    ended.set()
    assert not answered.is_set()
    assert (outcomes[0].state, outcomes[0].criteria) == ("cancelled", ())
    assert walks.home.journal.view(intent).state == "cancelled"


def test_what_was_found_is_signed_in_the_journal(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("ok", "text/plain")
    granted(walks, site.origin)
    outcome = look(walks, f"{site.origin}/", "contains:ok")
    found = {
        "url": f"{site.origin}/",
        "check": "contains:ok",
        "status": 200,
        "sha256": hashlib.sha256(b"ok").hexdigest(),
    }
    body = last_body(walks, outcome)
    assert isinstance(body, IntentAttestBody)
    assert json.loads(body.evidence_json)["criteria"] == [{"type": "external", "holds": True, **found}]
    assert walks.records("record.gate.looked") == [{"node": "success[0]", "holds": True, **found}]
    assert walks.home.journal.verify().ok


def test_a_call_that_looks_at_something_else_than_was_signed_is_refused(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    criterion = {"type": "external", "url": f"{site.origin}/ci"}
    intent = walks.accept(tool("n1", "time/now"), criteria=[criterion])
    ref = "matrix://tool/http/request@1.0.0"
    for args in (
        {"method": "GET", "url": f"{site.origin}/other"},
        {"method": "POST", "url": f"{site.origin}/ci"},
        {"method": "GET", "url": f"{site.origin}/ci", "bearer": "$env:TOKEN"},
    ):
        reply = decide(Call(ref, args, "network", "success[0]"), context_of(walks, intent))
        assert isinstance(reply, Deny)
        assert reply.code == "PLAN_HASH_MISMATCH"


def test_a_run_that_fails_says_what_it_delivered_all_the_same(walks: Walks) -> None:
    criteria = [{"type": "delivered", "artifact": name} for name in ("a.txt", "b.txt")]
    write = tool("n1", "fs/write", "write", path="a.txt", content="x")
    gone = tool("n2", "fs/delete", "write", path="b.txt")
    walks.write("b.txt", "y")
    outcome = walks.go(sequence("n0", write, gone), criteria=criteria)
    body = last_body(walks, outcome)
    assert isinstance(body, IntentFailBody)
    assert body.partial_uris == ("file:a.txt",)
    assert "delivered b.txt" in body.message
    walks.write("b.txt", "y")
    broken = walks.go(
        sequence(
            "n0",
            tool("n1", "fs/write", "write", path="a.txt", content="x", overwrite="true"),
            gone,
            tool("n3", "fs/read", path="nowhere"),
        ),
        criteria=criteria,
    )
    assert broken.state == "failed"
    assert last_body(walks, broken).partial_uris == ("file:a.txt",)


def test_a_predicate_of_somebody_elses_making_never_holds_and_says_so(walks: Walks) -> None:
    outcome = walks.go(tool("n1", "time/now"), criteria=[{"type": "x:moon", "schema": "s", "data": "{}"}])
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "PROMISE_UNCHECKABLE", {})
    assert "x:moon" in outcome.failure.message


def test_a_trusted_user_who_was_named_may_sign_off(walks: Walks) -> None:
    key = SigningKey(b"k" * 32)
    did = did_of(bytes(key.verify_key))
    criteria = [{"type": "signed_off", "by": f"matrix://user/{did}"}]
    unknown = walks.go(tool("n1", "time/now"), criteria=criteria, people=Says("approve"))
    assert unknown.failure is not None
    assert (unknown.state, unknown.nodes) == ("denied", {})
    assert "no user whose signature counts" in unknown.failure.message
    walks.home.keyring.trust(did, "user")

    class Elsewhere:
        async def ask(self, gate: GateQuestion) -> GateAnswer:
            clock = walks.home.clock
            header = Header(clock.new_id(), clock.now(), did, f"matrix://intent/{gate.intent_id}")
            body = PolicyGateResolveBody(gate.gate_id, "approve", clock.now())
            return GateAnswer("approve", envelope=seal("policy.gate.resolve", body, header, key))

    assert walks.go(tool("n1", "time/now"), criteria=criteria, people=Elsewhere()).state == "completed"
    own = walks.go(tool("n1", "time/now"), criteria=criteria, people=Says("approve"))
    assert "signed off by" in own.criteria[0].reason


@given(st.text(max_size=200))
def test_any_text_is_a_check_or_none(text: str) -> None:
    check = parse_check(text)
    if check is not None:
        answer = {"text": "a", "truncated": False, "sha256": "0" * 64, "json": {"a": [1]}}
        assert isinstance(check.flaw(200, answer), str)
        assert isinstance(check.flaw(404, {}), str)
