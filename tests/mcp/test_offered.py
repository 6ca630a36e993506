"""The tools that `mcl mcp serve` offers, asked by the SDK's client in both eras, in one process.

One server and its clients live for the whole file: what a test does to the home is undone by nobody.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from desks import Peers, surroundings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, types
from mcp.shared.message import SessionMessage

from executor import Home
from executor.gate.grants import Grants
from mcl import serve
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.core.home import open_home
from mcl.plugins.agents.file.rules import STATUSES
from mcl.plugins.agents.work.completion import MAX_NOTES
from mcl.plugins.mcp.offered import run_intent, search
from mcl.plugins.mcp.offered.tools import OFFERED
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.records.record import OPERATIONS, SENSITIVITIES, VERDICTS
from mcl.plugins.mcp.server import Face
from mcl.plugins.mcp.service import GoalCompiler
from mcl.serve.exchange import Reply
from mcl.serve.offered import Offered
from mcl.usecases.accept import accept
from tests.cli.skill_writing import SKILL, STEP

ERAS = ("legacy", "auto")
READ = {"operation_type": "read", "reason": "to look"}


@dataclass
class Office:
    """A server in this process, with a client of each era. said: what clients were told besides answers."""

    home: Home
    workspace: Path
    portal: BlockingPortal
    face: Face
    clients: dict[str, Any] = field(default_factory=dict)
    said: list[Any] = field(default_factory=list)

    def call(self, name: str, arguments: Any, era: str = "legacy", **more: Any) -> Any:
        """Call a tool; the whole result."""
        client = self.clients[era]
        return self.portal.call(lambda: client.call_tool(name, arguments, **more))

    def told(self, name: str, arguments: Any, era: str = "legacy", **more: Any) -> dict[str, Any]:
        """What a tool answers that has no reason to refuse."""
        result = self.call(name, arguments, era, **more)
        assert not result.is_error, result.structured_content
        said: dict[str, Any] = result.structured_content
        return said

    def refused(self, name: str, arguments: Any, era: str = "legacy") -> dict[str, Any]:
        """With what a tool refuses."""
        result = self.call(name, arguments, era)
        assert result.is_error, result.structured_content
        said: dict[str, Any] = result.structured_content
        assert said.keys() == {"code", "message", "fix", "example", "data"}
        assert said["message"]
        first, _, whole = result.content[0].text.partition("\n")
        assert re.match(r"[\w:./@-]+ (blocked|failed): ", first)
        assert json.loads(whole) == said
        return said

    def rows(self, kind: str = "") -> int:
        """How many rows of a kind the journal has."""
        return sum(1 for _ in self.home.journal.rows(kind=kind or None))

    def accepted(self, goal: str) -> str:
        """An intent that a person accepted."""
        id = self.told("compile_intent", {"goal": goal})["id"]
        accept(id, home=self.home)
        return str(id)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("office")
    (folder / "work" / "notes").mkdir(parents=True)
    (folder / "work" / "notes" / "one.txt").write_text("an invoice\n")
    with ExitStack() as stack:
        home = stack.enter_context(open_home(folder / "home"))
        portal = stack.enter_context(start_blocking_portal())
        serving = opened(home, folder / "work", GoalCompiler(home, ai=False))
        face = stack.enter_context(portal.wrap_async_context_manager(serving))
        made = Office(home, folder / "work", portal, face)

        async def hear(message: Any) -> None:
            made.said.append(message)

        for era in ERAS:
            client = Client(face.server, mode=era, message_handler=hear)
            made.clients[era] = stack.enter_context(portal.wrap_async_context_manager(client))
        yield made


# ---- what is offered ----


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_eras_are_offered_the_same(office: Office, era: str) -> None:
    listed = office.portal.call(office.clients[era].list_tools).tools
    assert [tool.name for tool in listed] == [one.name for one in OFFERED]
    for tool, one in zip(listed, OFFERED, strict=True):
        assert tool.input_schema == one.input_schema
        assert tool.description


def test_hints_of_our_own_tools_are_true(office: Office) -> None:
    """What only reads changes nothing but the record of the call; what may destroy says so."""
    hints = {one.name: one.annotations for one in OFFERED}
    reading = {name for name, hint in hints.items() if hint.get("readOnlyHint")}
    assert reading == {
        *("retrieve_tools", "describe_tool", "call_tool_read", "get_intent", "read_activity"),
        "list_active_intents",
    }
    assert {name for name, hint in hints.items() if hint.get("destructiveHint")} == {
        "call_tool_destructive",
        "run_intent",
    }
    for name, arguments in (
        ("retrieve_tools", {"query": "read"}),
        ("describe_tool", {"name": "mcl:fs/read"}),
        ("call_tool_read", {"name": "mcl:fs/list", "args": {}, "intent": READ}),
        ("read_activity", {}),
        ("list_active_intents", {}),
    ):
        before, calls = office.rows(), office.rows("record.mcp.call")
        office.told(name, arguments)
        assert (office.rows() - before, office.rows("record.mcp.call") - calls) == (1, 1), name


def test_each_example_of_a_refusal_would_have_been_taken(office: Office) -> None:
    from jsonschema import Draft202012Validator

    for one in OFFERED:
        Draft202012Validator.check_schema(one.input_schema)
        Draft202012Validator(one.input_schema).validate(one.example)


def test_where_declared_and_done_may_differ_the_variants_promise_nothing(office: Office) -> None:
    """An operator who turns SERVER_MISMATCH into a warning takes the hints of the variants back with it."""
    policy = office.home.path / "policy.toml"
    policy.write_text("[intent_declaration]\nstrict_server_validation = false\n")
    try:
        listed = office.portal.call(office.clients["auto"].list_tools).tools
    finally:
        policy.unlink()
    hints = {tool.name: tool.annotations.read_only_hint for tool in listed}
    assert (hints["call_tool_read"], hints["get_intent"]) == (None, True)


# ---- goals ----


@pytest.mark.parametrize("era", ERAS)
def test_a_goal_is_compiled_looked_at_accepted_by_a_person_and_run(office: Office, era: str) -> None:
    made = office.told("compile_intent", {"goal": "which files mention invoice"}, era)
    assert made["status"] == "compiled"
    id = made["id"]
    assert f"mcl accept {id}" in made["how_to_go_on"]
    said = office.refused("run_intent", {"intent": id}, era)
    assert (said["code"], said["data"]["state"]) == ("NOT_ACCEPTED", "proposed")
    assert f"mcl accept {id}" in said["fix"]
    assert office.told("get_intent", {"intent": id}, era)["state"] == "proposed"
    accept(id, home=office.home)
    steps: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    ended = office.told("run_intent", {"intent": id}, era, progress_callback=progress)
    assert ended["state"] == "completed"
    assert "notes/one.txt" in json.dumps(ended["outputs"])
    assert [done for done, _, _ in steps] == sorted({done for done, _, _ in steps}), "it always grows"
    assert any("completed" in (message or "") for _, _, message in steps)
    found = office.told("get_intent", {"intent": id}, era)
    assert found["state"] == "completed"
    assert found["evidence"]["kind"] == "intent.attest"
    assert found["outputs"] == ended["outputs"]
    again = office.refused("run_intent", {"intent": id}, era)
    assert (again["code"], again["message"]) == ("NOT_ACCEPTED", "this intent is completed, and runs no more")
    assert office.refused("run_intent", {"intent": id}, era)["data"]["state"] == "completed"


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_is_told_before_a_run_that_no_model_here_can_answer_a_step(office: Office, era: str) -> None:
    folder = office.home.path / "skills" / "read-page"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.mtx").write_text(SKILL)
    (folder / "plan.yaml").write_text(STEP.replace("KIND", "write"))
    goal = {"goal": "read the page notes/one.txt", "skill": "read-page", "verb": "find"}
    made = office.told("compile_intent", goal, era)
    if made["status"] == "clarify":
        answers = {one["id"]: "notes/one.txt" for one in made["questions"]}
        made = office.told("compile_intent", {"intent": made["id"], "answers": answers}, era)
    assert [(one["node"], one["code"]) for one in made["unanswerable"]] == [("tell", "NO_MODEL")]
    found = office.told("get_intent", {"intent": made["id"]}, era)
    assert found["unanswerable"] == made["unanswerable"]
    other = office.told("compile_intent", {"goal": "which files mention invoice"}, era)
    assert other["unanswerable"] == []


def test_questions_of_a_goal_are_answered_by_a_second_call(office: Office) -> None:
    asked = office.told("compile_intent", {"goal": "make a report of all the files"})
    if asked["status"] != "clarify":
        asked = office.told("compile_intent", {"goal": "search the code"})
    assert asked["status"] == "clarify", asked
    question = asked["questions"][0]
    assert office.told("get_intent", {"intent": asked["id"]})["questions"][0] == question
    unknown = office.refused("compile_intent", {"intent": asked["id"], "answers": {"u99": "x"}})
    assert unknown["code"] == "ANSWER_UNKNOWN"
    answers = {one["id"]: one["options"][0] if one["options"] else "notes" for one in asked["questions"]}
    done = office.told("compile_intent", {"intent": asked["id"], "answers": answers})
    assert done["status"] in ("compiled", "clarify", "refused")
    assert done["id"] == asked["id"]
    assert done.get("questions") != asked["questions"]


def test_what_no_skill_is_for_is_refused_and_kept(office: Office) -> None:
    said = office.told("compile_intent", {"goal": "knit a jumper"})
    assert said["status"] in ("refused", "clarify")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "GOAL_OR_INTENT"),
        ({"goal": "x", "intent": "y"}, "GOAL_OR_INTENT"),
        ({"intent": "@last"}, "ANSWER_MISSING"),
        ({"goal": "x", "answers": {"u1": "y"}}, "ANSWERS_WITHOUT_INTENT"),
        ({"goal": ""}, "INVALID_ARGS"),
        ({"goal": 7}, "INVALID_ARGS"),
        ({"goal": "x", "more": 1}, "INVALID_ARGS"),
        ({"goal": "x", "skill": "no-such-skill"}, "SKILL_UNKNOWN"),
        ({"goal": "x", "zone": "Mars/North"}, "ZONE_UNKNOWN"),
        ({"goal": "x" * 9000}, "GOAL_TOO_LONG"),
        ({"intent": "zzzz", "answers": {"u1": "y"}}, "INTENT_UNKNOWN"),
    ],
)
def test_a_goal_that_cannot_be_compiled_is_refused_with_the_reason(
    office: Office, arguments: dict[str, Any], code: str
) -> None:
    before = office.rows("intent.draft")
    assert office.refused("compile_intent", arguments)["code"] == code
    assert office.rows("intent.draft") == before


def test_other_calls_are_answered_while_a_goal_is_compiled_and_a_plan_runs(office: Office) -> None:
    """A watched file keeps a plan running until it is written to; meanwhile goals are compiled and tools are
    called."""
    watched = office.workspace / "watched.txt"
    watched.touch()
    id = office.accepted("watch the file watched.txt")
    client = office.clients["legacy"]
    seen: list[str] = []

    async def at_once() -> None:
        async def run() -> None:
            await client.call_tool("run_intent", {"intent": id})
            seen.append("run")

        async def compile() -> None:
            await client.call_tool("compile_intent", {"goal": "which files mention milk"})
            seen.append("compiled")

        async def look() -> None:
            for _ in range(5):
                await client.call_tool("get_intent", {"intent": id})
            seen.append("looked")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            async with anyio.create_task_group() as others:
                others.start_soon(compile)
                others.start_soon(look)
            while "run" not in seen:
                with watched.open("a") as file:
                    file.write("more\n")
                await anyio.sleep(0.1)

    office.portal.call(at_once)
    watched.unlink()
    assert seen[-1] == "run"


def test_a_run_goes_on_when_its_caller_does_not_wait_and_is_waited_for_again(office: Office) -> None:
    id = office.accepted("watch the file notes/one.txt for 1 second")
    first = office.told("run_intent", {"intent": id, "wait_s": 0})
    assert first["state"] == "executing"
    assert "run_intent" in first["how_to_go_on"]
    assert office.told("run_intent", {"intent": id})["state"] == "completed"


def test_a_run_that_its_caller_cancels_is_stopped_and_resumed(office: Office) -> None:
    id = office.accepted("watch the file notes/one.txt for 2 seconds")
    client = office.clients["legacy"]

    async def give_up() -> None:
        with anyio.move_on_after(1):
            await client.call_tool("run_intent", {"intent": id})

    office.portal.call(give_up)
    told = office.refused("run_intent", {"intent": id})
    assert told["code"] == "RUN_INTERRUPTED"
    assert office.told("get_intent", {"intent": id})["state"] == "executing"


# ---- tools ----


def test_our_own_tools_are_called_by_name_with_or_without_their_version(office: Office) -> None:
    for name in ("mcl:fs/read", "mcl:fs/read@1.0.0"):
        args = {"name": name, "args": {"path": "notes/one.txt"}, "intent": READ}
        assert office.told("call_tool_read", args)["text"] == "an invoice\n"
    for name in ("mcl:fs/none", "mcl:fs/read@9.9.9", "nobody:tool", "mcl:mcp-x/y"):
        said = office.refused("call_tool_read", {"name": name, "args": {}, "intent": READ})
        assert said["code"] in ("UNKNOWN_TOOL", "TOOL_UNPINNED"), said


def test_whoever_gives_wrong_arguments_is_told_them_by_the_name_that_they_called(office: Office) -> None:
    said = office.refused("call_tool_read", {"name": "mcl:fs/read", "args": {}, "intent": READ})
    assert said["code"] == "INVALID_ARGS"
    assert said["fix"].startswith("mcl:fs/read takes: path")
    assert said["example"].startswith("mcl:fs/read with path")


def test_a_tool_that_fails_says_how_and_is_kept_as_failed(office: Office) -> None:
    args = {"name": "mcl:fs/read", "args": {"path": "none.txt"}, "intent": READ}
    assert office.refused("call_tool_read", args)["code"] == "NOT_FOUND"
    kept = office.told("read_activity", {"limit": 1, "tool": "fs/read"})["activity"][0]
    assert (kept["verdict"], kept["code"], kept["operation_type"]) == ("failed", "NOT_FOUND", "read")


def test_the_same_refused_call_is_answered_with_the_circuit_open_until_something_changes(
    office: Office,
) -> None:
    args = {"name": "mcl:fs/delete", "args": {"path": "notes/one.txt"}, "intent": READ}
    codes = [office.refused("call_tool_read", args)["code"] for _ in range(5)]
    assert codes == ["SERVER_MISMATCH"] * 3 + ["CIRCUIT_OPEN"] * 2
    said = office.refused("call_tool_read", args)
    assert said["data"]["refused_with"] == "SERVER_MISMATCH"
    assert "call_tool_destructive" in said["message"]
    other = {**args, "args": {"path": "notes/two.txt"}}
    assert office.refused("call_tool_read", other)["code"] == "SERVER_MISMATCH"
    assert (office.workspace / "notes" / "one.txt").exists()
    Servers(office.home).add("later", command=["true"])
    assert office.refused("call_tool_read", args)["code"] == "SERVER_MISMATCH", "judged anew"
    Servers(office.home).remove("later")


def test_a_call_that_says_what_it_left_out_three_times_is_judged_as_another_one(office: Office) -> None:
    args: dict[str, Any] = {"name": "mcl:fs/read", "args": {"path": "notes/one.txt"}}
    silent = [office.refused("call_tool_read", args)["code"] for _ in range(4)]
    assert silent == ["MISSING_INTENT"] * 3 + ["CIRCUIT_OPEN"]
    long = {**args, "intent": {**READ, "reason": "x" * 1001}}
    wordy = [office.refused("call_tool_read", long)["code"] for _ in range(4)]
    assert wordy == ["REASON_TOO_LONG"] * 3 + ["CIRCUIT_OPEN"]
    assert office.told("call_tool_read", {**args, "intent": READ})["text"] == "an invoice\n"


def test_a_refused_call_is_the_same_call_whatever_reason_is_given(office: Office) -> None:
    args: dict[str, Any] = {"name": "mcl:fs/write", "args": {"path": "new.txt", "content": "x"}}
    codes = [
        office.refused("call_tool_read", {**args, "intent": {**READ, "reason": f"try {n}"}})["code"]
        for n in range(4)
    ]
    assert codes == ["SERVER_MISMATCH"] * 3 + ["CIRCUIT_OPEN"]


def test_of_a_call_that_declared_nothing_nothing_is_kept_as_declared(office: Office) -> None:
    args = {"name": "mcl:fs/read", "args": {"path": "notes/two.txt"}}
    assert office.refused("call_tool_read", args)["code"] == "MISSING_INTENT"
    kept = office.told("read_activity", {"limit": 1, "operation": "none", "tool": "fs/read"})["activity"][0]
    assert (kept["code"], kept["operation_type"], kept["data_sensitivity"]) == (
        "MISSING_INTENT",
        "",
        "unknown",
    )
    assert kept["tool_variant"] == "call_tool_read"
    assert "intent" not in kept["metadata"]


def test_every_call_is_kept_whatever_becomes_of_it(office: Office) -> None:
    before = office.rows("record.mcp.call")
    office.refused("call_tool_read", {"name": 7})
    office.refused("no_such_tool", {})
    office.refused("get_intent", {"intent": 7})
    office.told("retrieve_tools", {"query": "files"}, "auto")
    assert office.rows("record.mcp.call") == before + 4
    kept = office.told("read_activity", {"limit": 4})["activity"]
    assert [(one["tool"], one["verdict"], one["code"]) for one in reversed(kept)] == [
        ("call_tool_read", "denied", "BAD_TOOL_NAME"),
        ("no_such_tool", "denied", "UNKNOWN_TOOL"),
        ("get_intent", "denied", "INVALID_ARGS"),
        ("retrieve_tools", "allowed", ""),
    ]
    assert {one["client_name"] for one in kept} == {"mcp"}


# ---- what changes while it serves ----


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_is_entered_meanwhile_is_connected_and_its_tools_are_told(
    office: Office, era: str, tmp_path: Path
) -> None:
    """Clients are told that a list changed; the tools are found as soon as a person approves them."""
    name = f"new-{era}"
    environment = surroundings(tmp_path)
    environment.pop("MCL_HOME")
    office.said.clear()
    Servers(office.home).add(
        name, command=Peers(tmp_path, environment).command("plain"), folder=tmp_path, environment=environment
    )
    heard = _listen(office) if era == "auto" else None

    def known() -> bool:
        return any(one.server == name for one in Definitions(office.home).known())

    _until(known)
    if heard is None:
        _until(lambda: any(_method(one) == "notifications/tools/list_changed" for one in office.said))
    else:
        _until(lambda: bool(heard))
    said = office.told("retrieve_tools", {"query": "keep one more note", "server": name}, era)
    assert said["tools"] == []
    assert said["not_approved"] > 0
    args = {"name": f"{name}:look", "args": {"token": "t"}, "reason": "to look"}
    assert office.refused("call_tool_destructive", args, era)["code"] == "TOOL_QUARANTINED"


def _method(message: Any) -> str:
    return str(getattr(getattr(message, "root", message), "method", ""))


def _listen(office: Office) -> list[Any]:
    """Listen for changed lists in the way of the modern era, for as long as the client lives."""
    heard: list[Any] = []
    client = office.clients["auto"]

    async def listen() -> None:
        async with client.listen(tools_list_changed=True) as events:
            async for event in events:
                heard.append(event)

    office.portal.start_task_soon(listen)
    return heard


def _until(true: Any) -> None:
    import time

    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


# ---- whatever is given ----

STORES = {"approval.py", "classify.py", "definitions.py", "servers.py"}  # what a person's commands write to
DOORS = {"approve", "reject", "grant", "classify", "trust", "accept", "decide_gate", "call_tool"}
SIGNS = {"correct", "sign_correction"}
DOORS |= SIGNS


def test_nothing_that_is_offered_can_reach_what_only_a_person_does() -> None:
    """In the source: of what a person does with an intent only what needs no person is imported, and the two
    places that sign in a person's name are where the answer to a form is taken."""
    mcl = Path(serve.__file__).parents[1]
    roots = ("serve", "plugins/mcp", "catalog", "plugins/agents/governance", "plugins/agents/mcp_tools")
    nodes = [
        (file.name, node)
        for root in roots
        for file in sorted((mcl / root).rglob("*.py")) or [mcl / f"{root}.py"]
        if file.name not in STORES and file.parent.name != "cli"  # a person's commands
        for node in ast.walk(ast.parse(file.read_text()))
    ]
    acts = {str(node.module) for _, node in nodes if isinstance(node, ast.ImportFrom)}
    assert "mcl.catalog.approval" not in acts
    assert {name for name in acts if name.startswith("mcl.usecases")} <= {
        *("mcl.usecases.compile", "mcl.usecases.compile", "mcl.usecases.direct", "mcl.usecases.run"),
        *(
            "mcl.usecases",
            "mcl.usecases.call_question",
            "mcl.usecases.corrections",
            "mcl.usecases.gates",
            "mcl.usecases.documents",
            "mcl.usecases.intents",
            "mcl.usecases.installed",
            "mcl.usecases.tools",
        ),
    }
    # Of the work of coding agents what an agent does: not the import, not what signs, no sign-off.
    assert {name for name in acts if name.startswith("mcl.plugins.agents.")} <= {
        *(f"mcl.plugins.agents.work.{one}" for one in ("completion", "item", "leases")),
        *(
            "mcl.plugins.agents.work.selection",
            "mcl.plugins.agents.work.store",
            "mcl.plugins.agents.file.rules",
        ),
        *(f"mcl.plugins.agents.writes.{one}" for one in ("callers", "images")),
        "mcl.plugins.agents.governance",
        "mcl.plugins.agents.install.hosts",  # what their programs are called
        "mcl.plugins.agents.usecases",
    }
    completing = [node for node in called_as("complete", nodes) if node.keywords or node.args]
    assert completing
    assert not any(word.arg in (None, "ask") for node in completing for word in node.keywords)
    called = [
        (file, ast.unparse(node.func))
        for file, node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DOORS
    ]
    assert sorted(called) == [
        ("call_questions.py", "asked_of.approve"),
        ("corrections.py", "corrections.sign_correction"),
    ]
    imported = [
        (file, name.name)
        for file, node in nodes
        if isinstance(node, ast.ImportFrom)
        and node.module in ("mcl.usecases.corrections", "mcl.usecases.gates")
        for name in node.names
    ]
    assert set(imported) == {
        *(("corrections.py", one) for one in ("Proposal", "propose_correction", "propose_at_gate")),
        *((file, "waits_for_words") for file in ("corrections.py", "intents.py")),  # it only looks
    }, "what signs is called by its module alone, so that it is seen above"
    signing = [ast.unparse(one) for _, one in nodes if isinstance(one, ast.Attribute) and one.attr in SIGNS]
    assert signing == ["corrections.sign_correction"]


