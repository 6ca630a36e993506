"""Every rule for files of intents, with its code, its level and its line."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.core.globs import Glob
from mcl.core.yaml import FileFlaw, FlawReport
from mcl.plugins.agents.file.document import read_file
from mcl.plugins.agents.file.rules import in_order
from mcl.plugins.agents.file.validation import cycles_of, overlaps_of, validate
from mcl.plugins.agents.work.leases import BoundCheckouts
from tests.agents.conftest import Project, Written

EXAMPLE = Path(__file__).parent / "files" / "active_intents.yaml"

FILE = """\
active_intents:
  - id: INT-001
    name: Log people in
    status: IN_PROGRESS
    created_at: 2024-01-15T10:30:00Z
    updated_at: 2024-01-20T14:22:00Z
    owned_scope:
      - src/auth/**
      - docs/auth.md
    constraints:
      - Use bcrypt
    acceptance_criteria:
      - Weak passwords are refused
    dependencies: [INT-002]
  - id: INT-002
    name: Set up Redis
    status: DONE
    created_at: 2024-01-10T09:00:00Z
    updated_at: 2024-01-12T16:45:00Z
    owned_scope: [infra/**]
    constraints: [Use Redis 7]
    acceptance_criteria: [It starts]
metadata:
  version: 1.0
"""
LINES = FILE.split("\n")


def checked(*changes: tuple[int, str]) -> FlawReport:
    """The file above with some of its lines (from 1) written differently; "" leaves one out."""
    lines = list(LINES)
    for number, line in changes:
        lines[number - 1] = line
    return validate(read_file("\n".join(lines).encode()))


def told(report: FlawReport) -> list[tuple[str, int, str]]:
    return [(one.type, one.line, one.level) for one in (*report.errors, *report.warnings)]


def test_the_documented_example_is_valid_and_nothing_about_it_is_doubtful() -> None:
    document = read_file(EXAMPLE.read_bytes())

    assert validate(document) == FlawReport((), ())
    assert [entry.label for entry in document.entries] == ["INT-001", "INT-002", "INT-003", "INT-004"]
    assert [entry.line for entry in document.entries] == [7, 52, 83, 116]
    assert document.entries[3].blocked_reason.startswith("Waiting for Redis setup")
    assert document.entries[0].line_of("acceptance_criteria[5]") == 38


def test_the_example_of_structured_constraints_is_kept_as_json() -> None:
    rule = "      - {type: file_size, max_lines: 500, scope: 'src/**/*.ts'}"
    document = read_file("\n".join([*LINES[:10], rule, *LINES[11:]]).encode())

    assert document.findings == ()
    assert document.entries[0].constraints == ('{"max_lines":500,"scope":"src/**/*.ts","type":"file_size"}',)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([(2, "  - id: int-1")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: INT01")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: INTENT-001")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: INT-01")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, '  - id: "INT-001\\n"')], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: INT-٠٠١")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: 1")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id:")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, f"  - id: INT-{'0' * 64}")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - owner: nobody")], [("INVALID_ID_FORMAT", 2, "error")]),
        ([(2, "  - id: [INT-001]")], [("INVALID_TYPE", 2, "error")]),
        ([(2, "  - id: INT-042")], []),
        ([(2, "  - id: INT-1000000")], []),
        ([(14, ""), (15, "  - id: INT-001")], [("DUPLICATE_ID", 15, "error")]),
        ([(4, "    status: in_progress")], [("INVALID_STATUS", 4, "error")]),
        ([(4, "    status: OPEN")], [("INVALID_STATUS", 4, "error")]),
        ([(4, "    status: true")], [("INVALID_STATUS", 4, "error")]),
        ([(4, "    status: null")], [("INVALID_STATUS", 4, "error")]),
        ([(4, "    owner: x")], [("INVALID_STATUS", 2, "error")]),
        ([(4, "    status: {a: b}")], [("INVALID_TYPE", 4, "error")]),
        ([(3, "")], [("INVALID_TYPE", 2, "error")]),
        ([(3, "    name: ''")], [("INVALID_TYPE", 3, "error")]),
        ([(3, "    name: 12")], [("INVALID_TYPE", 3, "error")]),
        ([(3, "    name: [a]")], [("INVALID_TYPE", 3, "error")]),
        ([(7, "    owned_scope: []"), (8, ""), (9, "")], [("EMPTY_SCOPE", 7, "error")]),
        ([(7, "    owned_scope:"), (8, ""), (9, "")], [("EMPTY_SCOPE", 7, "error")]),
        ([(7, ""), (8, ""), (9, "")], [("EMPTY_SCOPE", 2, "error")]),
        ([(7, "    owned_scope: src/**"), (8, ""), (9, "")], [("INVALID_TYPE", 7, "error")]),
        ([(8, "      - 7")], [("INVALID_TYPE", 8, "error")]),
        ([(8, "      - ''")], [("INVALID_TYPE", 8, "error")]),
        ([(8, "      - [a]")], [("INVALID_TYPE", 8, "error")]),
        ([(8, "      - 'src/auth/[invalid'")], [("INVALID_GLOB", 8, "error")]),
        ([(9, "      - ../elsewhere/**")], [("INVALID_GLOB", 9, "error")]),
        ([(9, "      - '!src/**'")], [("INVALID_GLOB", 9, "error")]),
        ([(9, "      - '*.ts'")], []),
        ([(9, "      - tests/**/auth.spec.ts")], []),
        ([(9, "      - /absolute/paths")], [("ABSOLUTE_PATH", 9, "warning")]),
        ([(9, "      - 'C:/absolute/paths'")], [("ABSOLUTE_PATH", 9, "warning")]),
        ([(5, "    created_at: 2024-01-15")], [("INVALID_TIMESTAMP_FORMAT", 5, "error")]),
        ([(5, "    created_at: 2024-01-15T10:30:00")], [("INVALID_TIMESTAMP_FORMAT", 5, "error")]),
        ([(5, "    created_at: 2024-02-30T10:30:00Z")], [("INVALID_TIMESTAMP_FORMAT", 5, "error")]),
        ([(5, "    created_at: 1705314600")], [("INVALID_TIMESTAMP_FORMAT", 5, "error")]),
        ([(5, "    created_at: 0001-01-01T00:00:00+14:00")], [("INVALID_TIMESTAMP_FORMAT", 5, "error")]),
        ([(6, "    updated_at: yesterday")], [("INVALID_TIMESTAMP_FORMAT", 6, "error")]),
        ([(6, "")], [("INVALID_TIMESTAMP_FORMAT", 2, "error")]),
        ([(6, "    updated_at: 2024-01-15T10:29:59Z")], [("INVALID_TIMESTAMP", 6, "error")]),
        ([(6, "    updated_at: 2024-01-15T12:29:59+02:00")], [("INVALID_TIMESTAMP", 6, "error")]),
        ([(6, "    updated_at: 2024-01-15T10:30:00Z")], []),
        ([(6, '    updated_at: "2024-01-15T12:30:00.5+02:00"')], []),
        ([(14, "    dependencies: [INT-009]")], [("INVALID_DEPENDENCY", 14, "error")]),
        ([(14, "    dependencies: [2]")], [("INVALID_TYPE", 14, "error")]),
        ([(14, "    dependencies: INT-002")], [("INVALID_TYPE", 14, "error")]),
        ([(14, "    dependencies: null")], []),
        ([(14, "    dependencies: [INT-001]")], [("CIRCULAR_DEPENDENCY", 14, "error")]),
        ([(17, "    status: DRAFT")], [("DEPENDENCY_NOT_READY", 14, "warning")]),
        ([(17, "    status: BLOCKED")], [("DEPENDENCY_NOT_READY", 14, "warning")]),
        ([(4, "    status: DRAFT"), (17, "    status: DRAFT")], []),
        ([(10, "    constraints: []"), (11, "")], [("MISSING_CONSTRAINTS", 10, "warning")]),
        ([(10, ""), (11, "")], [("MISSING_CONSTRAINTS", 2, "warning")]),
        ([(12, "    acceptance_criteria: []"), (13, "")], [("MISSING_ACCEPTANCE_CRITERIA", 12, "warning")]),
        ([(11, "      - {limit: .nan}")], [("INVALID_TYPE", 11, "error")]),
        ([(11, "      - {limit: 99999999999999999999999}")], [("INVALID_TYPE", 11, "error")]),
        ([(13, "      - {type: delivered, artifact: docs/auth.md}")], []),
        ([(13, "      - {type: external, url: 'https://ci.example', check: status == 200}")], []),
        ([(13, "      - {type: attestation, source: ci, topic: tests}")], []),
        ([(13, "      - {type: signed_off, by: 'did:key:z6Mk'}")], []),
        ([(13, "      - {type: 'x:lint', schema: a, data: b}")], []),
        ([(13, "      - {type: delivered}")], [("INVALID_TYPE", 13, "error")]),
        ([(13, "      - {type: delivered, artifact: a, by: b}")], [("INVALID_TYPE", 13, "error")]),
        ([(13, "      - {type: delivered, artifact: 7}")], [("INVALID_TYPE", 13, "error")]),
        ([(13, "      - {type: guessed, artifact: a}")], [("INVALID_TYPE", 13, "error")]),
        ([(13, "      - {artifact: a}")], [("INVALID_TYPE", 13, "error")]),
        ([(13, "      - 90")], [("INVALID_TYPE", 13, "error")]),
        ([(3, "    name: a\n    colour: red")], [("UNKNOWN_FIELD", 4, "warning")]),
        ([(3, "    name: a\n    name: b")], [("DUPLICATE_KEY", 4, "error")]),
        ([(13, "      - {type: delivered, artifact: a, artifact: b}")], [("DUPLICATE_KEY", 13, "error")]),
        ([(1, "active_intents: []\nactive_intents:")], [("DUPLICATE_KEY", 2, "error")]),
        ([(24, "  version: 1.0\n  version: 2.0")], [("DUPLICATE_KEY", 25, "error")]),
        ([(3, "    name: a\n    7: b")], [("INVALID_TYPE", 4, "error"), ("UNKNOWN_FIELD", 4, "warning")]),
        ([(23, "metadata: 1.0"), (24, "")], [("INVALID_TYPE", 23, "error")]),
        ([(23, "colours:")], [("UNKNOWN_FIELD", 23, "warning")]),
        ([(15, "  - just a text\n  - id: INT-002")], [("INVALID_TYPE", 15, "error")]),
        ([(1, "intents:")], [("MISSING_ACTIVE_INTENTS", 1, "error")]),
    ],
)
def test_each_rule_is_told_with_its_code_its_line_and_its_level(
    changes: list[tuple[int, str]], expected: list[tuple[str, int, str]]
) -> None:
    report = checked(*changes)

    assert told(report) == expected
    assert report.valid is not any(level == "error" for _, _, level in expected)


