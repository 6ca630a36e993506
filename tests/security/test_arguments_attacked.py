"""Arguments of every kind and every tool: a code, no traceback, and no effect outside the workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from walks import NODE, Walks, context_of, sequence, tool

from executor import Allow, Ask, Call, Deny, Grants, Home, Manifest, decide
from executor.sandbox.redaction import Redactor
from ir import MclError
from mcl.catalog.tools import registry

SLOW = ("fs/watch",)  # waits for a second at least
CRASHES = ("TOOL_CRASHED", "BAD_OUTPUT", "INTERNAL")


def nested(depth: int) -> object:
    value: object = "x"
    for _ in range(depth):
        value = [value]
    return value


def endless() -> object:
    value: list[object] = []
    value.append(value)
    return value


NO_JSON: dict[str, Callable[[], object]] = {
    "half a character": lambda: "a\ud800",
    "half a character as a key": lambda: {"\udfff": 1},
    "not a number": lambda: float("nan"),
    "infinity": lambda: [float("-inf")],
    "a number of 5,000 digits": lambda: 10**5000,
    "nested without end": lambda: nested(100_000),
    "itself": endless,
    "bytes": lambda: b"x",
    "a set": lambda: {1},
    "an object": object,
    "a key that is no text": lambda: {(1,): 2},
    "64 MB of text": lambda: "x" * (64 << 20),
}


@pytest.mark.parametrize("make", NO_JSON.values(), ids=NO_JSON)
@pytest.mark.parametrize("name", ["path", "max_bytes", "unknown"])
def test_a_value_that_is_no_json_is_refused_and_recorded(
    walks: Walks, make: Callable[[], object], name: str
) -> None:
    node = tool("n1", "fs/read", path="${n0.output.text}", max_bytes="${n0.output.text}")
    intent = walks.accept(sequence("r", tool("n0", "time/now"), node))
    told: list[dict[str, object]] = []
    context = context_of(walks, intent, record=lambda kind, body: told.append({"kind": kind, **body}))
    args = {"path": "a.txt", "max_bytes": 5, name: make()}
    reply = decide(Call("matrix://tool/fs/read@1.0.0", args, "read", "n1"), context)
    assert isinstance(reply, Deny)
    assert reply.code == "INVALID_ARGS"
    assert reply.fix
    assert [(one["kind"], one["code"]) for one in told] == [("refused", "INVALID_ARGS")]
    walks.home.journal.record("record.gate.refused", {**told[0]})  # as a walk does


@pytest.mark.parametrize("field", ["tool_ref", "declared", "node_id", "approval"])
@pytest.mark.parametrize("value", ["\ud800", "", "x" * 100_000, "../..", "\0", "n1\n"])
def test_a_call_with_a_hostile_name_is_refused(walks: Walks, field: str, value: str) -> None:
    walks.write("a.txt", "hello")
    intent = walks.accept(tool("n1", "fs/read", path="a.txt"))
    said: dict[str, Any] = {"tool_ref": "matrix://tool/fs/read@1.0.0", "declared": "read", "node_id": "n1"}
    reply = decide(Call(args={"path": "a.txt"}, **{**said, field: value}), context_of(walks, intent))
    if field == "approval":  # nobody needs one here, so it says nothing
        assert not isinstance(reply, Ask)
    else:
        assert isinstance(reply, Deny)


def test_a_pattern_of_a_schema_does_not_overlook_a_line_end(walks: Walks) -> None:
    """In Python `$` also stands before a last line end; a name that ends with one is another name."""
    registry, found = walks.registry(), 0
    for manifest in registry.manifests:
        for name, schema in manifest.properties.items():
            if str(schema.get("pattern", "")).endswith("$"):
                found += 1
                flaws = list(registry.args_checker(manifest.uri).iter_errors({name: fitting(schema) + "\n"}))
                assert any(list(flaw.absolute_path) == [name] for flaw in flaws), (manifest.uri, name)
                fine = registry.args_checker(manifest.uri).iter_errors({name: fitting(schema)})
                assert not any(list(flaw.absolute_path) == [name] for flaw in fine), (manifest.uri, name)
    assert found > 3


def fitting(schema: dict[str, object]) -> str:
    """A text that fits a pattern of ours."""
    import re

    for text in (
        "main",
        "a" * 64,
        "a.svg",
        "https://e.org",
        "did:key:z",
        "1.0.0",
        "/a",
        "-",
        "$env:A",
        "A",
        "FREQ=DAILY",
    ):
        if re.search(str(schema["pattern"]), text):
            return text
    raise AssertionError(f"add a text that fits {schema['pattern']}")


def test_a_whole_number_is_one_however_it_is_written(walks: Walks) -> None:
    walks.write("a.txt", "hello")
    call = Call("matrix://tool/fs/read@1.0.0", {"path": "a.txt", "max_bytes": 3.0}, "read", "n1")
    reply = judged(walks, call, "find")
    assert isinstance(reply, Allow)
    assert made(walks, reply, call) == ""


def test_a_huge_file_is_not_read_by_the_gate(walks: Walks) -> None:
    """It would hold up everybody, with no time limit; the tool reads it under its own."""
    with (walks.workspace / "huge").open("wb") as file:
        file.truncate(1 << 40)
    outcome = walks.go(
        tool("n1", "fs/write", "write", path="huge", content="x", base="0" * 64, timeout_ms=300)
    )
    assert outcome.failure is not None
    assert outcome.failure.code == "TIMEOUT"


# ---- whatever can be said ---------------------------------------------------------------------------------

PATHS = st.sampled_from(
    [
        *(
            "a.txt",
            "t.csv",
            "deep/b.txt",
            "deep",
            ".",
            "",
            "new/x.txt",
            "..",
            "../outside/secret.txt",
            "/etc/passwd",
        ),
        *(
            "link",
            "link/secret.txt",
            "hard",
            "pipe",
            ".env",
            ".git/config",
            "/proc/self/root/etc",
            "~/x",
            "a\nb",
        ),
        *(
            "-rf",
            "--output=x",
            "x" * 300,
            "a\0b",
            "a.txt/",
            "./a.txt",
            "deep/../../x",
            "CON",
            "a:b",
            "\u202etxt",
        ),
    ]
)
HOSTILE = st.sampled_from(
    [
        *(
            "",
            "-",
            "--",
            "--output=owned",
            "-x",
            "$(touch owned)",
            "`id`",
            "; id",
            "${n0.output}",
            "$${x}",
            "$env:HOME",
        ),
        *(
            "\x1b[2J",
            "\u202e",
            "\u200b",
            "\r\n",
            "a\tb",
            "%00",
            "%2e%2e%2f",
            "{}",
            "[]",
            "null",
            "true",
            "1e999",
        ),
        *(
            "-1",
            "0",
            "1",
            "7",
            "99999999999999999999",
            "1.5",
            "007",
            "NaN",
            "[[[[[[",
            '{"a":1}',
            "*",
            "**/*",
            "[a-",
        ),
        *(
            "(a*)*b",
            "a{99999}",
            "2026-01-01",
            "2026-13-01T99:99:99Z",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31",
        ),
        *(
            "http://127.0.0.1:1/",
            "https://u:p@e.org/",
            "file:///etc/passwd",
            "first",
            "end",
            "svg",
            "python",
            "HEAD",
        ),
    ]
)
TEXTS = st.one_of(
    PATHS, HOSTILE, st.text(max_size=40).map(lambda text: text.encode("utf-8", "ignore").decode())
)
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
    st.recursive(st.one_of(TEXTS, st.integers()), lambda below: st.lists(below, max_size=3), max_leaves=5),
    st.dictionaries(TEXTS, TEXTS, max_size=3),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walks]:
    """A workspace with all sorts of things in it, beside a folder to attack; its agent may do everything."""
    root = tmp_path_factory.mktemp("fuzz")
    (root / "work/deep").mkdir(parents=True)
    (root / "outside").mkdir()
    (root / "outside/secret.txt").write_text("the-secret-outside")
    for path, text in {
        "a.txt": "one\ntwo\n",
        "t.csv": "a,b\n1,x\n2,y\n",
        "deep/b.txt": "b",
        ".env": "X=1",
    }.items():
        (root / "work" / path).write_text(text)
    (root / "work/link").symlink_to(root / "outside")
    os.link(root / "outside/secret.txt", root / "work/hard")
    os.mkfifo(root / "work/pipe")
    with Home.open(root / "home") as home:
        walks = Walks(home, root / "work")
        walks.git("init", "-q")
        walks.git("add", "a.txt")
        walks.git("commit", "-q", "-m", "Add a")
        grants = Grants(home)
        grants.grant(home.keyring.agent.did, ["network", "shell", "chain"])
        yield walks
        assert home.journal.verify().ok


def surroundings(walks: Walks) -> dict[str, tuple[int, str]]:
    """All that lies beside the workspace and the home, with its content."""
    root = walks.workspace.parent
    return {
        str(one.relative_to(root)): (one.lstat().st_mode, one.read_text() if one.is_file() else "")
        for one in root.rglob("*")
        if one.relative_to(root).parts[0] not in ("work", "home")
    }


def manifests() -> list[Manifest]:

    return [one for one in registry().manifests if not any(f"/{name}@" in one.uri for name in SLOW)]


def verb_for(manifest: Manifest) -> str:
    return "deliver" if {"network", "chain"} & set(manifest.effects) else "build"


def declared(manifest: Manifest) -> str:
    return next((name for name in ("chain", "network", "shell", "write") if name in manifest.effects), "read")


def arguments(manifest: Manifest, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that the tool knows, those that are paths with paths, and now and then another one."""
    known = {
        name: st.one_of(PATHS, values) if name in manifest.scope.paths else values
        for name in manifest.properties
    }
    needed = {name: one for name, one in known.items() if name in manifest.args.get("required", ())}  # type: ignore[operator]  # a list
    rest = {name: one for name, one in known.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional={**rest, "unknown": values})