def called_as(name: str, nodes: list[tuple[str, ast.AST]]) -> list[ast.Call]:
    """The calls of a function by its bare name, also those that `partial` puts off."""
    return [
        node
        for _, node in nodes
        if isinstance(node, ast.Call)
        and any(isinstance(one, ast.Name) and one.id == name for one in (node.func, *node.args[:1]))
    ]


NAMES = st.sampled_from([one.name for one in OFFERED])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
WORDS = st.sampled_from(
    [
        "mcl:fs/read",
        "mcl:fs/list",
        "mcl:time/now",
        "mcl:",
        ":",
        "mcl:fs/write",
        "@last",
        "",
        "read",
        "../..",
        "\u202e",
    ]
)
KNOWN = sorted({field for one in OFFERED for field in one.input_schema["properties"]})  # type: ignore[attr-defined]
FIELDS = st.dictionaries(st.sampled_from(KNOWN) | st.text(max_size=6), JSON | WORDS, max_size=6)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=NAMES, arguments=FIELDS, era=st.sampled_from(ERAS))
def test_any_arguments_are_answered_or_refused_with_the_reason_and_accept_nothing(
    office: Office, name: str, arguments: dict[str, Any], era: str
) -> None:
    """No arguments lead to an error of the protocol, to a fault, or to anything that only a person may do."""
    kinds = ("intent.accept", "policy.gate.resolve", "record.grant.given", "record.tool.approved")
    before = {kind: office.rows(kind) for kind in kinds}
    granted = Grants(office.home).list(office.home.keyring.agent.did)
    result = office.call(name, arguments, era)
    if result.is_error:
        said = result.structured_content
        assert said["code"] != "INTERNAL", said
        assert said["message"]
        assert "Traceback" not in result.content[0].text
    assert {kind: office.rows(kind) for kind in kinds} == before
    assert Grants(office.home).list(office.home.keyring.agent.did) == granted


