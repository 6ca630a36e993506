"""Each guard's codes, through the gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from walks import NODE, Walks, context_of, sequence, tool

from executor import Allow, Ask, Call, Declaration, Deny, Grants, Home, Manifest, Pins, Tool, decide
from executor.call import Deferred
from executor.core.clock import duration
from executor.gate.budget import Spending
from executor.gate.decide import foresee
from executor.gate.effects import VERB_CEILING, need_of, over_ceiling
from executor.gate.references import typed_args
from executor.tools.manifest import Effect
from ir import Budget, IntentCancelBody, Unknown, with_hash
from mcl.catalog.tools import registry


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    found = Walks(home, tmp_path / "work")
    found.write("a.txt", "hello")
    return found


def call_of(node: NODE, **more: Any) -> Call:
    planned = node["tool_call"]
    args = typed_args(planned["args"], registry().find(planned["tool_ref"]), {})
    return Call(planned["tool_ref"], args, planned["side_effect_class"], node["id"], **more)


def code(walks: Walks, node: NODE, call: Call | None = None, verb: str = "build", **more: Any) -> str:
    """What the gate says of the only call of an accepted plan."""
    context = context_of(walks, walks.accept(node, verb=verb), **more)
    reply = decide(call or call_of(node), context)
    if isinstance(reply, Deny):
        assert reply.reason
        assert reply.fix
        assert reply.guard
        return reply.code
    return "ASK" if isinstance(reply, Ask) else "ALLOW"


READ = tool("n1", "fs/read", path="a.txt")
WRITE = tool("n1", "fs/write", "write", path="b.txt", content="x")


def test_integrity_an_altered_intent_or_plan_is_refused(walks: Walks) -> None:
    intent_id = walks.accept(READ)
    context = context_of(walks, intent_id)
    mandate = context.mandate
    assert mandate is not None
    altered = mandate.intent.model_copy(update={"prose": "something else"})
    swapped = mandate.plan.model_copy(update={"created_by": "someone else"})
    for changed, expected in [
        (replace(mandate, intent=altered), "INTENT_HASH_MISMATCH"),
        (replace(mandate, accepted_hash="0" * 64), "INTENT_HASH_MISMATCH"),
        (replace(mandate, plan=swapped), "PLAN_HASH_MISMATCH"),
        (replace(mandate, accepted_plan_hash="0" * 64), "PLAN_HASH_MISMATCH"),
    ]:
        reply = decide(call_of(READ), replace(context, mandate=changed))
        assert isinstance(reply, Deny)
        assert (reply.code, reply.guard) == (expected, "integrity")


@pytest.mark.parametrize(
    "call",
    [
        Call("matrix://tool/fs/list@1.0.0", {"path": "a.txt"}, "read", "n1"),
        Call("matrix://tool/fs/read@1.0.0", {"path": "a.txt"}, "write", "n1"),
        Call("matrix://tool/fs/read@1.0.0", {"path": "a.txt"}, "read", "n2"),
        Call("matrix://tool/fs/read@1.0.0", {"path": "a.txt", "max_bytes": 1}, "read", "n1"),
        Call("matrix://tool/fs/read@1.0.0", {"path": "other.txt"}, "read", "n1"),
    ],
)
def test_integrity_a_call_that_the_plan_does_not_hold_is_refused(walks: Walks, call: Call) -> None:
    assert code(walks, READ, call) == "PLAN_HASH_MISMATCH"


def test_state_a_cancelled_intent_or_a_run_held_by_another_is_refused(walks: Walks) -> None:
    intent_id = walks.accept(READ)
    context = context_of(walks, intent_id, holds_run=False)
    reply = decide(call_of(READ), context)
    assert isinstance(reply, Deny)
    assert reply.code == "INTENT_NOT_ACTIVE"
    walks.tell(intent_id, "intent.cancel", IntentCancelBody(walks.home.clock.now()))
    reply = decide(call_of(READ), replace(context, holds_run=True))
    assert isinstance(reply, Deny)
    assert (reply.code, reply.data["state"]) == ("INTENT_NOT_ACTIVE", "cancelled")


def test_state_an_intent_with_an_open_question_is_blocked(walks: Walks) -> None:
    context = context_of(walks, walks.accept(READ))
    mandate = context.mandate
    assert mandate is not None
    question = Unknown(id="u1", field="frame.objects", severity="blocking")
    intent = with_hash(mandate.intent.model_copy(update={"unknowns": (question,)}))
    blocked = replace(mandate, intent=intent, accepted_hash=intent.hash)
    reply = decide(call_of(READ), replace(context, mandate=blocked))
    assert isinstance(reply, Deny)
    assert (reply.code, reply.guard) == ("INTENT_BLOCKED", "state")
    assert "u1" in reply.reason
    assert "mcl answer" in reply.example


def test_tool_known_only_exact_known_versions(walks: Walks) -> None:
    pin = next(one.pin for one in walks.registry().manifests if one.uri.endswith("fs/read@1.0.0"))
    for version, expected in [
        ("1.0.0", "ALLOW"),
        (f"sha256:{pin}", "ALLOW"),
        ("9.0.0", "UNKNOWN_TOOL"),
        ("sha256:" + "0" * 64, "UNKNOWN_TOOL"),
        ("latest", "TOOL_UNPINNED"),
        ("", "TOOL_UNPINNED"),
    ]:
        assert code(walks, tool("n1", "fs/read", version=version, path="a.txt")) == expected
    assert code(walks, tool("n1", "rm/all")) == "UNKNOWN_TOOL"


def other_read(walks: Walks, **changes: Any) -> Tool:
    """fs/read's neighbour: the same manifest under another name, with changes."""
    found = next(one for one in walks.registry().manifests if one.uri.endswith("time/now@1.0.0"))
    document = {**found.model_dump(mode="json"), "uri": "matrix://tool/test/other@1.0.0", **changes}

    async def run(*_: object) -> dict[str, object]:
        return {}

    return Tool(Manifest.model_validate(document), run)