@pytest.mark.parametrize(
    "text",
    ["", "# nothing yet\n", "null", "[]", "just a text", "active_intents:", "active_intents: {}", "42"],
)
def test_a_file_without_a_list_of_intents_says_so(text: str) -> None:
    assert told(validate(read_file(text.encode()))) == [("MISSING_ACTIVE_INTENTS", 1, "error")]


def test_an_empty_list_of_intents_is_valid() -> None:
    assert validate(read_file(b"active_intents: []\n")).valid


def test_a_finding_names_the_intent_and_the_field_for_programs() -> None:
    (finding,) = checked((9, "      - /etc/**")).warnings

    assert finding.to_json() == {
        "type": "ABSOLUTE_PATH",
        "message": finding.message,
        "intent_id": "INT-001",
        "field": "owned_scope[1]",
        "line": 9,
    }


def test_a_doubled_key_is_told_with_the_intent_that_it_lies_in() -> None:
    inside = checked((16, "    name: a\n    name: b")).errors
    behind = checked((24, "  version: 1.0\n  version: 2.0")).errors

    assert [one.intent_id for one in (*inside, *behind)] == ["INT-002", ""]


def test_dependencies_may_be_declared_later_in_the_file() -> None:
    assert checked(
        (14, ""), (22, LINES[21] + "\n    dependencies: [INT-001]"), (17, "    status: DRAFT")
    ).valid