# ---- clients of long ago ----


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("2024-11-05", ["text", "text", "text"]),
        ("2025-03-26", ["text", "audio", "text"]),
        ("2025-06-18", ["text", "audio", "resource_link"]),
    ],
)
def test_content_that_a_version_of_the_protocol_does_not_know_becomes_a_text(
    office: Office, version: str, kinds: list[str]
) -> None:
    blocks = [
        {"type": "text", "text": "a text"},
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "mcl://notes/notes://all", "name": "notes"},
    ]

    async def run(session: Any, arguments: Any, caller: Any) -> Reply:
        return Reply(None, blocks)

    offered = Offered("all_kinds", "gives all kinds", {"type": "object"}, {}, run, kept=False)
    face = Face(office.face._session, [offered])

    async def old_client() -> Any:
        to_server, server_reads = anyio.create_memory_object_stream[Any](8)
        server_writes, from_server = anyio.create_memory_object_stream[Any](8)

        async def ask(id: int, method: str, params: dict[str, Any]) -> Any:
            message = types.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)
            await to_server.send(SessionMessage(message))
            return (await from_server.receive()).message.result

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(face.server.run, server_reads, server_writes, face.options)
            who = {"name": "old", "version": "0"}
            asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": who}
            assert (await ask(1, "initialize", asked))["protocolVersion"] == version
            said = await ask(2, "tools/call", {"name": "all_kinds", "arguments": {}})
            await to_server.aclose()
        return said

    said = office.portal.call(old_client)
    assert [block["type"] for block in said["content"]] == kinds
    assert "mcl://notes/notes://all" in json.dumps(said["content"][2])


