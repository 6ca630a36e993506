"""What a plan.yaml must mean is told with its place: against its skill, the rules of plans, and the tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor import Registry
from mcl.catalog.tools import registry
from mcl.language.mtx.parser import parse
from mcl.language.mtx.source import MtxFinding
from mcl.language.plans.checks import check_plan_file, scope_of
from mcl.language.plans.document import YamlFile, read_yaml
from mcl.plugins.authoring.checks import CheckedFile, validate_skill

SKILL = """\
§SKILL
id=one
version=1.0.0
description="A test."
mcl.verbs={verbs}

§INPUTS
slot text: string
  required
slot where: string
  optional
slot what: enum<x|y>
  optional
  default=x

§CORTEX
none

§TOOLS
matrix://tool/fs/read@1.0.0
matrix://tool/fs/list@1.0.0
matrix://tool/fs/write@1.0.0

§SUB_SKILLS
none

§PROCEDURE
prompt
  system="s"
  user="{{prose}}"
end

§OUTPUTS
none

§FAILURE_MODES
none
"""
CALL = """\
version: 1
plans:
  - root:
      id: one
      kind: tool_call
      tool_call:
        tool_ref: matrix://tool/fs/read@1.0.0
        side_effect_class: read
        args: {path: "${slot.text}"}
