"""Declared calls before the gate: the codes and messages of intent declarations, and what is kept of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from declaring import Declaring

from executor import Allow, Ask, Call, Declaration, Deny, Home, Manifest, Policy, PolicyError, decide
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_texts import read_call


@pytest.fixture
def desk(home: Home, tmp_path: Path) -> Declaring:
    made = Declaring(home, tmp_path / "work")
    made.grant("network")
    return made


def refused(reply: Allow | Ask | Deny) -> Deny:
    assert isinstance(reply, Deny), reply
    assert reply.fix
    assert reply.example
    return reply


def test_an_intent_that_was_not_given_is_asked_for_by_the_name_of_the_variant(desk: Declaring) -> None:
    delete = desk.add(annotations={"destructiveHint": True})
    for variant in ("call_tool_read", "call_tool_write", "call_tool_destructive"):
        request = read_call(variant, {"name": delete.name, "args": {"repo": "x"}})
        reply = refused(decide(request.call(delete.uri), desk.context()))
        assert (reply.code, reply.guard) == ("MISSING_INTENT", "three_keys")
        assert reply.reason == f"intent parameter is required for {variant}"
        assert variant.removeprefix("call_tool_") in reply.example


@pytest.mark.parametrize(
    ("variant", "intent", "code", "message"),
    [
        (
            "call_tool_read",
            {"operation_type": "write"},
            "INTENT_MISMATCH",
            "Intent mismatch: tool is call_tool_read but intent declares write",
        ),
        (
            "call_tool_read",
            {"operation_type": ""},
            "MISSING_OPERATION_TYPE",
            "intent.operation_type is required",
        ),
        (
            "call_tool_read",
            {"operation_type": "unknown"},
            "INVALID_OPERATION_TYPE",
            "Invalid intent.operation_type 'unknown': must be read, write, or destructive",
        ),
        (
            "call_tool_write",
            {"operation_type": "write"},
            "SERVER_MISMATCH",
            "Tool 'github:delete_repo' is marked destructive by server, use call_tool_destructive",
        ),
        (
            "call_tool_destructive",
            {"operation_type": "destructive", "data_sensitivity": "secret"},
            "INVALID_SENSITIVITY",
            "Invalid intent.data_sensitivity 'secret': must be public, internal, private, or unknown",
        ),
        (
            "call_tool_destructive",
            {"operation_type": "destructive", "reason": "x" * 1001},
            "REASON_TOO_LONG",
            "intent.reason exceeds maximum length of 1000 characters",
        ),
    ],
)
def test_what_is_wrong_with_a_declaration_is_said_in_so_many_words(
    desk: Declaring, variant: str, intent: dict[str, object], code: str, message: str
) -> None:
    delete = desk.add("delete_repo", {"destructiveHint": True})
    for arguments in ({"intent": intent}, intent):  # as an object, and flat
        request = read_call(variant, {"name": "github:delete_repo", "args": {"repo": "x"}, **arguments})
        reply = refused(decide(request.call(delete.uri), desk.context()))
        assert (reply.code, reply.reason, reply.guard) == (code, message, "three_keys")


def test_the_example_of_each_refusal_is_a_call_that_is_not_refused_so(desk: Declaring) -> None:
    look = desk.add("get_repo", {"readOnlyHint": True}, trusted=True)
    mismatch = refused(decide(desk.call(look, "call_tool_read", "write"), desk.context()))
    assert mismatch.example.startswith("call_tool_write with intent = ")
    assert isinstance(decide(desk.call(look, "call_tool_write", "write"), desk.context()), Allow)
    change = desk.add("set_repo", {}, trusted=True)
    lower = refused(decide(desk.call(change, "call_tool_read", "read"), desk.context()))
    assert lower.data == {"operation": "write", "call_with": "call_tool_write"}
    assert isinstance(decide(desk.call(change, "call_tool_write", "write"), desk.context()), Ask)


def test_a_reason_of_a_thousand_characters_is_taken_and_sensitivities_are_those_four(desk: Declaring) -> None:
    look = desk.add("get_repo", {"readOnlyHint": True}, trusted=True)
    for more in (
        {"reason": "é" * 1000},
        {"reason": ""},
        *({"data_sensitivity": one} for one in ("public", "internal", "private", "unknown")),
    ):
        assert isinstance(decide(desk.call(look, "call_tool_read", "read", **more), desk.context()), Allow)
    for wrong in ("Public", "secret", " public", "none"):
        reply = decide(desk.call(look, "call_tool_read", "read", data_sensitivity=wrong), desk.context())
        assert refused(reply).code == "INVALID_SENSITIVITY"


def test_what_is_not_said_of_the_data_is_unknown() -> None:
    said = read_call("call_tool_read", {"name": "a:b", "intent": {}}).declaration
    assert said == Declaration("read", "unknown", "", "call_tool_read", True, "a:b")


def test_a_server_that_is_not_trusted_is_told_as_such_and_an_operators_word_too(desk: Declaring) -> None:
    tool = desk.add("get_repo", {"readOnlyHint": True})
    reply = refused(decide(desk.call(tool, "call_tool_read", None), desk.context()))
    assert reply.reason == (
        "Tool 'github:get_repo' counts as destructive, as its server is not trusted to say what it does,"
        " use call_tool_destructive"
    )
    desk.pins.classify(tool, ["network"], "write", by="did:key:operator")
    reply = refused(decide(desk.call(tool, "call_tool_read", None), desk.context()))
    assert "is classified write by the operator, use call_tool_write" in reply.reason
    assert isinstance(decide(desk.call(tool, "call_tool_write", None), desk.context()), Ask)
    desk.pins.unclassify(tool)
    desk.pins.classify(tool, ["network"], "read", by="did:key:operator")
    assert isinstance(decide(desk.call(tool, "call_tool_read", None), desk.context()), Allow)


def test_a_classification_holds_for_one_definition_and_no_longer(desk: Declaring, home: Home) -> None:
    tool = desk.add("get_repo", {"readOnlyHint": True})
    desk.pins.classify(tool, ["read"], "read", by="did:key:operator")
    changed = Declaring(home, desk._workspace)
    later = changed.add("get_repo", {"readOnlyHint": True}, description="Does more.")
    assert later.pin != tool.pin
    reply = refused(decide(changed.call(later, "call_tool_read", None), changed.context()))
    assert reply.code == "SERVER_MISMATCH"


def test_our_own_tools_are_called_so_too_and_cases_of_their_manifests_count(desk: Declaring) -> None:
    (desk._workspace / "a.txt").write_text("hello")

    def ask(tool: str, variant: str, **args: object) -> Allow | Ask | Deny:
        arguments = {"name": f"mcl:{tool}", "args": args, "intent": {}}
        uri = f"matrix://tool/{tool}@1.0.0"
        return decide(read_call(variant, arguments).call(uri), desk.context())

    assert isinstance(ask("fs/read", "call_tool_read", path="a.txt"), Allow)
    assert isinstance(ask("fs/write", "call_tool_write", path="b.txt", content="x"), Ask)
    over = refused(ask("fs/write", "call_tool_write", path="a.txt", content="x", overwrite=True))
    assert over.reason == "Tool 'mcl:fs/write' is destructive with these arguments, use call_tool_destructive"
    assert isinstance(
        ask("fs/write", "call_tool_destructive", path="a.txt", content="x", overwrite=True), Ask
    )
    assert refused(ask("fs/read", "call_tool_read", path="../x")).code == "OUT_OF_SCOPE"
    assert refused(ask("fs/read", "call_tool_read", path=".env")).code == "PROTECTED_PATH"
    assert refused(ask("fs/read", "call_tool_read")).code == "INVALID_ARGS"
    assert refused(ask("process/tests", "call_tool_write")).code == "CAPABILITY_DENIED"
    assert isinstance(ask("http/get", "call_tool_read", url="https://example.org/"), Ask)


def test_a_call_without_plan_and_without_declaration_has_no_intent(desk: Declaring) -> None:
    tool = desk.add("get_repo", {"readOnlyHint": True}, trusted=True)
    said = Declaration("read", variant="call_tool_read")
    for call in (
        Call(tool.uri, {"repo": "x"}, ""),
        Call(tool.uri, {"repo": "x"}, "read"),
        Call(tool.uri, {"repo": "x"}, "read", declaration=said),
    ):
        assert refused(decide(call, desk.context())).code == "NO_INTENT_DECLARED"
    assert isinstance(decide(Call(tool.uri, {"repo": "x"}, "", declaration=said), desk.context()), Allow)


def test_a_declaration_opens_nothing_that_a_person_has_to_open(desk: Declaring) -> None:
    tool = desk.add("delete_repo", {"destructiveHint": True})
    call = desk.call(tool, "call_tool_destructive", None)
    for approval in ("01M7ZYTG61FEBHXBG1AZE80HT9", "approve", "x" * 10_000):
        reply = decide(replace(call, approval=approval), desk.context())
        assert refused(reply).code == "GATE_PENDING"
    first, second = decide(call, desk.context()), decide(call, desk.context())
    assert isinstance(first, Ask)
    assert isinstance(second, Ask)
    other = decide(replace(call, args={"repo": "y"}), desk.context())
    assert isinstance(other, Ask)
    assert other.binding != first.binding


def test_a_declaration_by_another_door_must_name_its_operation(desk: Declaring) -> None:
    tool = desk.add("get_repo", {"readOnlyHint": True}, trusted=True)
    for said, code in [
        (Declaration(given=False), "MISSING_INTENT"),
        (Declaration(), "MISSING_OPERATION_TYPE"),
        (Declaration("read", variant="call_tool_every"), "INTENT_MISMATCH"),
    ]:
        reply = decide(Call(tool.uri, {"repo": "x"}, "", declaration=said), desk.context())
        assert refused(reply).code == code
    assert isinstance(
        decide(Call(tool.uri, {"repo": "x"}, "", declaration=Declaration("read")), desk.context()), Allow
    )


def test_the_other_guards_judge_declared_calls_as_any_other(desk: Declaring) -> None:
    look = {"annotations": {"readOnlyHint": True}, "trusted": True}
    closed = desk.add("closed", **look)
    desk.policy(f'deny = ["{closed.uri}"]')
    new = desk.add("new", **look, approved=False)
    known = desk.add("known", **look)
    for call, code in [
        (desk.call("github:knwon", "call_tool_read", "read"), "UNKNOWN_TOOL"),
        (desk.call(new, "call_tool_read", "read"), "TOOL_QUARANTINED"),
        (desk.call(closed, "call_tool_read", "read"), "TOOL_DENIED"),
        (replace(desk.call(known, "call_tool_read", "read"), args={}), "INVALID_ARGS"),
        (replace(desk.call(known, "call_tool_read", "read"), args={"repo": 7}), "INVALID_ARGS"),
        (replace(desk.call(known, "call_tool_read", "read"), args={"repo": "$env:TOKEN"}), "INVALID_ARGS"),
    ]:
        reply = refused(decide(call, desk.context()))
        assert reply.code == code
        kind, kept = desk.recorded[-1]
        assert (kind, kept["code"]) == ("refused", code)
    unknown = refused(decide(desk.call("github:knwon", "call_tool_read", "read"), desk.context()))
    assert "github:known" in unknown.fix
    assert unknown.reason == "there is no tool 'github:knwon'"


def test_a_tool_that_waits_for_approval_names_the_command_that_approves_it(
    desk: Declaring, home: Home
) -> None:
    new = desk.add("new", {"readOnlyHint": True}, trusted=True, approved=False)
    reply = refused(decide(desk.call(new, "call_tool_read", "read"), desk.context()))
    assert "mcl tool approve github:new" in reply.fix
    desk.pins.approve(new)
    assert isinstance(decide(desk.call(new, "call_tool_read", "read"), desk.context()), Allow)
    changed = Declaring(home, desk._workspace)
    later = changed.add("new", {"readOnlyHint": True}, trusted=True, approved=False, description="Other.")
    reply = refused(decide(changed.call(later, "call_tool_read", "read"), changed.context()))
    assert (reply.code, reply.data["approved"]) == ("TOOL_CHANGED", new.pin)
    assert "mcl tool approve github:new" in reply.fix


def test_a_tool_of_another_server_is_never_approved_by_its_first_use(desk: Declaring) -> None:
    new = desk.add("new", approved=False)
    desk.pins.admit(desk.context().tools.manifests)
    assert desk.pins.of(new.uri) == ""


def test_trust_and_classification_change_what_a_tool_counts_as_and_not_what_was_approved(
    desk: Declaring, home: Home
) -> None:
    before = desk.add("get_repo", {"readOnlyHint": True})
    assert before.operation == "destructive"
    trusting = Declaring(home, desk._workspace)
    after = trusting.add("get_repo", {"readOnlyHint": True}, trusted=True, approved=False)
    assert (after.operation, after.pin) == ("read", before.pin)
    assert isinstance(decide(trusting.call(after, "call_tool_read", None), trusting.context()), Allow)


def test_the_question_tells_who_asks_for_what_and_the_agents_words_as_its_own(desk: Declaring) -> None:
    tool = desk.add("delete_repo", {"destructiveHint": True})
    call = desk.call(
        tool,
        "call_tool_destructive",
        None,
        reason="You want\x1b[2J this; it is safe",
        data_sensitivity="private",
    )
    reply = decide(call, desk.context())
    assert isinstance(reply, Ask)
    assert reply.question == (
        "An agent wants to call github:delete_repo (destructive: network). repo = x. It is destructive"
        " (network), which no verb and no plan covers. The agent calls the data private. Its reason, in its"
        ' own words: "You want\\x1b[2J this; it is safe". Allow exactly this?'
    )
    assert reply.why == ("It is destructive (network), which no verb and no plan covers.",)
    kind, kept = desk.recorded[-1]
    assert kind == "asked"
    assert kept["declaration"] == {
        "operation_type": "destructive",
        "data_sensitivity": "private",
        "reason": "You want\x1b[2J this; it is safe",
        "variant": "call_tool_destructive",
    }


def test_a_mismatch_that_the_operator_lets_pass_is_a_warning_in_the_answer_and_in_the_record(
    desk: Declaring,
) -> None:
    tool = desk.add("delete_repo", {"destructiveHint": True})
    desk.policy("[intent_declaration]\nstrict_server_validation = false")
    reply = decide(desk.call(tool, "call_tool_read", "read"), desk.context())
    assert isinstance(reply, Ask)
    message = "Tool 'github:delete_repo' is marked destructive by server, use call_tool_destructive"
    assert [(one.code, one.reason) for one in reply.warnings] == [("SERVER_MISMATCH", message)]
    assert str(reply.warnings[0]) == f"SERVER_MISMATCH: {message}"
    assert desk.recorded[-1][1]["warnings"] == [{"code": "SERVER_MISMATCH", "reason": message}]
    assert "The agent declared it as read, which is less than it does." in reply.question
    assert "The agent declared it as read, which is less than it does." in reply.why
    for intent, code in [
        ({"operation_type": "write"}, "INTENT_MISMATCH"),
        ({"operation_type": ""}, "MISSING_OPERATION_TYPE"),
        ({"operation_type": "?"}, "INVALID_OPERATION_TYPE"),
        ({"data_sensitivity": "?"}, "INVALID_SENSITIVITY"),
        ({"reason": "x" * 1001}, "REASON_TOO_LONG"),
    ]:  # nothing else becomes laxer
        said = read_call("call_tool_read", {"name": tool.name, "args": {"repo": "x"}, "intent": intent})
        assert refused(decide(said.call(tool.uri), desk.context())).code == code
    assert refused(
        decide(read_call("call_tool_read", {"name": tool.name}).call(tool.uri), desk.context())
    ).code


def test_without_the_operators_word_a_mismatch_is_refused(desk: Declaring) -> None:
    tool = desk.add("delete_repo", {"destructiveHint": True})
    for text in ("", "[intent_declaration]\n", "[intent_declaration]\nstrict_server_validation = true\n"):
        desk.policy(text)
        reply = decide(desk.call(tool, "call_tool_read", "read"), desk.context())
        assert refused(reply).code == "SERVER_MISMATCH"


@pytest.mark.parametrize(
    "text",
    [
        "intent_declaration = true",
        "[intent_declaration]\nstrict_server_validation = 0",
        '[intent_declaration]\nstrict_server_validation = "false"',
        "[intent_declaration]\nstrict = false",
        "strict_server_validation = false",
        "[[intent_declaration]]\nstrict_server_validation = false",
    ],
)
def test_a_policy_that_says_it_otherwise_stops_everything(tmp_path: Path, text: str) -> None:
    (tmp_path / "policy.toml").write_text(text)
    with pytest.raises(PolicyError) as raised:
        Policy.read(tmp_path / "policy.toml")
    assert raised.value.code == "BAD_POLICY"


def test_an_allow_is_for_this_call_as_it_was_declared(desk: Declaring) -> None:
    tool = desk.add("get_repo", {"readOnlyHint": True}, trusted=True)
    call = desk.call(tool, "call_tool_read", "read")
    leave = decide(call, desk.context())
    assert isinstance(leave, Allow)
    assert leave.operation == "read"
    other = replace(call, declaration=replace(call.declaration or Declaration(), reason="another"))
    assert other.hash != call.hash
    with pytest.raises(Exception, match="another call"):
        leave.spend(other)
    leave.spend(call)


HOSTILE: list[Any] = [
    "\ud800",
    "a\x00b",
    "x" * 2_000_000,
    "\u202eread",
    "read\n",
    " read",
    "READ",
    "rеad",  # with a Cyrillic letter
    5,
    0,
    1.5,
    float("nan"),
    2**70,
    True,
    False,
    [],
    ["read"],
    {},
    {"read": True},
    {"operation_type": "read"},
]
# What becomes of each of these in its place, in the same order (SHORT: the codes). ask: a person is asked, as
# it is a text like any other.
EXPECTED: dict[str, str] = {
    "operation_type": "ARGS OP OP OP OP OP OP OP OP OP OP OP OP OP OP OP OP OP OP OP",
    "data_sensitivity": "ARGS DS DS DS DS DS DS DS DS DS DS DS DS DS DS DS DS DS DS DS",
    "reason": "ARGS ask long ask ask ask ask ask BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD",
    "intent": "BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD BAD ask UNKNOWN MIS",
    "name": "N N N N N N N N N N N N N N N N N N N N",
    "args": "AR AR AR AR AR AR AR AR AR AR AR AR AR AR AR AR AR ARGS ARGS ARGS",
    "args_json": "JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS JS",
}
SHORT: dict[str, str] = {
    "INVALID_ARGS": "ARGS",
    "INVALID_OPERATION_TYPE": "OP",
    "INVALID_SENSITIVITY": "DS",
    "REASON_TOO_LONG": "long",
    "BAD_INTENT": "BAD",
    "UNKNOWN_ARGUMENT": "UNKNOWN",
    "INTENT_MISMATCH": "MIS",
    "BAD_TOOL_NAME": "N",
    "BAD_ARGS": "AR",
    "BAD_ARGS_JSON": "JS",
}


def answer(desk: Declaring, tool: Manifest, arguments: dict[str, Any]) -> dict[str, object]:
    """What an agent is told: a refusal as JSON, or that a person is asked."""
    try:
        call = read_call("call_tool_destructive", arguments).call(tool.uri)
    except McpError as problem:
        return problem.to_json()
    reply = decide(call, desk.context())
    if isinstance(reply, Deny):
        assert desk.recorded[-1][0] == "refused"
    return {"message": "", "fix": "", "example": "", "code": "ask", **reply.to_json()}  # type: ignore[union-attr]


@pytest.mark.parametrize("where", list(EXPECTED))
def test_hostile_values_are_refused_with_a_code_and_never_crash(desk: Declaring, where: str) -> None:
    tool = desk.add("delete_repo", {"destructiveHint": True})
    for value, expected in zip(HOSTILE, EXPECTED[where].split(), strict=True):
        sound: dict[str, Any] = {"name": tool.name, "args": {"repo": "x"}, "operation_type": "destructive"}
        ways = [{**sound, where: value}]
        if where == "args_json":
            del ways[0]["args"]
        if where == "intent":
            del ways[0]["operation_type"]
        if where in ("operation_type", "data_sensitivity", "reason"):
            ways.append({"name": tool.name, "args": {"repo": "x"}, "intent": {where: value}})
        for arguments in ways:
            told = answer(desk, tool, arguments)
            code = str(told["code"])
            assert SHORT.get(code, code) == expected, (where, value if value != HOSTILE[2] else "long")
            if code != "ask":
                assert told["fix"]
                assert told["example"]
            assert len(json.dumps(told)) < 2500  # no value comes back whole


@pytest.mark.parametrize(
    "args", [{"repo": "\ud800"}, {"\ud800": "x"}, {"repo": float("nan")}, {"repo": {1, 2}}]
)
def test_arguments_that_are_no_json_are_refused_before_any_guard_looks(
    desk: Declaring, args: dict[str, object]
) -> None:
    tool = desk.add("delete_repo")
    call = replace(desk.call(tool, "call_tool_destructive", None), args=args)
    assert refused(decide(call, desk.context())).code == "INVALID_ARGS"
    assert desk.recorded[-1][1]["tool"] == tool.uri


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    "hints", [None, {"readOnlyHint": True}, {"readOnlyHint": False}, {"destructiveHint": True}]
)
@pytest.mark.parametrize("word", [None, "read", "write", "destructive"])
def test_an_operators_word_decides_and_each_message_names_whose_word_it_is(
    desk: Declaring, hints: dict[str, bool] | None, trusted: bool, word: str | None
) -> None:
    manifest = desk.add("tool", hints, trusted=trusted)
    desk.grant("network")
    if word:
        desk.pins.classify(manifest, ["network"], word, by="did:key:operator")
    does = word or manifest.operation
    reply = decide(desk.call(manifest, "call_tool_read", "read"), desk.context())
    if does == "read":
        assert isinstance(reply, Allow)
        return
    assert isinstance(reply, Deny)
    assert reply.code == "SERVER_MISMATCH"
    said = "server" if hints and (trusted or "destructiveHint" in hints) else "default"
    shown = {
        "operator": f"is classified {does} by the operator",
        "server": f"is marked {does} by server",
        "default": f"counts as {does}",
    }["operator" if word else said]
    assert shown in reply.reason
    assert ("by server" in reply.reason) == ("by server" in shown)
    if word:  # what was raised is not called again unasked
        counted = desk.pins.counted(manifest)
        assert counted.pin == manifest.pin
        assert not (counted.idempotent and counted.operation != manifest.operation == "read")
