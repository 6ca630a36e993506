"""An agent that has an intent checked out, or has none, and what the gate lets its declared calls do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from walks import Walks, context_of, granted, tool

from executor import Allow, Ask, Bench, Call, Context, Declaration, Deny, Home, Manifest, Pins, Tool, decide
from executor.core.globs import Scope
from executor.gate.checkout import Checkout, intent_already_active, no_intent_declared, out_of_scope
from executor.gate.decide import weigh
from executor.sandbox.redaction import Redactor
from ir import MclError


@dataclass
class Folder:
    """What is checked out in a folder, as a test sets it."""

    scope: tuple[str, ...] | None = None
    rules: bool = True
    others: Mapping[str, str] | None = None  # pattern of another intent, by its label
    asked: int = 0

    def governed(self) -> bool:
        return self.rules

    def held(self) -> Checkout | None:
        self.asked += 1
        if self.scope is None:
            return None
        return Checkout("01M7ZYTDXC181SZJRTQSVQHQBM", "INT-001", Scope.of(self.scope), "ada", "2026-11-22")

    def owners(self, path: str) -> tuple[str, ...]:
        return tuple(label for label, one in (self.others or {}).items() if Scope.of([one]).matches(path))

    def labels(self) -> tuple[str, ...]:
        return ("INT-001", *(self.others or {}))


SCOPE = ("src/auth/**", "docs/*.md", "tasks/**")


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    found = Walks(home, tmp_path / "work")
    for path in ("src/auth/a.ts", "src/other.ts", "docs/a.md", "data.csv"):
        found.write(path, "a,b\n1,2\n")
    return found


def call(which: str, operation: str = "write", /, **args: object) -> Call:
    """A call as an agent declares it: no plan holds it."""
    said = Declaration(operation, "internal", "it is due", f"call_tool_{operation}")
    return Call(f"matrix://tool/{which}@1.0.0", args, "", declaration=said)


def write(path: str, **more: object) -> Call:
    return call("fs/write", path=path, content="x", **more)


def gate(walks: Walks, folder: Folder | None, **more: Any) -> Context:
    found: Context = context_of(walks, None, checkouts=folder, holds_run=False, **more)
    return found


def verdict(walks: Walks, wanted: Call, folder: Folder | None) -> str:
    """ALLOW, ASK, or the code of the refusal and the guard that gave it."""
    return said(gate(walks, folder), wanted)


def said(context: Context, wanted: Call) -> str:
    reply = decide(wanted, context)
    if isinstance(reply, Deny):
        return f"{reply.code} {reply.guard}"
    return "ASK" if isinstance(reply, Ask) else "ALLOW"


NO_INTENT, OUTSIDE = "NO_INTENT_DECLARED checkout", "OUT_OF_SCOPE checkout"
NO_PATH, CLOSED = "OUT_OF_SCOPE scope", "PROTECTED_PATH scope"


def test_no_scope_opens_what_names_the_programs_of_agents_hosts(walks: Walks) -> None:
    everything = Folder(("**",))
    for path in (".mcp.json", ".claude/settings.json", "packages/one/.Claude/settings.local.json"):
        assert verdict(walks, write(path), everything) == "PROTECTED_PATH checkout"
        delete = call("fs/delete", "destructive", path=path)
        assert verdict(walks, delete, everything) == "PROTECTED_PATH checkout"
    assert verdict(walks, write(".claude/notes.md"), everything) == "ALLOW"
    assert verdict(walks, write("src/mcp.json"), everything) == "ALLOW"


@pytest.mark.parametrize(
    ("wanted", "without", "within"),
    [
        # what only looks
        (call("fs/read", "read", path="src/other.ts"), "ALLOW", "ALLOW"),
        (call("fs/list", "read"), "ALLOW", "ALLOW"),
        (call("git/branch", "read"), "ALLOW", "ALLOW"),
        (call("time/now", "read"), "ALLOW", "ALLOW"),
        (call("http/get", "read", url="https://example.org/"), "ALLOW", "ALLOW"),
        # files in scope
        (write("src/auth/new/b.ts"), NO_INTENT, "ALLOW"),
        (write("./src//auth/b.ts"), NO_INTENT, "ALLOW"),
        (call("fs/append", path="docs/a.md", content="x"), NO_INTENT, "ALLOW"),
        (write("docs/a.md", base="0" * 64), NO_INTENT, "STALE_FILE locks"),
        (call("data/chart", path="data.csv", x="a", y="b", out="src/auth/c.svg"), NO_INTENT, "ALLOW"),
        # files out of it
        (write("src/other.ts"), NO_INTENT, OUTSIDE),
        (write("docs/sub/a.md"), NO_INTENT, OUTSIDE),
        (call("data/chart", path="docs/a.md", x="a", y="b", out="a.svg"), NO_INTENT, OUTSIDE),
        (call("calendar/add", title="x", start="2026-12-01"), NO_INTENT, OUTSIDE),
        # destruction, commands, the network, and what names no file
        (call("fs/delete", "destructive", path="src/auth/a.ts"), NO_INTENT, "ASK"),
        (call("fs/delete", "destructive", path="src/other.ts"), NO_INTENT, OUTSIDE),
        (write("src/auth/a.ts", overwrite=True), "SERVER_MISMATCH three_keys", "SERVER_MISMATCH three_keys"),
        (call("git/branch", name="x"), NO_INTENT, "ASK"),
        (call("process/tests"), NO_INTENT, "ASK"),
        (call("process/tests", path="src"), NO_INTENT, "ASK"),
        (call("process/tests", path="src/auth"), NO_INTENT, "ASK"),
        (call("process/lint", "read"), NO_INTENT, "ASK"),
        (call("http/request", url="https://example.org/", method="POST"), NO_INTENT, "ASK"),
        # folders, of which it is not known which files change
        (call("task/assign", assignee="ada", task="x"), NO_INTENT, "ASK"),
        (call("task/assign", assignee="ada", task="x", folder="src/auth"), NO_INTENT, "ALLOW"),
        (call("task/assign", assignee="ada", task="x", folder="docs"), NO_INTENT, "ASK"),
        (call("task/assign", assignee="ada", task="x", folder="docs/new.md"), NO_INTENT, "ASK"),
        (call("task/assign", assignee="ada", task="x", folder="lib"), NO_INTENT, OUTSIDE),
        # what an earlier guard refuses
        (write("../x"), NO_PATH, NO_PATH),
        (write(".orchestration/active_intents.yaml"), CLOSED, CLOSED),
        (call("rm/all"), "UNKNOWN_TOOL tool_known", "UNKNOWN_TOOL tool_known"),
        (call("fs/write", "read", path="docs/b.md", content="x"), *["SERVER_MISMATCH three_keys"] * 2),
    ],
)
def test_what_a_declared_call_may_do_without_a_checkout_and_with_one(
    walks: Walks, wanted: Call, without: str, within: str
) -> None:
    granted(walks, "example.org", also=["shell"])
    context = gate(walks, None)
    ungoverned = said(context, wanted)
    assert said(replace(context, checkouts=Folder(rules=False, scope=SCOPE)), wanted) == ungoverned
    assert ungoverned not in (NO_INTENT, OUTSIDE)
    assert said(replace(context, checkouts=Folder()), wanted) == without
    assert said(replace(context, checkouts=Folder(SCOPE)), wanted) == within


SPELLINGS = {
    "src/auth/b.ts": "ALLOW",
    "src/auth/.//b.ts": "ALLOW",
    "src/auth/\u202eb.ts": "ALLOW",
    "src/auth/..": NO_PATH,
    "src/auth/../other2.ts": NO_PATH,
    "src/auth/x/../../other2.ts": NO_PATH,
    "/src/auth/b.ts": NO_PATH,
    "//src/auth/b.ts": NO_PATH,
    "~/src/auth/b.ts": NO_PATH,
    "src/auth/b.ts\n": NO_PATH,
    "src/auth/b.ts\0.md": NO_PATH,
    "": "INVALID_ARGS arguments",
    ".": "ASK",
    "src": "ASK",
    "src/auth": "ASK",
    "src/auth/": "ASK",
    "docs": OUTSIDE,
    "lib/": OUTSIDE,
    "src/auth2/b.ts": OUTSIDE,
    "src/authb.ts": OUTSIDE,
    "SRC/auth/b.ts": OUTSIDE,
    "src/Auth/b.ts": OUTSIDE,
    "ｓrc/auth/b.ts": OUTSIDE,
    "src/а" + "uth/b.ts": OUTSIDE,  # a Cyrillic letter
    "src/au\u200bth/b.ts": OUTSIDE,
    "src\\auth\\b.ts": OUTSIDE,
    "src%2fauth/b.ts": OUTSIDE,
    " src/auth/b.ts": OUTSIDE,
    "src /auth/b.ts": OUTSIDE,
    "${HOME}/src/auth/b.ts": OUTSIDE,
    "src/auth/.env": CLOSED,
    "src/auth/.git/config": CLOSED,
    "src/auth/.orchestration/x": CLOSED,
    "src/auth/.ORCHESTRATION/x": CLOSED,
}


def test_a_path_in_scope_is_one_whose_plain_spelling_is(walks: Walks) -> None:
    context = gate(walks, Folder(("src/auth/**",)))
    assert {path: said(context, write(path)) for path in SPELLINGS} == SPELLINGS


def test_no_scope_opens_what_is_protected(walks: Walks) -> None:
    everything = Folder(("**", ".orchestration/**", ".git/**", "**/.env"))
    for path in (".orchestration/active_intents.yaml", ".git/hooks/pre-commit", "x/.env"):
        assert verdict(walks, write(path), everything) == CLOSED


def test_a_link_in_scope_leads_nowhere_out_of_it(walks: Walks, tmp_path: Path) -> None:
    auth, folder = walks.workspace / "src/auth", Folder(SCOPE)
    (auth / "up").symlink_to(walks.workspace / "src")
    (auth / "away").symlink_to(tmp_path)
    (auth / "file.ts").symlink_to(walks.workspace / "src/other.ts")
    os.link(walks.workspace / "src/other.ts", auth / "hard.ts")
    for path in ("up/other2.ts", "away/x", "file.ts", "hard.ts"):
        assert verdict(walks, write(f"src/auth/{path}"), folder) == NO_PATH
        assert verdict(walks, call("fs/append", path=f"src/auth/{path}", content="x"), folder) == NO_PATH


def test_a_folder_that_becomes_a_link_after_the_allow_is_not_followed(walks: Walks) -> None:
    context, wanted = gate(walks, Folder(SCOPE)), write("src/auth/new/b.ts")
    allow = decide(wanted, context)
    assert isinstance(allow, Allow)
    (walks.workspace / "src/auth/new").symlink_to(walks.workspace / "docs")
    with pytest.raises(MclError) as caught:
        invoke(context, allow, wanted)
    assert caught.value.code == "OUT_OF_SCOPE"
    assert not (walks.workspace / "docs/b.ts").exists()


def test_what_changed_since_the_last_call_counts_for_the_next(walks: Walks) -> None:
    folder = Folder(SCOPE)
    context = gate(walks, folder)
    assert isinstance(decide(write("docs/b.md"), context), Allow)
    folder.scope = ("src/auth/**",)
    assert isinstance(decide(write("docs/b.md"), context), Deny)
    folder.scope = None  # expired, or released
    reply = decide(write("src/auth/b.ts"), context)
    assert isinstance(reply, Deny)
    assert reply.code == "NO_INTENT_DECLARED"
    folder.rules = False
    assert isinstance(decide(write("src/auth/b.ts"), context), Ask)


def test_a_scope_that_goes_while_the_guards_are_asked_covers_nothing(walks: Walks) -> None:
    class Going(Folder):
        def held(self) -> Checkout | None:
            found = super().held()
            return found if self.asked == 1 else None

    reply = decide(write("docs/b.md"), gate(walks, Going(SCOPE)))
    assert isinstance(reply, Ask)
    assert "no accepted plan covers it" in reply.question


def test_where_it_cannot_be_told_what_is_held_nothing_is_allowed(walks: Walks) -> None:
    class Broken(Folder):
        def held(self) -> Checkout | None:
            raise OSError("the database is gone")

    with pytest.raises(OSError, match="gone"):
        decide(write("docs/b.md"), gate(walks, Broken(SCOPE)))
    assert isinstance(decide(call("fs/read", "read", path="docs/a.md"), gate(walks, Broken(SCOPE))), Allow)


def test_a_call_that_a_plan_holds_needs_no_checkout(walks: Walks) -> None:
    node = tool("n1", "fs/write", "write", path="b.txt", content="x")
    context = context_of(walks, walks.accept(node, verb="build"), checkouts=Folder())
    planned = Call("matrix://tool/fs/write@1.0.0", {"path": "b.txt", "content": "x"}, "write", "n1")
    assert isinstance(decide(planned, context), Allow)


def test_a_call_that_nobody_declared_is_no_way_round(walks: Walks) -> None:
    bare = Call("matrix://tool/fs/write@1.0.0", {"path": "docs/b.md", "content": "x"}, "")
    assert verdict(walks, bare, Folder(SCOPE)) == "NO_INTENT_DECLARED state"
    assert (
        verdict(walks, Call(bare.tool_ref, bare.args, "write"), Folder(SCOPE)) == "NO_INTENT_DECLARED state"
    )


def test_a_call_that_was_declared_as_less_than_it_does_is_asked_about_where_that_is_a_warning(
    walks: Walks,
) -> None:
    lax = "[intent_declaration]\nstrict_server_validation = false\n"
    (walks.home.path / "policy.toml").write_text(lax)
    lied = call("fs/write", "read", path="docs/b.md", content="x")
    assert verdict(walks, lied, Folder(SCOPE)) == "ASK"
    assert verdict(walks, lied, Folder()) == NO_INTENT


def test_a_destructive_call_in_scope_is_asked_about_and_one_out_of_it_is_not(walks: Walks) -> None:
    over = call("fs/write", "destructive", path="src/auth/a.ts", content="x", overwrite=True)
    assert verdict(walks, over, Folder(SCOPE)) == "ASK"
    assert verdict(walks, over, Folder(("docs/**",))) == OUTSIDE


@pytest.mark.parametrize(("effects", "operation"), [(["read", "write"], "write"), (["write"], "write")])
def test_another_servers_tool_that_says_it_writes_is_covered_by_no_checkout(
    walks: Walks, effects: list[str], operation: str
) -> None:
    granted(walks)
    foreign(walks, effects, operation)
    wanted = call("mcp-files/put", operation, path="docs/a.md")
    assert verdict(walks, wanted, None) == "ASK"
    assert verdict(walks, wanted, Folder()) == NO_INTENT
    assert verdict(walks, wanted, Folder(("**",))) == "ASK"


@pytest.mark.parametrize(("effects", "operation"), [(["network"], "read"), (["read"], "read")])
def test_another_servers_tool_that_only_looks_needs_none(
    walks: Walks, effects: list[str], operation: str
) -> None:
    granted(walks)
    foreign(walks, effects, operation)
    assert verdict(walks, call("mcp-files/put", operation, path="docs/a.md"), Folder()) == "ALLOW"


def test_a_tool_of_ours_that_writes_in_two_places_needs_both_in_scope(walks: Walks) -> None:
    walks.tools = [of_two_paths()]
    places = [
        ("docs/a.md", "docs/b.md", "ALLOW"),
        ("docs/a.md", "b.md", OUTSIDE),
        ("a.md", "docs/b.md", OUTSIDE),
    ]
    for one, other, expected in places:
        assert verdict(walks, call("test/move", source=one, target=other), Folder(SCOPE)) == expected
    assert verdict(walks, call("test/move", source="docs/a.md"), Folder(SCOPE)) == OUTSIDE
    assert verdict(walks, call("test/move", source="docs/a.md"), Folder((*SCOPE, "moved.md"))) == "ALLOW"


def test_a_new_place_that_a_tool_adds_to_may_become_a_folder_so_a_person_is_asked(walks: Walks) -> None:
    wanted = call("calendar/add", title="x", start="2026-12-01", path="src/new")
    assert verdict(walks, wanted, Folder(("src/*",))) == "ASK"
    assert verdict(walks, wanted, Folder(("src/new", "src/new/**"))) == "ALLOW"
    walks.write("src/new")
    assert verdict(walks, wanted, Folder(("src/*",))) == "ALLOW"


def test_the_refusals_say_their_five_parts(walks: Walks) -> None:
    folder = Folder(SCOPE, others={"INT-002": "src/*.ts", "INT-003": "lib/**"})
    reply = decide(write("src/other.ts"), gate(walks, folder))
    assert isinstance(reply, Deny)
    said = out_of_scope("src/other.ts", "INT-001", SCOPE, ("INT-002",))
    assert {name: reply.data[name] for name in said.parts} == said.parts
    assert (reply.reason, reply.fix) == (f"{said.violation} {said.explanation}", said.action)
    assert reply.to_json()["rationale"] == said.rationale
    assert 'intent_id = "INT-002"' in reply.example
    folder.scope = None
    reply = decide(write("src/other.ts"), gate(walks, folder))
    assert isinstance(reply, Deny)
    assert {**reply.data} == no_intent_declared("mcl:fs/write", ("INT-001", "INT-002", "INT-003")).parts


@pytest.mark.parametrize(
    ("found", "facts"),
    [
        (
            no_intent_declared("mcl:fs/write", ("INT-007", "INT-008")),
            [
                "PROTOCOL VIOLATION: Cannot execute mcl:fs/write without declaring an intent.",
                "INT-007, INT-008",
                "select_active_intent first",
                'intent_id = "INT-007"',
                "traced",
            ],
        ),
        (
            out_of_scope("src/x.ts", "INT-007", ("docs/**", "a.md"), ("INT-008",)),
            [
                "SCOPE VIOLATION: File 'src/x.ts' is outside intent INT-007's scope.",
                "Allowed scope: docs/**, a.md",
                "a person adds its pattern to .orchestration/active_intents.yaml",
                "parent intent",
                'intent_id = "INT-008"',
                "by accident",
            ],
        ),
        (
            intent_already_active("INT-007", "INT-008"),
            [
                "STATE ERROR: Intent INT-007 is already active. Cannot activate INT-008.",
                "one active intent at a time",
                "call complete_intent",
                "release_active_intent",
                'intent_id = "INT-008"',
                "clear which scope holds",
            ],
        ),
    ],
)
def test_a_violation_tells_its_five_parts_in_their_order(found: Any, facts: list[str]) -> None:
    places = [found.text.index(fact) for fact in facts]
    assert places == sorted(places)
    parts = [found.text.index(str(part)) for part in found.parts.values()]
    assert parts == sorted(parts)
    assert list(found.parts) == ["violation", "explanation", "action", "example", "rationale"]
    assert all(found.parts.values())


def test_no_command_that_signs_is_told_to_an_agent_as_its_own() -> None:
    for said in (no_intent_declared("x", ()), out_of_scope("x", "INT-001", (), ())):
        assert "a person" in said.text.lower()
        assert "mcl work import" in said.action
        assert "mcl" not in said.example


def test_names_of_strangers_are_shown_on_one_line_and_not_without_end() -> None:
    bad = "a\n\x1b[2J" + "b" * 5000
    for said in (
        no_intent_declared(bad, [bad] * 500),
        out_of_scope(bad, "INT-001", [bad] * 500, [bad] * 500),
        intent_already_active("INT-001", bad),
    ):
        assert "\x1b" not in said.text
        assert "a\n" not in said.text
        assert len(said.text) < 20_000


def test_the_guard_is_heard_beforehand_too(walks: Walks) -> None:
    found = weigh(write("src/other.ts"), gate(walks, Folder(SCOPE)))
    told = found["checkout"]
    assert isinstance(told, Deny)
    assert (told.code, told.guard) == ("OUT_OF_SCOPE", "checkout")
    heard = list(found)
    assert heard.index("checkout") == heard.index("scope") + 1


PIECES = st.sampled_from(
    [
        "src",
        "auth",
        "docs",
        "SRC",
        "a.md",
        "b.ts",
        "..",
        ".",
        "/",
        "/",
        "/",
        "//",
        "ｄocs",
        "\\",
        "~",
        "%2e",
        " ",
        "\u200b",
    ]
)


def test_whatever_a_path_looks_like_what_is_written_lies_in_scope(walks: Walks) -> None:
    root, context = walks.workspace, gate(walks, Folder(("src/auth/**", "docs/*.md")))
    allowed = []

    @settings(deadline=None)
    @given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
    @example("./src//auth/b.ts")
    def check(path: str) -> None:
        if said(context, write(path)) != "ALLOW":
            return
        allowed.append(path)
        place = Path(os.path.normpath(root / path))
        assert place.is_relative_to(root / "src/auth") or (
            place.parent == root / "docs" and place.suffix == ".md"
        )
        assert place not in (root / "src/auth", root / "docs")

    check()
    assert allowed


def invoke(context: Context, allow: Allow, wanted: Call) -> Any:
    async def go() -> Any:
        registry: Any = context.tools
        return await registry.invoke(
            allow, wanted, workspace=context.workspace, clock=context.clock, redactor=Redactor()
        )

    return anyio.run(go)


async def nothing(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    raise AssertionError("it is judged here, and not called")


def foreign(walks: Walks, effects: list[str], operation: str) -> None:
    """A tool of another server, which a person let in and which is believed to say what it does."""
    text, output = {"type": "string"}, {"type": "object", "additionalProperties": False, "properties": {}}
    args = {"type": "object", "properties": {"path": text}}
    definition = {"name": "put", "inputSchema": args}
    manifest = Manifest.model_validate(
        {
            "uri": "matrix://tool/mcp-files/put@1.0.0",
            "description": "Puts it.",
            "effects": effects,
            "operation": operation,
            "idempotent": False,
            "timeout_ms": 1000,
            "max_output": 1000,
            "safety": {"write": "C", "network": "B", "read": "A"}[effects[-1]],
            "scope": {"kind": "none"},
            "outside": {"server": "files", "tool": "put", "definition": definition},
            "args": args,
            "output": output,
        }
    )
    walks.tools = [Tool(manifest, nothing)]
    Pins(walks.home).approve(manifest)


def of_two_paths() -> Tool:
    """A tool that takes a file from one place to another, the other of which may be left out."""
    text = {"type": "string"}
    properties = {"source": text, "target": {**text, "default": "moved.md"}}
    closed = {"type": "object", "additionalProperties": False}
    return Tool(
        Manifest.model_validate(
            {
                "uri": "matrix://tool/test/move@1.0.0",
                "description": "Moves it.",
                "effects": ["write"],
                "operation": "write",
                "idempotent": False,
                "timeout_ms": 1000,
                "max_output": 1000,
                "safety": "C",
                "scope": {"kind": "workspace", "paths": {"source": "write", "target": "write"}},
                "args": {**closed, "required": ["source"], "properties": properties},
                "output": {**closed, "properties": {}},
            }
        ),
        nothing,
    )