def test_unchanged_a_manifest_edited_after_approval_is_refused_until_it_is_approved_again(
    walks: Walks,
) -> None:
    node = tool("n1", "test/other")
    walks.tools = [other_read(walks)]
    assert code(walks, node) == "ALLOW"
    walks.tools = [other_read(walks, description="The same, but not quite.")]
    assert code(walks, node) == "TOOL_CHANGED"
    pins = Pins(walks.home)
    pins.approve(walks.tools[0].manifest)
    assert code(walks, node) == "ALLOW"
    pins.quarantine("matrix://tool/test/other@1.0.0")
    assert code(walks, node) == "TOOL_QUARANTINED"


@pytest.mark.parametrize("name", ["matrix://tool/fs/read@1.0.0", "matrix://tool/fs/read"])
def test_denylist_what_the_operator_closes_is_refused(walks: Walks, name: str) -> None:
    (walks.home.path / "policy.toml").write_text(f'deny = ["{name}"]')
    assert code(walks, READ) == "TOOL_DENIED"
    assert code(walks, tool("n1", "fs/list")) == "ALLOW"


@pytest.mark.parametrize(
    ("verb", "node", "expected"),
    [
        ("find", READ, "ALLOW"),
        ("find", WRITE, "INTENT_MISMATCH"),
        ("analyze", WRITE, "INTENT_MISMATCH"),
        ("x:ponder", WRITE, "INTENT_MISMATCH"),
        ("build", WRITE, "ALLOW"),
        ("deliver", WRITE, "ALLOW"),
        ("build", tool("n1", "fs/read", "network", path="a.txt"), "ALLOW"),
        ("build", tool("n1", "fs/read", "chain", path="a.txt"), "INTENT_MISMATCH"),
        ("build", tool("n1", "fs/write", "read", path="b.txt", content="x"), "SERVER_MISMATCH"),
        ("build", tool("n1", "fs/write", "chain", path="b.txt", content="x"), "SERVER_MISMATCH"),
        ("acquire", tool("n1", "fs/write", "network", path="b.txt", content="x"), "SERVER_MISMATCH"),
        ("find", tool("n1", "git/branch", "read"), "ALLOW"),
        ("find", tool("n1", "git/branch", "read", name="x"), "SERVER_MISMATCH"),
        ("build", tool("n1", "fs/read", "", path="a.txt"), "MISSING_OPERATION_TYPE"),
        ("build", tool("n1", "fs/read", "everything", path="a.txt"), "INVALID_OPERATION_TYPE"),
        ("", READ, "MISSING_INTENT"),
    ],
)
def test_three_keys_verb_declaration_and_manifest_must_fit(
    walks: Walks, verb: str, node: NODE, expected: str
) -> None:
    assert code(walks, node, verb=verb) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Declaration("read"), "ALLOW"),
        (Declaration("destructive"), "ALLOW"),
        (Declaration(""), "MISSING_OPERATION_TYPE"),
        (Declaration("all"), "INVALID_OPERATION_TYPE"),
        (Declaration("read", "secret"), "INVALID_SENSITIVITY"),
        (Declaration("read", "private", "x" * 1001), "REASON_TOO_LONG"),
    ],
)
def test_three_keys_a_callers_own_declaration_is_checked(
    walks: Walks, said: Declaration, expected: str
) -> None:
    assert code(walks, READ, call_of(READ, declaration=said)) == expected


