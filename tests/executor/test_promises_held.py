"""What a goal rules out is not done: for each rule plans that break it in several ways, each refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from shelf import Shelf, dispatch
from walks import NODE, Says, Walks, code, granted, parallel, probe, sequence, tool
from websites import page, website

from executor import Bench, Grants, Outcome
from ir import PlanStepBody


def rule(keeps: str, *, hard: bool = True, said: str = "as the goal says") -> dict[str, Any]:
    return {"type": "rule", "hard": hard, "rule": said, "keeps": keeps}


async def act(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    return {}


async def say(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    return {"text": args["text"]}


@pytest.fixture
def held(walks: Walks) -> Walks:
    """A workspace with files, all classes granted, and tools that do what tools may do."""
    for name in ("a.txt", "src/b.txt", "secret/c.txt", "docs/d.txt"):
        walks.write(name, "hello")
    (walks.workspace / "docs" / "link").symlink_to("../secret")
    walks.tools += [
        probe("say", say),
        probe("shell", act, effects=("shell",), safety="D"),
        probe("look", act, effects=("shell",), safety="D", operation="read"),
        probe("send", act, effects=("network",), safety="E"),
        probe("wipe", act, effects=("write",), operation="destructive"),
        probe("commit", act, effects=("write",)),
    ]
    Grants(walks.home).grant(walks.home.keyring.agent.did, ["read", "write", "network", "shell"])
    return walks


WRITE_NEW = tool("w", "fs/write", "write", path="new.txt", content="x")
WRITE_OLD = tool("w", "fs/write", "write", path="a.txt", content="x", overwrite="true")
EDIT = tool("e", "fs/edit", "write", path="a.txt", old="hello", new="bye")
APPEND = tool("p", "fs/append", "write", path="a.txt", content="x")
DELETE = tool("d", "fs/delete", "write", path="a.txt")
READ = tool("r", "fs/read", path="a.txt")
SHELL = tool("s", "test/shell", "shell")
LOOK = tool("l", "test/look", "shell")
SEND = tool("n", "test/send", "network")
POST = tool("h", "http/request", "network", method="POST", url="http://127.0.0.1:1/")
GET = tool("g", "http/get", "network", url="http://127.0.0.1:1/")
BRANCH = tool("b", "git/branch", "write", name="x")
ASSIGN = tool("t", "task/assign", "write", assignee="ada", task="paint")


def read(path: str) -> NODE:
    return tool("r", "fs/read", path=path)


def write(path: str) -> NODE:
    return tool("w", "fs/write", "write", path=path, content="x")


ATTACKS: list[tuple[str, NODE]] = [
    *(("change nothing", node) for node in (WRITE_NEW, WRITE_OLD, EDIT, APPEND, DELETE, SHELL, SEND, POST)),
    *(("change nothing", node) for node in (BRANCH, ASSIGN, sequence("q", READ, WRITE_NEW))),
    *(("read only", node) for node in (WRITE_NEW, EDIT, APPEND, DELETE, SHELL, SEND, POST, BRANCH, ASSIGN)),
    ("read only", parallel("q", READ, WRITE_NEW)),
    *(("delete nothing", node) for node in (DELETE, WRITE_OLD, SHELL, tool("x", "test/wipe", "write"))),
    ("delete nothing", tool("h", "http/request", "network", method="DELETE", url="http://127.0.0.1:1/")),
    ("delete nothing", tool("c", "git/checkout", "write", name="main")),
    *(("overwrite nothing", node) for node in (WRITE_OLD, EDIT, APPEND, DELETE, SHELL, POST)),
    ("overwrite nothing", tool("e", "fs/edit", "write", path="./src//b.txt", old="hello", new="x")),
    *(("no new files", node) for node in (WRITE_NEW, write("deep/er/new.txt"), ASSIGN, SHELL, BRANCH)),
    ("no new files", tool("p", "fs/append", "write", path="new.txt", content="x")),
    *(("no network", node) for node in (GET, POST, SEND, SHELL, LOOK)),
    *(("send nothing", node) for node in (POST, SEND, SHELL, LOOK)),
    (
        "send nothing",
        sequence("q", READ, tool("g", "http/get", "network", url="http://127.0.0.1:1/?${r.output.text}")),
    ),
    *(("no commands", node) for node in (SHELL, LOOK)),
    *(
        ("only in src", read(path))
        for path in ("a.txt", "secret/c.txt", "srcs/x.txt", "src2", "./a.txt", "SRC/b.txt")
    ),
    *(("only in src", node) for node in (SHELL, LOOK, WRITE_NEW, tool("l", "fs/list"), BRANCH)),
    ("only in src", tool("l", "fs/list", path=".")),
    ("only in src", tool("f", "fs/search", query="hello")),
    *(
        ("not in secret", read(path))
        for path in ("secret/c.txt", "./secret/c.txt", "secret//c.txt", "SECRET/c.txt")
    ),
    *(
        ("not in secret", node)
        for node in (write("secret/new.txt"), write("secret"), tool("l", "fs/list"), SHELL)
    ),
    ("not in secret", tool("l", "fs/list", path="secret")),
    ("not in secret", tool("f", "fs/search", query="hello")),
    *(
        ("change only in src", node)
        for node in (WRITE_NEW, EDIT, DELETE, SHELL, BRANCH, ASSIGN, write("srcs/x"))
    ),
    *(("change not in src", node) for node in (write("src/new.txt"), write("./src/x/y"), SHELL, BRANCH)),
    ("change not in src", tool("d", "fs/delete", "write", path="src/b.txt")),
    ("change not in src/b.txt", tool("e", "fs/edit", "write", path="src/b.txt", old="hello", new="x")),
    *(("only host api.example", node) for node in (GET, POST, SEND, SHELL)),
    ("only host api.example", tool("g", "http/get", "network", url="http://api.example/")),
    ("only host api.example", tool("g", "http/get", "network", url="https://api.example:8443/")),
    ("only host api.example", tool("g", "http/get", "network", url="https://api.example.org/")),
    *(("no tool git/push, git/commit", node) for node in (SHELL, LOOK)),
    *(("no tool git/*", node) for node in (BRANCH, tool("s", "git/status"), SHELL)),
    *(("no tool fs/write", node) for node in (WRITE_NEW, sequence("q", READ, WRITE_NEW))),
    *(("only tool fs/read", node) for node in (WRITE_NEW, tool("l", "fs/list"), GET)),
    *(("at most 0 calls", node) for node in (READ, WRITE_NEW)),
    ("at most 1 calls", sequence("q", READ, tool("r2", "fs/read", path="a.txt"))),
    ("at most 0 files", WRITE_NEW),
    (
        "at most 1 files",
        sequence("q", write("n1.txt"), tool("w2", "fs/write", "write", path="n2.txt", content="x")),
    ),
    ("at most 3 files", SHELL),
    *((f"be {nice}", READ) for nice in ("nice", "Change nothing")),
]


def files(walks: Walks) -> dict[str, str]:
    return {
        str(one.relative_to(walks.workspace)): one.read_text()
        for one in walks.workspace.rglob("*")
        if one.is_file() and not one.is_symlink()
    }


@pytest.mark.parametrize(("keeps", "node"), ATTACKS)
def test_a_plan_that_breaks_a_rule_is_refused_with_its_code(held: Walks, keeps: str, node: NODE) -> None:
    before = files(held)
    outcome = held.go(node, verb="acquire", constraints=[rule(keeps)])
    known = "PROMISE_BROKEN" if not keeps.startswith("be") else "PROMISE_UNCHECKABLE"
    assert (code(outcome), outcome.state) in ((known, "denied"), (known, "failed"))
    assert outcome.failure is not None
    assert outcome.failure.fix
    if not keeps.startswith("at most 1 "):  # what is counted stops at the call that is too much
        assert files(held) == before


@pytest.mark.parametrize(("keeps", "node"), [one for one in ATTACKS if one[1]["kind"] == "tool_call"])
def test_nor_is_it_done_by_a_skill_below(held: Walks, keeps: str, node: NODE) -> None:
    shelf = Shelf()
    shelf.put("low", node)
    before = files(held)
    root = dispatch(shelf, "sub", "low", verb="acquire")
    outcome = held.run(held.accept(root, verb="acquire", constraints=[rule(keeps)]), sub_skills=shelf)
    known = "PROMISE_BROKEN" if not keeps.startswith("be") else "PROMISE_UNCHECKABLE"
    assert code(outcome) == known
    assert files(held) == before


@pytest.mark.parametrize(
    "keeps", ["only in docs", "not in secret", "change only in docs", "change not in secret"]
)
@pytest.mark.parametrize(
    "path", ["docs/link/c.txt", "docs/../secret/c.txt", "/etc/hostname", "{workspace}/secret/c.txt"]
)
def test_no_spelling_of_a_path_leads_round_a_rule(held: Walks, keeps: str, path: str) -> None:
    there = path.format(workspace=held.workspace)
    nodes = [tool("w", "fs/edit", "write", path=there, old="hello", new="x")]
    nodes += [] if keeps.startswith("change") else [tool("r", "fs/read", path=there)]
    for node in nodes:
        outcome = held.go(node, constraints=[rule(keeps)], people=Says("deny"))
        assert code(outcome) in ("PROMISE_BROKEN", "OUT_OF_SCOPE", "GATE_DENIED", "PROTECTED_PATH")
    assert (held.workspace / "secret/c.txt").read_text() == "hello"


@pytest.mark.parametrize(
    "keeps", ["only in docs", "not in secret", "change only in docs", "change not in secret"]
)
def test_a_path_that_is_known_late_is_held_to_the_rule_when_it_is(held: Walks, keeps: str) -> None:
    late = tool("e", "fs/edit", "write", path="${s.output.text}", old="hello", new="x")
    outcome = held.go(
        sequence("q", tool("s", "test/say", text="secret/c.txt"), late), constraints=[rule(keeps)]
    )
    assert code(outcome) == "PROMISE_BROKEN"
    assert (held.workspace / "secret/c.txt").read_text() == "hello"


@pytest.mark.parametrize(
    ("keeps", "node"),
    [
        *(("change nothing", node) for node in (READ, LOOK, tool("t", "time/now"))),
        *(("read only", node) for node in (READ, LOOK)),
        *(("delete nothing", node) for node in (WRITE_NEW, EDIT, APPEND, ASSIGN)),
        *(("overwrite nothing", node) for node in (WRITE_NEW, ASSIGN, READ)),
        *(("no new files", node) for node in (EDIT, APPEND, READ)),
        *(("no network", node) for node in (READ, WRITE_NEW)),
        *(("no commands", node) for node in (READ, WRITE_NEW)),
        *(("only in src, docs", read(path)) for path in ("src/b.txt", "docs/d.txt", "./src//b.txt")),
        *(("not in secret", node) for node in (READ, WRITE_NEW, read("src/b.txt"), tool("t", "time/now"))),
        *(("change only in src", node) for node in (READ, write("src/new.txt"), tool("l", "fs/list"))),
        *(("change not in src", node) for node in (WRITE_NEW, read("src/b.txt"))),
        *(("no tool git/push, git/commit", node) for node in (WRITE_NEW, READ)),
        *(("only tool fs/read, time/now", node) for node in (READ, tool("t", "time/now"))),
        *(("at most 1 calls", node) for node in (READ, WRITE_NEW)),
        *(("at most 1 files", node) for node in (READ, WRITE_NEW)),
    ],
)
def test_what_keeps_a_rule_is_done(held: Walks, keeps: str, node: NODE) -> None:
    outcome = held.go(node, constraints=[rule(keeps)])
    assert (outcome.state, outcome.failure) == ("completed", None)


def test_the_same_file_twice_is_one_file(held: Walks) -> None:
    again = tool("p", "fs/append", "write", path="./n1.txt", content="y")
    plan = sequence("q", write("n1.txt"), again)
    assert held.go(plan, constraints=[rule("at most 1 files")]).state == "completed"


@pytest.mark.parametrize(("path", "expected"), [("n1.txt", ""), ("n2.txt", "PROMISE_BROKEN")])
def test_what_was_changed_before_a_crash_is_counted_when_the_run_goes_on(
    held: Walks, path: str, expected: str
) -> None:
    again = tool("p", "fs/append", "write", path=path, content="y")
    id = held.accept(sequence("q", write("n1.txt"), again), constraints=[rule("at most 1 files")])
    plan = held.home.journal.view(id).plan
    assert plan is not None
    begun = json.dumps({"attempt": 1, "calls": 1, "files": ["n1.txt"]}).encode()
    for node, state, told in (("q", "running", b""), ("w", "running", begun), ("w", "completed", b"{}")):
        held.tell(id, "plan.step", PlanStepBody(plan.id, node, state, told))
    held.write("n1.txt", "x")
    assert code(held.run(id, resume=True)) == expected


def test_a_wish_holds_nobody_to_it(held: Walks) -> None:
    outcome = held.go(WRITE_NEW, constraints=[rule("change nothing", hard=False)])
    assert outcome.state == "completed"


def test_who_wants_to_be_asked_is_asked_before_each_call_that_does_more_than_read(held: Walks) -> None:
    people = Says("approve", "deny")
    plan = sequence("q", READ, WRITE_NEW, tool("p", "fs/append", "write", path="a.txt", content="x"))
    outcome = held.go(
        plan, constraints=[rule("ask before each", said="ask me before you change")], people=people
    )
    assert [one.node_id for one in people.asked] == ["w", "p"]
    assert "ask me before you change" in people.asked[0].question
    assert code(outcome) == "GATE_DENIED"


def jurisdiction(**more: Any) -> dict[str, Any]:
    return {"type": "jurisdiction", "hard": True, **more}


def run_at(walks: Walks, origin: str, **more: Any) -> Outcome:
    return walks.go(
        tool("g", "http/get", "network", url=f"{origin}/"), verb="find", constraints=[jurisdiction(**more)]
    )


@pytest.mark.parametrize(
    ("regions", "wanted", "expected"),
    [
        (("DE",), {"allow": ["DE"]}, ""),
        (("DE",), {"allow": ["EU"]}, ""),
        (("DE", "FR"), {"allow": ["DE", "FR"]}, ""),
        (("US",), {"deny": ["CN"]}, ""),
        ((), {"allow": ["DE"]}, "PROMISE_UNCHECKABLE"),
        (("US",), {"allow": ["DE"]}, "PROMISE_UNCHECKABLE"),
        (("DE", "US"), {"allow": ["DE"]}, "PROMISE_UNCHECKABLE"),
        (("EU",), {"allow": ["DE"]}, "PROMISE_UNCHECKABLE"),
        (("EU",), {"deny": ["DE"]}, "PROMISE_UNCHECKABLE"),
        (("DE",), {"deny": ["EU"]}, "PROMISE_UNCHECKABLE"),
    ],
)
def test_a_region_is_that_which_was_said_of_the_host_when_it_was_granted(
    held: Walks, regions: tuple[str, ...], wanted: dict[str, list[str]], expected: str
) -> None:
    with website({"/": page("ok")}) as site:
        granted(held, site.origin)
        agent = held.home.keyring.agent.did
        if regions:
            Grants(held.home).grant_hosts(agent, [site.origin], regions=regions)
        outcome = run_at(held, site.origin, **wanted)
        assert code(outcome) == expected
        assert (site.connections == 0) == bool(expected)


def test_a_host_that_is_named_late_is_held_to_the_region_when_it_is(held: Walks) -> None:
    with website({"/": page("ok")}) as near, website({"/": page("ok")}) as far:
        granted(held, near.origin, far.origin)
        agent = held.home.keyring.agent.did
        Grants(held.home).grant_hosts(agent, [near.origin], regions=["DE"])
        first = tool("g", "http/get", "network", url=f"{near.origin}/")
        late = tool("h", "http/get", "network", url="${s.output.text}")
        plan = sequence("q", first, tool("s", "test/say", text=f"{far.origin}/"), late)
        outcome = held.go(plan, verb="find", constraints=[jurisdiction(allow=["DE"])])
        assert code(outcome) == "PROMISE_BROKEN"
        assert (near.connections, far.connections) == (1, 0)


def test_what_is_promised_is_in_the_attestation_with_verdict_and_evidence(held: Walks) -> None:
    outcome = held.go(
        write("docs/new.md"),
        constraints=[rule("change only in docs"), {"type": "rule", "rule": "be kind"}],
        criteria=[
            {"type": "delivered", "artifact": "docs/new.md"},
            {"type": "signed_off", "what": "it is kind"},
        ],
        budget={"max_calls": 3},
        people=Says("approve"),
    )
    assert outcome.state == "completed"
    body: Any = held.home.journal.envelopes(outcome.intent_id)[-1].body

    told = json.loads(body.evidence_json)["promises"]
    assert [(one["place"], one["standing"], one["verdict"]) for one in told] == [
        ("budget", "enforced", "kept"),
        ("frame.constraints[0]", "enforced", "kept"),
        ("frame.constraints[1]", "not_checkable", "unknown"),
        ("frame.success_criteria[0]", "checked", "kept"),
        ("frame.success_criteria[1]", "signed_off", "kept"),
    ]
    assert told[3]["evidence"]["sha256"]
    assert [one["evidence"]["guard"] for one in told[:2]] == ["budget", "promise"]


@pytest.mark.parametrize(
    "promise",
    [
        {"constraints": [{"type": "rule", "hard": True, "rule": "the tone is friendly"}]},
        {"constraints": [{"type": "policy", "hard": True, "policy": "ours"}]},
        {"constraints": [{"type": "quality", "hard": True, "metric": "taste", "min": 1.0}]},
        {"constraints": [{"type": "jurisdiction", "hard": True, "allow": ["DE"]}]},
        {"constraints": [{"type": "x:moon", "hard": True}]},
        {"criteria": [{"type": "delivered", "artifact": "my desk"}]},
        {"criteria": [{"type": "delivered", "artifact": "Anna"}]},
        {"criteria": [{"type": "attestation", "source": "the bank", "topic": "it"}]},
        {"criteria": [{"type": "signed_off", "by": "Anna"}]},
    ],
)
def test_a_hard_promise_that_nobody_can_check_is_told_before_anything_is_done(
    held: Walks, promise: dict[str, Any]
) -> None:
    outcome = held.go(WRITE_NEW, **promise)
    assert (code(outcome), outcome.state, outcome.nodes) == ("PROMISE_UNCHECKABLE", "denied", {})
    assert not (held.workspace / "new.txt").exists()


@pytest.mark.parametrize(
    ("keeps", "node", "expected"),
    [
        ("change nothing", WRITE_NEW, "PROMISE_BROKEN"),
        ("only in docs", READ, "PROMISE_BROKEN"),
        ("only in docs", read("docs/d.txt"), ""),
        ("at most 1 calls", READ, ""),
        ("at most 1 calls", sequence("q", READ, tool("r2", "fs/read", path="a.txt")), "PROMISE_BROKEN"),
        ("at most 1 files", write("n3.txt"), ""),
    ],
)
def test_a_rule_of_a_dispatch_holds_what_is_below_it_and_counts_that_alone(
    held: Walks, keeps: str, node: NODE, expected: str
) -> None:
    shelf = Shelf()
    shelf.put("low", node)
    before = [tool("a", "fs/read", path="a.txt"), write("n1.txt"), tool("b", "fs/read", path="a.txt")]
    root = sequence("all", *before, dispatch(shelf, "sub", "low", verb="build", constraints=[rule(keeps)]))
    outcome = held.run(held.accept(root), sub_skills=shelf)
    assert code(outcome) == expected


def test_calls_below_count_above(held: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", READ)
    again = tool("b", "fs/read", path="a.txt")
    root = sequence("all", tool("a", "fs/read", path="a.txt"), dispatch(shelf, "sub", "low"), again)
    outcome = held.run(held.accept(root, constraints=[rule("at most 2 calls")]), sub_skills=shelf)
    assert (code(outcome), outcome.state, outcome.nodes) == ("PROMISE_BROKEN", "denied", {})
    assert outcome.failure is not None
    assert outcome.failure.node_id == "b"


def test_a_rule_below_one_that_nobody_can_check_is_told_before_anything_is_done(held: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", READ)
    sub = dispatch(shelf, "sub", "low", constraints=[{"type": "rule", "hard": True, "rule": "be kind"}])
    outcome = held.run(held.accept(sequence("all", WRITE_NEW, sub)), sub_skills=shelf)
    assert (code(outcome), outcome.state, outcome.nodes) == ("PROMISE_UNCHECKABLE", "denied", {})
    assert outcome.failure is not None
    assert outcome.failure.node_id == "sub/frame.constraints[0]"