# ---- errors as text alone ----

LINES = [
    ("call_tool_read", {"name": "mcl:fs/read", "args": {"path": "../home/mcl.db"}}, "mcl:fs/read blocked: "),
    ("call_tool_read", {"name": "mcl:fs/read", "args": {"path": "notes/.env"}}, "mcl:fs/read blocked: "),
    (
        "call_tool_read",
        {"name": "mcl:fs/write", "args": {"path": "a", "content": ""}},
        "mcl:fs/write blocked: ",
    ),
    ("call_tool_read", {"name": "mcl:process/tests", "args": {"path": "."}}, "mcl:process/tests blocked: "),
    ("call_tool_read", {"name": "mcl:fs/read", "args": {"path": "missing.txt"}}, "mcl:fs/read failed: "),
    ("call_tool_read", {"name": "mcl:fs/read", "args": {"path": "notes"}}, "mcl:fs/read failed: "),
    ("call_tool_read", {"name": "no name", "args": {}}, "call_tool_read failed: "),
    ("get_intent", {"intent": "01M7YX0000000000000000000Z"}, "get_intent failed: "),
    ("run_intent", {}, "run_intent failed: "),
    ("no_such\ntool blocked: x", {}, "no_such tool blocked: x failed: "),
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("name", "arguments", "line"), LINES, ids=lambda value: str(value)[:40])
def test_the_text_of_an_error_begins_with_the_tool_and_says_whether_it_was_blocked(
    office: Office, era: str, name: str, arguments: dict[str, Any], line: str
) -> None:
    given = {**arguments, "intent": READ} if name.startswith("call_tool") else arguments
    result = office.call(name, given, era)
    text = result.content[0].text
    assert result.is_error
    assert text.startswith(line), text[:200]
    assert text.split("\n")[0] == line + " ".join(result.structured_content["message"].split())
    assert json.loads(text.partition("\n")[2]) == result.structured_content


def test_an_intent_that_nobody_accepted_is_blocked(office: Office) -> None:
    id = office.told("compile_intent", {"goal": "find the word invoice in the folder notes"})["id"]
    text = office.call("run_intent", {"intent": id}).content[0].text
    assert text.startswith("run_intent blocked: ")


def test_what_a_schema_bounds_is_what_the_tool_itself_knows() -> None:
    takes = {one.name: dict(one.input_schema["properties"]) for one in OFFERED}
    assert takes["retrieve_tools"]["limit"]["maximum"] == search.MOST
    assert takes["run_intent"]["wait_s"]["maximum"] == run_intent.LONGEST
    assert takes["complete_intent"]["verification_notes"]["maxLength"] == MAX_NOTES
    assert takes["list_active_intents"]["status_filter"]["enum"] == list(STATUSES)
    said = {
        name: one["anyOf"][0].get("enum") for name, one in takes["read_activity"].items() if "anyOf" in one
    }
    known = {"operation": OPERATIONS, "sensitivity": SENSITIVITIES, "status": VERDICTS}
    assert {name: tuple(words) for name, words in said.items() if words} == known