def test_three_keys_a_caller_who_declares_less_than_the_call_does_is_refused(walks: Walks) -> None:
    assert code(walks, WRITE, call_of(WRITE, declaration=Declaration("read"))) == "SERVER_MISMATCH"


def test_no_verb_covers_what_is_destructive_or_more_than_its_row() -> None:
    for verb in VERB_CEILING:
        assert not over_ceiling(verb, "read", "read")
    assert over_ceiling("find", "network", "write")
    assert not over_ceiling("find", "network", "read")
    assert over_ceiling("build", "network", "write")
    assert not over_ceiling("deliver", "network", "write")
    for name in ("read", "write", "network", "shell", "chain"):
        assert need_of(Effect(frozenset({name}), "destructive")) == "exact"
    assert need_of(Effect(frozenset({"network"}), "write")) == "exact"
    assert need_of(Effect(frozenset({"read", "write"}), "write")) == "plan"


def test_capability_an_agent_without_the_grant_is_refused(walks: Walks) -> None:
    grants = Grants(walks.home)
    agent = walks.home.keyring.agent.did
    assert code(walks, WRITE) == "ALLOW"
    grants.revoke(agent, "write")
    assert code(walks, WRITE) == "CAPABILITY_DENIED"
    assert code(walks, READ) == "ALLOW"
    grants.grant(agent, ["write"])
    assert code(walks, WRITE) == "ALLOW"
    assert code(walks, READ, agent="did:key:stranger") == "CAPABILITY_DENIED"


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"path": ""},
        {"path": "a.txt", "max_bytes": "many"},
        {"path": "a.txt", "max_bytes": "0"},
        {"path": "a.txt", "unknown": "1"},
        {"path": "$env:HOME"},
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused(walks: Walks, args: dict[str, str]) -> None:
    assert code(walks, tool("n1", "fs/read", **args)) == "INVALID_ARGS"


def test_arguments_all_flaws_are_told_at_once(walks: Walks) -> None:
    node = tool("n1", "fs/write", "write", paht="x", overwrite="maybe")
    reply = decide(call_of(node), context_of(walks, walks.accept(node)))
    assert isinstance(reply, Deny)
    assert len(reply.data["flaws"]) == 4  # type: ignore[arg-type]  # a list of texts
    assert "path, content, overwrite?, base?" in reply.fix


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../x", "OUT_OF_SCOPE"),
        ("/etc/passwd", "ASK"),
        ("/proc/self/environ", "OUT_OF_SCOPE"),
        ("/home/me/.ssh/id_rsa", "PROTECTED_PATH"),
        (".env", "PROTECTED_PATH"),
        ("sub/.git/config", "PROTECTED_PATH"),
        ("missing.txt", "ALLOW"),
    ],
)
def test_scope_paths_outside_or_protected_are_refused(walks: Walks, path: str, expected: str) -> None:
    assert code(walks, tool("n1", "fs/read", path=path)) == expected


def online(walks: Walks, *hosts: str) -> None:
    """Grant the network, and these hosts."""
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["network"])
    grants.grant_hosts(agent, hosts)


def fetch(url: str) -> NODE:
    return tool("n1", "http/get", "network", url=url)