def test_a_cycle_is_told_once_from_its_smallest_intent_whatever_the_order_of_the_file() -> None:
    message = "intents wait for one another: INT-002 → INT-010 → INT-003 → INT-002"
    said = set()
    for order in itertools.permutations(["INT-010", "INT-002", "INT-003"]):
        after = {"INT-002": "INT-010", "INT-010": "INT-003", "INT-003": "INT-002"}
        text = "\n".join(f"- {{id: {label}, dependencies: [{after[label]}]}}" for label in order)
        report = validate(read_file(f"active_intents:\n{text}".encode()))
        said.update(
            (one.message, one.intent_id) for one in report.errors if one.type == "CIRCULAR_DEPENDENCY"
        )

    assert said == {(f"{message}; leave one of the dependencies out", "INT-002")}


graphs = st.dictionaries(
    st.sampled_from([f"INT-{number:03d}" for number in range(8)]),
    st.lists(st.sampled_from([f"INT-{number:03d}" for number in range(9)]), max_size=4),
    max_size=8,
)


@given(graphs, st.randoms(use_true_random=False))
def test_cycles_are_what_reaches_itself_and_each_path_is_a_real_way_round(
    depends: dict[str, list[str]], shuffled: random.Random
) -> None:
    reach = {label: {other for other in after if other in depends} for label, after in depends.items()}
    for middle, one, other in itertools.product(depends, repeat=3):  # Warshall, which any order suits here
        if middle in reach[one] and other in reach[middle]:
            reach[one].add(other)
    expected = {
        in_order({one, *(two for two in reach[one] if one in reach[two])})
        for one in reach
        if one in reach[one]
    }

    cycles = cycles_of(depends)

    assert {cycle.members for cycle in cycles} == expected
    assert len(cycles) == len(expected)
    for cycle in cycles:
        assert cycle.path[0] == cycle.path[-1] == cycle.members[0]
        assert all(after in depends[before] for before, after in itertools.pairwise(cycle.path))
        assert len(set(cycle.path)) == len(cycle.path) - 1
    items = list(depends.items())
    shuffled.shuffle(items)
    assert cycles_of(dict(items)) == cycles


