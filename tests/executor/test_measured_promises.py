"""Promises that are looked at when the plan has run, beside addresses and files: what a node measured,
whether a command exits with 0, and what the tool of a plug-in says of a promise of its own kind."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import NODE, Walks, granted, parallel, probe, sequence, tool

from executor import Bench, Manifest, Outcome
from executor.gate.measures import Measure, find_measure
from executor.tools.process.commands import declared_commands
from ir import PlanTree, QualityConstraint, canonical_bytes

TESTS = "matrix://tool/process/tests@1.0.0"
TABLE = "date,amount\n" + "\n".join(f"2026-01-{day:02},{day}" for day in range(1, 13))


def quality(metric: str, least: float, **more: Any) -> dict[str, Any]:
    return {"type": "quality", "hard": True, "metric": metric, "min": least, **more}


def counting(answer: Mapping[str, object], output: Mapping[str, object], name: str = "count") -> Any:
    """A tool that answers this, and says of it what its manifest says."""

    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return dict(answer)

    schema = {"type": "object", "additionalProperties": False, "properties": dict(output)}
    return probe(name, run, output=schema)


def proved(walks: Walks, outcome: Outcome) -> dict[str, Any]:
    """What the last envelope of a run gives as evidence."""
    body: Any = walks.home.journal.envelopes(outcome.intent_id)[-1].body
    found = json.loads(body.evidence_json)
    assert isinstance(found, dict)
    return found


def refused(outcome: Outcome) -> str:
    """Why a run did not begin, for what it promises."""
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "PROMISE_UNCHECKABLE", {})
    assert outcome.failure.fix
    return outcome.failure.message


# ---- A quality is measured by what a node of the plan gave.


def test_rows_of_a_table_are_measured_by_the_call_that_reads_it(walks: Walks) -> None:
    walks.write("spend.csv", TABLE)
    node = tool("read", "data/summary", path="spend.csv")
    kept = walks.go(node, constraints=[quality("rows", 10)])
    assert kept.state == "completed", kept.failure
    assert kept.criteria[0].evidence == {"metric": "rows", "min": 10, "by": "read.output.rows", "value": 12}
    (told,) = proved(walks, kept)["promises"]
    assert (told["standing"], told["verdict"], told["evidence"]["value"]) == ("checked", "kept", 12)
    broken = walks.go(node, constraints=[quality("number of rows", 13)])
    assert broken.failure is not None
    assert (broken.state, broken.failure.code) == ("failed", "CRITERION_NOT_MET")
    assert "quality number of rows at least 13 is not met: read.output.rows is 12" in broken.failure.message
    assert proved(walks, broken)["promises"][0]["verdict"] == "broken"


@pytest.mark.parametrize(
    ("schema", "answer", "wanted", "holds"),
    [
        ({"type": "number", "maximum": 1}, 0.93, quality("coverage", 0.9, share=True), True),
        ({"type": "number", "maximum": 1}, 0.89, quality("coverage", 0.9, share=True), False),
        ({"type": "number", "maximum": 100}, 93, quality("coverage", 0.9, share=True), True),
        ({"type": "number", "maximum": 100}, 45, quality("coverage", 0.9, share=True), False),
        ({"type": "number"}, 0.93, quality("coverage", 0.9, share=True), True),
        (
            {"type": "number"},
            93,
            quality("coverage", 0.9, share=True),
            False,
        ),  # is it percent?
        ({"type": "number"}, 3.2, quality("coverage", 0.5), True),
        ({"type": "integer"}, 3, quality("coverage", 3), True),
        ({"type": "array", "items": {}}, [1, 2, 3], quality("coverage", 3), True),
        ({"type": "array", "items": {}}, [1, 2], quality("coverage", 3), False),
        ({"type": "number"}, -1, quality("coverage", -2), True),
    ],
)
def test_a_measure_is_read_as_what_its_manifest_says(
    walks: Walks, schema: dict[str, Any], answer: object, wanted: dict[str, Any], holds: bool
) -> None:
    walks.tools = [counting({"coverage": answer}, {"coverage": schema})]
    outcome = walks.go(tool("n", "test/count"), constraints=[wanted])
    assert outcome.criteria[0].holds is holds, outcome.criteria
    assert outcome.state == ("completed" if holds else "failed")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (quality("stars", 4), "no call of the plan measures it; measured are a.output.rows, a.output.share"),
        (quality("", 4), "it names no measure"),
        (quality("rows", 0.9, share=True), "is a count, and no share of a whole"),
        (quality("score", 0.9, share=True), "goes up to 10"),
        (quality("share", 0.9), "is given in percent"),
        (quality("name", 1), "no call of the plan measures it"),
        (quality("a.output.name", 1), "no call of the plan measures it"),
        (quality("b.output.rows", 1), "no call of the plan measures it"),
    ],
)
def test_a_measure_that_no_output_has_is_told_before_the_first_node(
    walks: Walks, wanted: dict[str, Any], why: str
) -> None:
    fields = {
        "rows": {"type": "integer"},
        "share": {"type": "number", "maximum": 100},
        "score": {"type": "number", "maximum": 10},
        "name": {"type": "string"},
    }
    walks.tools = [counting({"rows": 1}, fields)]
    message = refused(walks.go(tool("a", "test/count"), constraints=[wanted]))
    assert message.startswith("frame.constraints[0]: ")
    assert why in message


def test_of_several_nodes_that_measure_it_one_must_be_named(walks: Walks) -> None:
    walks.tools = [counting({"rows": 3}, {"rows": {"type": "integer"}})]
    root = parallel("all", tool("a", "test/count"), tool("b", "test/count"))
    assert "name one: a.output.rows, b.output.rows" in refused(
        walks.go(root, constraints=[quality("rows", 1)])
    )
    assert walks.go(root, constraints=[quality("b.output.rows", 3)]).state == "completed"


def test_an_output_without_the_number_is_no_success(walks: Walks) -> None:
    walks.tools = [counting({}, {"rows": {"type": "integer"}})]
    outcome = walks.go(tool("a", "test/count"), constraints=[quality("rows", 0)])
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("failed", "CRITERION_NOT_MET")
    assert "a.output.rows is no number" in outcome.failure.message


def test_a_wish_is_not_measured(walks: Walks) -> None:
    walks.tools = [counting({"rows": 1}, {"rows": {"type": "integer"}})]
    wish = {**quality("rows", 100), "hard": False}
    outcome = walks.go(tool("a", "test/count"), constraints=[wish])
    assert (outcome.state, outcome.criteria) == ("completed", ())
    assert proved(walks, outcome)["promises"][0]["verdict"] == "unknown"


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, st.floats(-1e6, 1e6), st.booleans(), st.sampled_from([None, 1.0, 100.0]))
def test_whatever_a_node_gave_a_number_that_is_not_there_holds_nothing(
    value: object, least: float, share: bool, most: float | None
) -> None:
    measure = Measure("n", ("x",), "number", most)
    wanted = QualityConstraint(hard=True, metric="x", min=least, share=share)
    for outputs in ({"n": {"x": value}}, {"n": value}, {}):
        seen, flaw = measure.look(wanted, outputs)
        if not flaw:
            assert isinstance(seen, int | float)
            assert not isinstance(seen, bool)
            assert (seen / 100 if share and most == 100 else seen) >= least


def test_what_a_schema_of_strangers_says_ends(walks: Walks) -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(30):
        deep = {"type": "object", "properties": {"x": deep}}
    odd = {"a": deep, "b": True, "c": {"type": ["integer"]}, "d": {"type": "integer", "maximum": "9"}}
    found = Manifest.model_validate(
        {**counting({}, {}).manifest.model_dump(), "output": {**counting({}, odd).manifest.output}}
    )
    plan = PlanTree.from_json(json.dumps({"root": tool("n", "test/count")}))
    wanted = QualityConstraint(metric="d", min=1)
    assert str(find_measure(wanted, plan, lambda _: found)) == "n.output.d"


# ---- A command exits with status 0.


def command(which: str = TESTS, **args: str) -> dict[str, Any]:
    return {"type": "command", "tool_ref": which, "args": args}


def repository(walks: Walks, expected: int) -> NODE:
    """A repository of git with one function and its test; the node that mends the function."""
    unmended = "def double(n):\n    return n\n"
    walks.write("double.py", unmended)
    walks.write(
        "tests/test_double.py",
        "import sys\nsys.path.insert(0, '.')\nfrom double import double\n\n"
        f"def test_double():\n    assert double(2) == {expected}\n",
    )
    walks.git("init", "-q")
    walks.git("add", ".")
    walks.git("commit", "-qm", "Begin")
    mended = "def double(n):\n    return 2 * n\n"
    base = hashlib.sha256(unmended.encode()).hexdigest()
    return tool("mend", "fs/write", "write", path="double.py", content=mended, base=base)


@pytest.mark.parametrize(("expected", "state"), [(4, "completed"), (5, "failed")])
def test_the_tests_of_a_repository_are_run_at_the_end(walks: Walks, expected: int, state: str) -> None:
    node = repository(walks, expected)
    granted(walks, also=["shell", "write"])
    outcome = walks.go(node, verb="modify", criteria=[command(suite="pytest")])
    assert outcome.state == state, (outcome.failure, outcome.criteria)
    found = outcome.criteria[0]
    assert (found.holds, found.evidence["status"]) == (state == "completed", int(expected != 4))
    assert found.evidence["tool"] == TESTS
    if state == "failed":
        assert outcome.failure is not None
        assert "exits with status 0 is not met: it ended with status 1" in outcome.failure.message
    looked = walks.records("record.gate.looked")[-1]
    assert (looked["node"], looked["holds"], looked["status"]) == (
        "success[0]",
        found.holds,
        found.evidence["status"],
    )


@pytest.mark.parametrize(("argv", "holds"), [('["true"]', True), ('["sh", "-c", "exit 3"]', False)])
def test_a_declared_command_is_one_too(walks: Walks, argv: str, holds: bool) -> None:
    place = walks.home.path / "commands.toml"
    place.write_text(f'[smoke]\ndescription = "Smoke."\nargv = {argv}\nok = [0, 3]\n')
    walks.tools = list(declared_commands(place)[0])
    granted(walks, also=["shell", "write"])
    criterion = command("matrix://tool/process/run-smoke@1.0.0")
    outcome = walks.go(tool("n", "time/now"), verb="modify", criteria=[criterion])
    assert outcome.criteria[0].holds is holds, outcome.criteria  # 3 is a success of the tool, and is not 0


def test_a_command_that_fails_is_evidence_with_its_status(walks: Walks) -> None:
    place = walks.home.path / "commands.toml"
    place.write_text('[smoke]\ndescription = "Smoke."\nargv = ["sh", "-c", "echo no; exit 4"]\n')
    walks.tools = list(declared_commands(place)[0])
    granted(walks, also=["shell", "write"])
    criterion = command("matrix://tool/process/run-smoke@1.0.0")
    outcome = walks.go(tool("n", "time/now"), verb="modify", criteria=[criterion])
    assert outcome.criteria[0].evidence["status"] == 4
    assert "COMMAND_FAILED" in outcome.criteria[0].reason


def test_a_command_that_nobody_let_the_agent_run_is_refused_before_the_first_node(walks: Walks) -> None:
    outcome = walks.go(repository(walks, 4), verb="modify", criteria=[command()])
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "CAPABILITY_DENIED", {})
    assert "shell" in f"{outcome.failure.message} {outcome.failure.fix}"


def test_a_command_breaks_a_rule_that_no_command_is_run(walks: Walks) -> None:
    granted(walks, also=["shell", "write"])
    rule = {"type": "rule", "hard": True, "rule": "no commands", "keeps": "no commands"}
    outcome = walks.go(repository(walks, 4), verb="modify", criteria=[command()], constraints=[rule])
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "PROMISE_BROKEN", {})


@pytest.mark.parametrize(
    ("criterion", "verb", "why"),
    [
        (command(""), "modify", "it names no command"),
        (command("matrix://tool/process/run-gone@1.0.0"), "modify", "there is no tool"),
        (command("rm -rf /"), "modify", "there is no tool"),
        (command("matrix://tool/fs/read@1.0.0", path="a"), "modify", "runs no command of this machine"),
        (command(), "find", "a goal to find may not run"),
        (command(), "", "may not run"),
        (command(select="${mend.output.path}"), "modify", "select is not fixed"),
        (command(colour="red"), "modify", "has no argument colour"),
        ({"type": "x:nobody.knows", "data": "{}"}, "modify", "it names no tool that looks at it"),
        ({"type": "x:nobody"}, "modify", "nothing here knows how to look at it"),
    ],
)
def test_a_criterion_that_can_never_be_looked_at_is_told_before_the_first_node(
    walks: Walks, criterion: dict[str, Any], verb: str, why: str
) -> None:
    granted(walks, also=["shell", "write"])
    node = tool("mend", "time/now")
    message = refused(walks.go(node, verb=verb, criteria=[criterion]))
    assert message.startswith("frame.success_criteria[0]: ")
    assert why in message


@pytest.mark.parametrize(
    "keeps",
    [
        *("only in (a*)*$", "only in " + "a*" * 2000, "not in [a-z]+", "only host (.*)*.example", "regex:.*"),
        *("only in " + ", ".join(["x"] * 100), "at most 99999999999 calls", "only tool " + "a/" * 4000),
    ],
)
def test_a_pattern_in_a_rule_is_told_before_the_first_node(walks: Walks, keeps: str) -> None:
    rule = {"type": "rule", "hard": True, "rule": "as I say", "keeps": keeps}
    started = time.monotonic()
    message = refused(walks.go(tool("n", "time/now"), constraints=[rule]))
    assert message.startswith("frame.constraints[0]: ")
    assert time.monotonic() - started < 5


# ---- A promise of somebody else's making is looked at by the tool that its kind names.

AT_MOST = "matrix://tool/test/atmost@1.0.0"


def longest(walks: Walks, **more: Any) -> None:
    """A tool that looks whether a file has at most so many words."""

    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        data, _ = bench.workspace.read(str(args["path"]), 1 << 16)
        words = len(data.decode().split())
        held = words <= int(str(args["words"]))
        return {"holds": held, "words": words, **({} if held else {"reason": f"it has {words} words"})}

    walks.tools = [
        probe(
            "atmost",
            run,
            scope={"kind": "workspace", "paths": {"path": "read"}},
            args={
                "type": "object",
                "additionalProperties": False,
                "required": ["path", "words"],
                "properties": {"path": {"type": "string"}, "words": {"type": "integer"}},
            },
            output={
                "type": "object",
                "additionalProperties": False,
                "required": ["holds"],
                "properties": {
                    "holds": {"type": "boolean"},
                    "words": {"type": "integer"},
                    "reason": {"type": "string"},
                },
            },
            **more,
        )
    ]


def words(most: int, *, schema: str = AT_MOST, path: str = "a.md", **more: Any) -> dict[str, Any]:
    data = json.dumps({"path": path, "words": most})
    return {"type": "x:test.atmost", "schema": schema, "data": data, **more}


WRITTEN = tool("w", "fs/write", "write", path="a.md", content="one two three")


@pytest.mark.parametrize(("most", "state"), [(3, "completed"), (2, "failed")])
@pytest.mark.parametrize("where", ["constraints", "criteria"])
def test_a_kind_of_a_plug_in_is_looked_at_by_its_tool(
    walks: Walks, most: int, state: str, where: str
) -> None:
    longest(walks)
    promise = words(most, **({"hard": True} if where == "constraints" else {}))
    outcome = walks.go(WRITTEN, **{where: [promise]})
    assert outcome.state == state, outcome.failure
    (told,) = proved(walks, outcome)["promises"]
    assert (told["standing"], told["verdict"]) == ("checked", "kept" if state == "completed" else "broken")
    assert told["evidence"]["tool"] == AT_MOST
    if state == "failed":
        assert outcome.failure is not None
        assert outcome.failure.message.endswith("is not met: it has 3 words")


@pytest.mark.parametrize(
    ("promise", "why"),
    [
        (words(3, schema=""), "it names no tool that looks at it (schema: matrix://tool/test/atmost@…)"),
        (words(3, schema="matrix://tool/fs/read@1.0.0"), "only the tool test/atmost"),
        (words(3, schema="matrix://tool/test/atmost@latest"), "only the tool test/atmost"),
        (words(3, schema="matrix://tool/test/atmost@9.0.0"), "the plug-in that looks at x:test.atmost"),
        ({**words(3), "data": "[1]"}, "its data is no JSON object"),
        ({**words(3), "data": "{"}, "its data is no JSON object"),
        ({**words(3), "data": '{"path": "a.md"}'}, "needs the argument words"),
        ({**words(3), "data": '{"path": "a.md", "words": 3, "x": 1}'}, "has no argument x"),
    ],
)
def test_without_what_looks_at_it_no_run_begins(walks: Walks, promise: dict[str, Any], why: str) -> None:
    longest(walks)
    assert why in refused(walks.go(WRITTEN, constraints=[{**promise, "hard": True}]))
    assert not (walks.workspace / "a.md").exists()


def test_a_tool_that_does_more_than_look_looks_at_no_promise(walks: Walks) -> None:
    longest(walks, effects=["read", "write"], operation="write", safety="C")
    assert "does more than look" in refused(walks.go(WRITTEN, constraints=[words(3, hard=True)]))


def test_a_look_leaves_the_workspace_no_more_than_any_call(walks: Walks) -> None:
    longest(walks)
    outcome = walks.go(WRITTEN, constraints=[words(3, path="../../etc/passwd", hard=True)])
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "OUT_OF_SCOPE", {})


def test_what_looks_like_a_reference_in_its_data_is_only_text(walks: Walks) -> None:
    longest(walks)
    outcome = walks.go(sequence("s", WRITTEN), constraints=[words(3, path="${w.output.path}", hard=True)])
    assert outcome.failure is not None
    assert outcome.failure.code != "REFERENCE_MALFORMED"
    assert outcome.criteria[0].holds is False


def test_documents_of_before_have_the_bytes_they_had() -> None:
    old = '{"hard":true,"metric":"rows","min":3.0,"type":"quality"}'
    assert (
        canonical_bytes(QualityConstraint.from_json(old))
        == b'{"hard":true,"metric":"rows","min":3,"type":"quality"}'
    )