def test_capability_the_network_is_not_granted_at_first(walks: Walks) -> None:
    node = fetch("https://example.org/")
    reply = decide(call_of(node), context_of(walks, walks.accept(node, verb="find")))
    assert isinstance(reply, Deny)
    assert (reply.code, reply.guard) == ("CAPABILITY_DENIED", "capability")
    assert "(mcl grant add network --host example.org)" in reply.fix


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/page?q=1", "ALLOW"),
        ("https://EXAMPLE.org:443/", "ALLOW"),
        ("http://local:8080/", "ALLOW"),
        ("http://example.org/", "ASK"),
        ("https://example.org:8443/", "ASK"),
        ("https://www.example.org/", "ASK"),
        ("https://example.org.evil.net/", "ASK"),
        ("http://127.0.0.1/", "ASK"),
        ("https://user@example.org/", "HOST_DENIED"),
        ("file:///etc/passwd", "HOST_DENIED"),
        ("https://evil.net\\@example.org/", "HOST_DENIED"),
        ("$env:HOME", "INVALID_ARGS"),
    ],
)
def test_scope_a_granted_host_is_reached_at_once_and_another_is_asked_about(
    walks: Walks, url: str, expected: str
) -> None:
    online(walks, "example.org", "http://local:8080")
    assert code(walks, fetch(url), verb="find") == expected


def test_scope_the_question_names_the_host_in_plain_letters_and_how_to_grant_it(walks: Walks) -> None:
    online(walks)
    node = fetch("https://ex\u0430mple.org/")  # the a is Cyrillic
    reply = decide(call_of(node), context_of(walks, walks.accept(node, verb="find")))
    assert isinstance(reply, Ask)
    assert "mcl grant add network --host xn--exmple-4nf.org" in reply.question


def test_scope_what_an_allow_opens_is_what_was_granted_and_nothing_for_other_tools(walks: Walks) -> None:
    online(walks, "example.org", "other.org")
    node = fetch("https://example.org/")
    allow = decide(call_of(node), context_of(walks, walks.accept(node, verb="find")))
    assert isinstance(allow, Allow)
    assert sorted(map(str, allow.hosts)) == ["https://example.org", "https://other.org"]
    allow = decide(call_of(READ), context_of(walks, walks.accept(READ, verb="find")))
    assert isinstance(allow, Allow)
    assert allow.hosts == frozenset()


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (tool("n1", "calendar/add", "write", title="x", start="2026-01-01"), "reminders.ics"),
        (tool("n1", "calendar/list"), "reminders.ics"),
        (tool("n1", "task/assign", "write", assignee="ada", task="x"), "tasks"),
    ],
)
def test_scope_a_path_that_is_left_out_is_judged_like_one_that_is_named(
    walks: Walks, node: NODE, place: str
) -> None:
    (walks.workspace / place).symlink_to(walks.workspace.parent)
    assert code(walks, node) == "OUT_OF_SCOPE"


def test_locks_a_path_that_is_left_out_is_held_like_one_that_is_named(walks: Walks) -> None:
    node = tool("n1", "calendar/add", "write", title="x", start="2026-01-01")
    context = context_of(walks, walks.accept(node))
    with context.locks.hold([(("reminders.ics",), "write")]):
        assert isinstance(decide(call_of(node), context), Deny)
    assert isinstance(decide(call_of(node), context), Allow)


def test_locks_calls_that_add_keep_writers_out_and_not_each_other(walks: Walks) -> None:
    adding = tool("n1", "task/assign", "write", assignee="ada", task="x")
    context = context_of(walks, walks.accept(adding))
    with context.locks.hold([(("tasks",), "add")]), context.locks.hold([(("tasks",), "add")]):
        assert isinstance(decide(call_of(adding), context), Allow)
    with context.locks.hold([(("tasks", "a.md"), "write")]):
        reply = decide(call_of(adding), context)
    assert isinstance(reply, Deny)
    assert reply.code == "SCOPE_CONTENTION"
    assert "sequential" in reply.fix
    writing = tool("n1", "fs/write", "write", path="tasks/a.md", content="x")
    context = context_of(walks, walks.accept(writing))
    with context.locks.hold([(("tasks",), "add")]):
        with context.locks.hold([(("tasks",), "add")]):
            pass
        assert isinstance(decide(call_of(writing), context), Deny)  # one of the two holds it still