"""


PIECES = (
    *(
        "version: 1\n",
        "plans:\n",
        "  - root:\n",
        "      id: a\n",
        "kind: gate",
        "children:",
        "tool_call:",
        "args:",
    ),
    *("[", "]", "{", "}", ":", "\n", " ", "- ", '"', "'", "&a", "*a", "null", "1e400"),
    *("${slot.text}", "${", "$${"),
)


def checked(folder: Path, plan: str, *, verbs: str = "find build") -> CheckedFile:
    """The report about a plan.yaml beside a small skill."""
    place = folder / "one"
    place.mkdir()
    (place / "SKILL.mtx").write_text(SKILL.format(verbs=verbs), encoding="utf-8")
    (place / "plan.yaml").write_text(plan, encoding="utf-8")
    _, report = validate_skill(place)
    return report


def told(report: CheckedFile) -> list[tuple[str, int, int, str]]:
    return [(one.code, one.line, one.column, one.severity) for one in report.findings]


def test_a_sound_plan_has_no_findings(tmp_path: Path) -> None:
    assert told(checked(tmp_path, CALL)) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("tool/fs/read@1.0.0", "tool/fs/search@1.0.0", ("TOOL_UNDECLARED", 7, 19, "error")),
        ("tool/fs/read@1.0.0", "tool/fs/read@9.0.0", ("TOOL_MISSING", 7, 19, "warning")),
        ("tool/fs/read@1.0.0", "tool/fs/read", ("REF_UNPINNED", 7, 19, "error")),
        ("_class: read", "_class: reed", ("SIDE_EFFECT_UNKNOWN", 8, 28, "error")),
        ("kind: tool_call", "kind: tool_cal", ("KIND_UNKNOWN", 5, 13, "error")),
        ("{path:", "{pth:", ("ARG_UNKNOWN", 9, 16, "error")),
        ("{path:", "{pth:", ("ARG_MISSING", 9, 9, "error")),
        ('"}', '", max_bytes: lots}', ("ARG_INVALID", 9, 49, "error")),
        ('"}', '", max_bytes: 0}', ("ARG_INVALID", 9, 49, "error")),
        ("slot.text", "slot.where", ("ARG_OPTIONAL", 9, 22, "warning")),
        ("slot.text", "intent.deadline", ("ARG_OPTIONAL", 9, 22, "warning")),
        ("slot.text", "slot.text.uri", ("ARG_OPTIONAL", 9, 22, "warning")),
        ("slot.text", "slot.txt", ("PLAN_INVALID", 9, 22, "error")),
        ("${slot.text}", "${two.output..text}", ("REFERENCE_MALFORMED", 9, 22, "error")),
        ("${slot.text}", "${two.output.text}", ("REFERENCE_UNKNOWN", 9, 22, "error")),
        ("tool_ref", "tool_reff", ("PLAN_INVALID", 7, 9, "error")),
        ("id: one", "id: [one]", ("PLAN_INVALID", 4, 11, "error")),
        ("id: one", "idd: one", ("PLAN_INVALID", 4, 7, "error")),
        ("- root", "- when: {slot.what: z}\n    root", ("PLAN_INVALID", 3, 23, "error")),
        ("- root", "- when: {verb: deliver}\n    root", ("PLAN_INVALID", 3, 18, "error")),
        ("- root", "- if: {verb: find}\n    root", ("PLAN_INVALID", 3, 5, "error")),
        ("version: 1", "version: 2", ("PLAN_INVALID", 1, 10, "error")),
        ("version: 1", "version: 1\nversion: 1", ("PLAN_INVALID", 2, 1, "error")),
        ("kind: tool_call", "kind: !!str tool_call", ("PLAN_INVALID", 5, 13, "error")),
        ("id: one", "id: @one", ("PLAN_INVALID", 4, 11, "error")),
    ],
)
def test_a_flaw_is_told_with_line_and_column(
    tmp_path: Path, old: str, new: str, found: tuple[str, int, int, str]
) -> None:
    report = checked(tmp_path, CALL.replace(old, new, 1))
    assert found in told(report)


def test_a_tool_that_does_more_than_the_node_declares_is_an_error(tmp_path: Path) -> None:
    plan = CALL.replace("fs/read", "fs/write").replace('"}', '", content: hello}')
    assert [one.code for one in checked(tmp_path, plan).errors] == ["EFFECT_UNDECLARED"]


@pytest.mark.parametrize(
    ("verbs", "when", "codes"),
    [
        ("find analyze", "", ["VERB_TOO_WEAK"]),
        ("find build", "", []),
        ("find build", "when: {verb: find}\n    ", ["VERB_TOO_WEAK"]),
        ("find build", "when: {verb: build}\n    ", []),
    ],
)
def test_a_node_may_do_what_a_verb_of_its_case_may(
    tmp_path: Path, verbs: str, when: str, codes: list[str]
) -> None:
    plan = CALL.replace("fs/read", "fs/write").replace("_class: read", "_class: write")
    plan = plan.replace('"}', '", content: hello}').replace("- root", f"- {when}root")
    assert [one.code for one in checked(tmp_path, plan, verbs=verbs).errors] == codes


def test_a_required_argument_is_safe_where_the_case_wants_its_slot(tmp_path: Path) -> None:
    plan = CALL.replace("slot.text", "slot.where").replace("- root", '- when: {slot.where: "*"}\n    root')
    assert told(checked(tmp_path, plan)) == []


def test_what_a_tool_does_not_give_cannot_be_referred_to(tmp_path: Path) -> None:
    plan = """\