CALLS = st.sampled_from(manifests()).flatmap(lambda one: st.tuples(st.just(one), arguments(one, TEXTS)))
RAW = st.sampled_from(manifests()).flatmap(lambda one: st.tuples(st.just(one), arguments(one, VALUES)))
LIMITS = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}


def walk(place: Walks, manifest: Manifest, args: dict[str, str]) -> None:
    """Accept and run a plan of one call, with everybody approving everything."""
    before = surroundings(place)
    name = manifest.uri.removeprefix("matrix://tool/").partition("@")[0]
    node: NODE = tool("n1", name, declared(manifest), timeout_ms=4000)
    node["tool_call"]["args"] = args
    with suppress(MclError):  # of the plan itself: nothing ran
        outcome = place.go(node, verb=verb_for(manifest))
        assert outcome.failure is None or outcome.failure.code not in CRASHES, (outcome.failure, args)
        assert "the-secret-outside" not in str(outcome.to_json())
        assert not {"\x1b", "\x00"} & set(str(outcome.failure.message if outcome.failure else ""))
    assert surroundings(place) == before
    assert (place.workspace / ".env").read_text() == "X=1"


@settings(max_examples=30, **LIMITS)
@given(call=CALLS)
def test_no_text_in_a_plan_breaks_a_tool_or_reaches_beyond_the_workspace(
    place: Walks, call: tuple[Manifest, dict[str, str]]
) -> None:
    walk(place, *call)