def test_approval_is_foreseen_of_an_address_that_is_not_known_yet(walks: Walks) -> None:
    closed = {"type": "object", "additionalProperties": False}
    post = Manifest.model_validate(
        {
            "uri": "matrix://tool/test/post@1.0.0",
            "description": "Sends.",
            "effects": ["network"],
            "operation": "write",
            "idempotent": False,
            "timeout_ms": 1000,
            "max_output": 1000,
            "safety": "E",
            "scope": {"kind": "network", "urls": ["url"]},
            "args": {**closed, "required": ["url"], "properties": {"url": {"type": "string"}}},
            "output": closed,
        }
    )

    async def never(args: Any, bench: Any) -> dict[str, object]:
        raise AssertionError

    walks.tools.append(Tool(post, never))
    online(walks)
    url = "${read.output.text}"
    nodes = (tool("read", "fs/read", path="a.txt"), tool("n1", "test/post", "network", url=url))
    context = context_of(walks, walks.accept(sequence("all", *nodes), verb="deliver"))
    reply = foresee(Call(post.uri, {"url": Deferred(url)}, "network", "n1"), context)
    assert isinstance(reply, Ask)
    assert url in reply.question


def test_locks_tests_hold_the_whole_folder_also_where_it_is_left_out(walks: Walks) -> None:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    node = tool("n1", "process/tests", "shell")
    assert code(walks, node) == "CAPABILITY_DENIED"
    grants.grant(agent, ["shell"])
    assert code(walks, node, verb="find") == "INTENT_MISMATCH"
    context = context_of(walks, walks.accept(node))
    with context.locks.hold([(("sub", "file"), "write")]):
        reply = decide(call_of(node), context)
    assert isinstance(reply, Deny)
    assert reply.code == "SCOPE_CONTENTION"
    assert isinstance(decide(call_of(node), context), Allow)


def test_locks_two_writers_never_meet_on_one_path(walks: Walks) -> None:
    context = context_of(walks, walks.accept(WRITE))
    for held, expected in [("b.txt", Deny), ("b.txt/below", Deny), ("c.txt", Allow)]:
        with context.locks.hold([(context.workspace.split(held), "write")]):
            assert isinstance(decide(call_of(WRITE), context), expected)
    assert isinstance(decide(call_of(WRITE), context), Allow)


def test_locks_a_file_that_changed_since_it_was_read_is_not_replaced(walks: Walks) -> None:
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # of "hello"
    node = tool("n1", "fs/write", "write", path="a.txt", content="x", base=digest)
    assert code(walks, node) == "ALLOW"
    walks.write("a.txt", "changed")
    assert code(walks, node) == "STALE_FILE"


def test_budget_the_same_refused_call_opens_the_circuit(walks: Walks) -> None:
    node = tool("n1", "fs/read", path="a.txt")
    context = context_of(walks, walks.accept(node))
    mandate = context.mandate
    assert mandate is not None
    spending = Spending(mandate.intent, mandate.plan, context.clock, started_at=context.clock.now())
    context = replace(context, spending=spending)
    assert isinstance(decide(call_of(node), context), Allow)
    for _ in range(3):
        spending.breaker.note(call_of(node).hash)
    reply = decide(call_of(node), context)
    assert isinstance(reply, Deny)
    assert reply.code == "CIRCUIT_OPEN"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("PT1.5S", 1.5), ("PT2H3M", 7380), ("P1D", 86400), ("P2W", 1209600), ("P1Y1M", 395 * 86400)],
)
def test_a_duration_is_read_as_iso_8601_says(text: str, seconds: float) -> None:
    assert duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["P9000Y", "P99999999999Y", f"PT{'9' * 400}S"])
def test_a_duration_beyond_the_calendar_limits_nothing_and_breaks_nothing(walks: Walks, text: str) -> None:
    mandate = context_of(walks, walks.accept(READ)).mandate
    assert mandate is not None
    plan = mandate.plan.model_copy(update={"budget": Budget(max_time=text)})
    clock = walks.home.clock
    assert Spending(mandate.intent, plan, clock, started_at=clock.now()).refusal() is None


def test_approval_only_overwriting_an_existing_file_asks(walks: Walks) -> None:
    def write(path: str) -> NODE:
        return tool("n1", "fs/write", "write", path=path, content="x", overwrite="true")

    assert code(walks, write("new.txt")) == "ALLOW"
    assert code(walks, write("a.txt")) == "ASK"