version: 1
plans:
  - root:
      id: all
      kind: sequential
      children:
        - id: a
          kind: tool_call
          tool_call: {tool_ref: matrix://tool/fs/list@1.0.0, side_effect_class: read}
        - id: b
          kind: gate
          gate:
            question: "Is ${a.output.txt} right? Or ${a.output.text}? Or ${a.output}?"
"""
    [finding] = checked(tmp_path, plan).errors
    assert (finding.code, finding.line, finding.hint) == ("OUTPUT_UNKNOWN", 13, 'did you mean "text"?')


def test_a_case_that_is_never_taken_is_doubtful(tmp_path: Path) -> None:
    plan = CALL + CALL.partition("plans:\n")[2]
    assert told(checked(tmp_path, plan)) == [("CASE_UNREACHABLE", 10, 5, "warning")]


def test_two_nodes_of_one_id_are_told_at_the_second(tmp_path: Path) -> None:
    node = "        - {id: a, kind: gate, gate: {question: right}}\n"
    plan = (
        "version: 1\nplans:\n  - root:\n      id: all\n      kind: sequential\n      children:\n" + node * 2
    )
    assert told(checked(tmp_path, plan)) == [("NODE_ID_REPEATED", 8, 16, "error")]


def test_a_plan_is_found_wrong_in_several_places_at_once(tmp_path: Path) -> None:
    plan = CALL.replace("version: 1", "version: 3").replace("kind:", "knd:").replace("slot.text", "slot.txt")
    assert [(one.line, one.code) for one in checked(tmp_path, plan).findings] == [
        *((1, "PLAN_INVALID"), (5, "PLAN_INVALID"), (9, "PLAN_INVALID"))
    ]


@pytest.mark.parametrize("text", ["yes", "no", "on", "10:30", "2026-11-21", "0x10", "1_000", "010", ".5"])
def test_a_word_stays_the_text_that_it_looks_like(text: str) -> None:
    found = read_yaml(f"a: {text}\n".encode())
    assert isinstance(found, YamlFile)
    assert found.value == {"a": text}


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\nb:\tc", 2, 3),
        ("é: é\té", 1, 5),
        ("a: b\u2028c", 1, 5),
        ("a: 'é\nb", 2, 2),
        ("é: *a", 1, 4),
        ("a: 1\nb: 2\na: 3", 3, 1),
    ],
)
def test_what_is_not_read_is_told_at_its_place_by_either_scanner(
    monkeypatch: pytest.MonkeyPatch, text: str, line: int, column: int, quick: bool
) -> None:
    monkeypatch.setattr("yaml.__with_libyaml__", quick)
    found = read_yaml(text.encode())
    assert isinstance(found, MtxFinding)
    assert (found.line, found.column) == (line, column)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=300, deadline=None)
def test_both_scanners_read_the_same(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("yaml.__with_libyaml__", True)
        quick = read_yaml(text.encode())
        patch.setattr("yaml.__with_libyaml__", False)
        plain = read_yaml(text.encode())
    if isinstance(quick, YamlFile) and isinstance(plain, YamlFile):
        assert quick.value == plain.value


def test_numbers_and_truth_values_are_those_of_json() -> None:
    found = read_yaml(b"[true, false, null, ~, 0, -12, 1.5, 2e3]")
    assert isinstance(found, YamlFile)
    assert found.value == [True, False, None, None, 0, -12, 1.5, 2000.0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\xff\xfe\x00",
        b"[" * 5000,
        b"a: &x [*x]",
        b"? [a]\n: b",
        b"!!python/object:os.system x",
        b"a: " + b"9" * 5000,
        b"a: 1e999",
        b"- " * 2000 + b"x",
        b"{a: b, <<: {c: d}}",
        b"%YAML 9.9\n---\na",
        b"a\n---\nb",
        b"x" * 300_000,
    ],
)
def test_no_plan_is_a_fault(tmp_path: Path, data: bytes) -> None:
    place = tmp_path / "one"
    place.mkdir()
    (place / "SKILL.mtx").write_text(SKILL.format(verbs="find build"))
    (place / "plan.yaml").write_bytes(data)
    report = validate_skill(place)[1]
    assert not report.ok
    assert {one.code for one in report.errors} == {"PLAN_INVALID"}


@pytest.fixture(scope="module")
def tools() -> Registry:
    return registry()


@given(text=st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_the_checks_fail(tools: Registry, text: str) -> None:
    parsed = parse(SKILL.format(verbs="find build").encode())
    scope = scope_of(Path("x"), parsed, ())
    assert scope is not None
    for plan in (text, CALL[: len(CALL) // 2] + text, CALL.replace("path", text)):
        for finding in check_plan_file(plan.encode(), scope, tools)[0]:
            assert finding.line >= 0
            assert finding.message