@pytest.mark.slow
@settings(max_examples=1000, **LIMITS)
@given(call=CALLS)
def test_thousands_of_texts_do_not_either(place: Walks, call: tuple[Manifest, dict[str, str]]) -> None:
    walk(place, *call)


@settings(max_examples=40, **LIMITS)
@given(call=RAW)
def test_no_value_of_any_type_breaks_the_gate_or_what_it_allows(
    place: Walks, call: tuple[Manifest, dict[str, Any]]
) -> None:
    """Values as a caller outside a plan hands them over, of whatever type."""
    judge(place, *call)


@pytest.mark.slow
@settings(max_examples=1000, **LIMITS)
@given(call=RAW)
def test_thousands_of_values_do_not_either(place: Walks, call: tuple[Manifest, dict[str, Any]]) -> None:
    judge(place, *call)


def judge(place: Walks, manifest: Manifest, args: dict[str, Any]) -> None:
    """Ask the gate about such a call, and make it where that is allowed."""
    before = surroundings(place)
    wanted = Call(manifest.uri, args, declared(manifest), "n1")
    reply = judged(place, wanted, verb_for(manifest))
    if isinstance(reply, Allow):
        assert made(place, reply, wanted) not in CRASHES, args
    else:
        assert isinstance(reply, Ask) or reply.code not in CRASHES
    assert surroundings(place) == before


def judged(place: Walks, call: Call, verb: str) -> Allow | Ask | Deny:
    """What the gate says where a plan left all of these arguments open."""
    name = call.tool_ref.removeprefix("matrix://tool/").partition("@")[0]
    node = tool("n1", name, call.declared)
    node["tool_call"]["args"] = dict.fromkeys(call.args, "${n0.output.text}")
    intent = place.accept(sequence("r", tool("n0", "time/now"), node), verb=verb)
    return decide(call, context_of(place, intent))


def made(place: Walks, leave: Allow, call: Call) -> str:
    """Make an allowed call; the code that it ends with."""
    context = context_of(place, None)

    async def go() -> str:
        try:
            with anyio.fail_after(4):
                await place.registry().invoke(
                    leave, call, workspace=context.workspace, clock=context.clock, redactor=Redactor()
                )
        except (MclError, TimeoutError) as problem:
            return str(getattr(problem, "code", "TIMEOUT"))
        return ""

    try:
        return anyio.run(go)
    finally:
        context.workspace.close()