def test_a_long_chain_of_dependencies_needs_no_deep_stack() -> None:
    labels = [f"INT-{number:05d}" for number in range(5_000)]
    ring = {label: [after] for label, after in zip(labels, [*labels[1:], labels[0]], strict=True)}

    (cycle,) = cycles_of(ring)

    assert cycle.members == tuple(labels)
    assert len(cycle.path) == 5_001


def test_two_scopes_in_progress_that_share_a_path_are_an_error_with_that_path() -> None:
    report = checked((17, "    status: IN_PROGRESS"), (20, "    owned_scope: [infra/**, src/*/login.ts]"))

    (finding,) = report.errors
    assert (finding.type, finding.intent_id, finding.field, finding.line) == (
        "SCOPE_OVERLAP",
        "INT-002",
        "owned_scope[1]",
        20,
    )
    assert finding.data == {
        "intents": ["INT-001", "INT-002"],
        "patterns": ["src/auth/**", "src/*/login.ts"],
        "witness": "src/auth/login.ts",
    }


@pytest.mark.parametrize("status", ["DRAFT", "DONE", "BLOCKED"])
def test_scopes_of_intents_that_are_not_in_progress_may_overlap(status: str) -> None:
    assert (
        told(checked((14, ""), (17, f"    status: {status}"), (20, "    owned_scope: [src/auth/**]"))) == []
    )


pieces = st.lists(
    st.sampled_from(["a", "b", "*", "**", "a*", "?", "[ab]", "{a,b/c}"]), min_size=1, max_size=4
)
patterns = pieces.map("/".join)


@given(st.lists(st.lists(patterns, min_size=1, max_size=3), max_size=4))
def test_overlaps_are_found_for_just_the_scopes_two_of_whose_patterns_meet(texts: list[list[str]]) -> None:
    scopes = [tuple(Glob.read(text) for text in one) for one in texts]
    expected = {
        (one, other)
        for one, other in itertools.combinations(range(len(scopes)), 2)
        if any(mine.meeting(its) is not None for mine in scopes[one] for its in scopes[other])
    }

    found = list(overlaps_of(scopes))

    assert [(overlap.one, overlap.other) for overlap in found if overlap.one >= overlap.other] == []
    assert {(overlap.one, overlap.other) for overlap in found} == expected
    assert len(found) == len(expected)
    for overlap in found:
        assert overlap.pattern in texts[overlap.one]
        assert overlap.its_pattern in texts[overlap.other]
        assert Glob.read(overlap.pattern).matches(overlap.witness)
        assert Glob.read(overlap.its_pattern).matches(overlap.witness)


def test_more_overlaps_than_anybody_reads_end_in_one_finding_that_says_so() -> None:
    text = "active_intents:\n" + "- {status: IN_PROGRESS, owned_scope: [src/**]}\n" * 60

    overlaps = [one for one in validate(read_file(text.encode())).errors if one.type == "SCOPE_OVERLAP"]

    assert len(overlaps) == 1_001
    assert overlaps[0].line == 1
    assert "too often" in overlaps[0].message


def test_more_to_compare_than_is_worth_it_is_an_error_and_not_taken_for_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcl.plugins.agents.file.validation.MAX_COMPARED", 1_000)
    text = "".join(f"- {{status: IN_PROGRESS, owned_scope: ['src/*a{n}*b']}}\n" for n in range(10))
    report = validate(read_file(f"active_intents:\n{text}".encode()))

    assert next(one.line for one in report.errors if one.type == "SCOPE_OVERLAP") == 1
    assert "too often" in next(one.message for one in report.errors if one.type == "SCOPE_OVERLAP")


def test_more_than_a_thousand_intents_are_a_warning() -> None:
    text = "active_intents:\n" + "".join(f"- {{id: INT-{number:04d}}}\n" for number in range(1_001))
    report = validate(read_file(text.encode()))

    assert [one.message for one in report.warnings if one.type == "SOFT_LIMIT"] == [
        "1001 intents in one file; more than 1000 are hard to keep apart"
    ]


def test_an_absolute_pattern_is_signed_and_lets_an_agent_change_nothing(project: Project) -> None:
    project.sign(Written(scope=("/etc/**", "src/**")))
    assert project.select("INT-001").success

    held = BoundCheckouts(project.work, project.leases, project.root, "one").held()

    assert held is not None
    assert held.scope.texts == ("src/**",)
    assert not held.scope.matches("etc/passwd")


def test_the_order_of_findings_is_that_of_the_file() -> None:
    report = checked((4, "    status: x"), (6, "    updated_at: y"), (17, "    status: z"))

    assert [one.line for one in report.errors] == [4, 6, 17]


def test_findings_of_equal_files_are_equal() -> None:
    changes = ((4, "    status: x"), (8, "      - '['"), (14, "    dependencies: [INT-001, INT-7]"))

    assert checked(*changes) == checked(*changes)
    assert isinstance(checked(*changes).errors[0], FileFlaw)
