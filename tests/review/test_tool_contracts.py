"""What each tool promises: the contracts, the two documents that tell them, and where documents are stale."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from executor import Manifest, ManifestError
from mcl.catalog.contracts import (
    JSON_FILE,
    SAFETY_FILE,
    Contract,
    Drift,
    contract_of,
    contracts_of,
    document_drift,
    folder_drift,
    json_document,
    read_contracts,
    read_safety,
    safety_document,
)
from mcl.catalog.tools import registry

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOREIGN_JSON = json.dumps(
    {
        "tool_count": 2,
        "tools": [{"name": "read_it", "class": "A"}, {"name": "change_it", "safety_class": "C"}],
    }
)
FOREIGN_SAFETY = "# Safety\n\n| Tool | Class |\n|---|---|\n| `read_it` | A |\n| `change_it()` | Class C |\n"


@pytest.fixture(scope="module")
def contracts() -> dict[str, Contract]:
    return contracts_of(registry())


@pytest.fixture(scope="module")
def written(contracts: dict[str, Contract]) -> tuple[str, str]:
    return json_document(contracts), safety_document(contracts)


def codes(found: tuple[Drift, ...]) -> set[tuple[str, str]]:
    return {(one.code, one.place) for one in found}


# ---- the contract of a tool ----


@pytest.mark.parametrize(
    ("name", "said"),
    [
        # The classes of the seed: A reads in the workspace, B elsewhere, C writes, D starts a program.
        ("fs/read", {"class": "A", "resolver": "workspace+allowed", "write": False, "subprocess": False}),
        ("git/status", {"class": "A", "write": False, "subprocess": True, "programs": ["git"]}),
        ("http/get", {"class": "B", "resolver": "network", "write": False, "network": True}),
        ("fs/edit", {"class": "C", "resolver": "workspace", "write": True, "subprocess": False}),
        ("git/branch", {"class": "C", "resolver": "workspace", "write": True, "programs": ["git"]}),
        ("cortex/put", {"class": "C", "resolver": "none", "write": True, "network": False}),
        ("process/tests", {"class": "D", "write": True, "subprocess": True}),
        ("process/lint", {"class": "D", "write": False, "subprocess": True}),
        ("http/request", {"class": "E", "resolver": "network", "write": True, "network": True}),
        ("time/now", {"class": "A", "resolver": "none", "write": False, "side_effects": []}),
    ],
)
def test_a_contract_says_what_a_caller_asks(
    contracts: dict[str, Contract], name: str, said: Mapping[str, object]
) -> None:
    found = contracts[f"{name}@1.0.0"]
    assert {field: found[field] for field in said} == said


def test_a_contract_has_every_field_of_the_seed_and_the_schema_of_its_arguments(
    contracts: dict[str, Contract],
) -> None:
    for name, one in contracts.items():
        assert {"name", "class", "description", "resolver", "write", "subprocess", "side_effects"} <= set(one)
        Draft202012Validator.check_schema(one["args"])
        assert name == f"{one['name']}@1.0.0"


def test_a_tool_that_neither_writes_nor_starts_nor_asks_has_no_side_effect(
    contracts: dict[str, Contract],
) -> None:
    for name, one in contracts.items():
        quiet = not (one["write"] or one["subprocess"] or one["network"])
        assert quiet == (one["side_effects"] == []), name


def test_classes_a_and_b_write_nothing_and_class_d_alone_starts_what_the_workspace_decides(
    contracts: dict[str, Contract],
) -> None:
    for name, one in contracts.items():
        if one["class"] in ("A", "B"):
            assert not one["write"], name
            assert set(one["programs"]) <= {"git"}, name  # type: ignore[call-overload]
        assert (one["class"] == "D") == ("shell" in one["effects"]), name  # type: ignore[operator]


def test_every_tool_has_an_example_that_its_schema_takes() -> None:
    for one in registry().own:
        assert one.examples, one.uri
        for example in one.examples:
            Draft202012Validator(one.args).validate(example.args)


def test_a_command_of_an_operator_names_its_program() -> None:
    lint = next(one for one in registry().own if one.uri.startswith("matrix://tool/process/lint@"))
    said = {**lint.model_dump(), "programs": [], "command": {"argv": ["make", "lint"]}}
    found = contract_of(Manifest.model_validate(said))
    assert found["programs"] == ["make"]
    assert found["side_effects"] == ["starts make lint, which an operator declared"]


# ---- the documents ----


def test_the_documents_in_docs_are_what_the_contracts_give(contracts: dict[str, Contract]) -> None:
    assert folder_drift(contracts, DOCS) == ()


def test_the_documents_are_the_same_each_time(written: tuple[str, str]) -> None:
    again = contracts_of(registry())
    assert (json_document(again), safety_document(again)) == written


def test_a_document_that_was_just_written_tells_every_tool_with_its_class(
    contracts: dict[str, Contract], written: tuple[str, str]
) -> None:
    classes = {name: one["class"] for name, one in contracts.items()}
    first, second = read_contracts(written[0]), read_safety(written[1])
    assert (first.ours, first.tools, first.count) == (True, classes, len(contracts))
    assert (second.ours, second.tools) == (True, classes)
    assert document_drift(contracts, *written) == ()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda a, b: (None, b), {("DOCUMENT_MISSING", JSON_FILE)}),
        (lambda a, b: (a, None), {("DOCUMENT_MISSING", SAFETY_FILE)}),
        (lambda a, b: (a[:-9], b), {("DOCUMENT_UNREADABLE", JSON_FILE)}),
        (lambda a, b: ("[" * 100_000, b), {("DOCUMENT_UNREADABLE", JSON_FILE)}),
        (lambda a, b: (a.replace('"count": ', '"count": 1', 1), b), {("COUNT_DIFFERS", JSON_FILE)}),
        (lambda a, b: (a, b.replace("`fs/read@1.0.0` | A", "`fs/read@1.0.0` | C")),
         {("CLASS_DIFFERS", SAFETY_FILE)}),
        (lambda a, b: (a, b.replace("| `fs/read@1.0.0` |", "| `fs/raed@1.0.0` |")),
         {("TOOL_UNDOCUMENTED", SAFETY_FILE), ("TOOL_GONE", SAFETY_FILE)}),
        (lambda a, b: (a, b + "| `fs/read@1.0.0` | A |\n"), {("TOOL_TWICE", SAFETY_FILE)}),
        (lambda a, b: (a.replace('"timeout_ms": 1000,', '"timeout_ms": 9999,'), b),
         {("CONTRACT_DIFFERS", JSON_FILE)}),
        (lambda a, b: (a.replace('"resolver": "network"', '"resolver": "none"', 1), b),
         {("CONTRACT_DIFFERS", JSON_FILE)}),
        (lambda a, b: (a, b + "\nOne more word.\n"), {("DOCUMENT_STALE", SAFETY_FILE)}),
        (lambda a, b: (a.replace("\n", "\r\n"), b), {("DOCUMENT_STALE", JSON_FILE)}),
    ],
)  # fmt: skip
def test_what_is_stale_in_a_document_is_told_with_its_place(
    contracts: dict[str, Contract], written: tuple[str, str], change: Any, expected: set[tuple[str, str]]
) -> None:
    assert codes(document_drift(contracts, *change(*written))) == expected


def test_a_tool_that_came_and_one_that_went_are_told_in_both_documents(
    contracts: dict[str, Contract], written: tuple[str, str]
) -> None:
    now = {**contracts, "fs/new@1.0.0": contracts["fs/read@1.0.0"]}
    del now["fs/list@1.0.0"]
    assert codes(document_drift(now, *written)) == {
        (code, place) for code in ("TOOL_UNDOCUMENTED", "TOOL_GONE") for place in (JSON_FILE, SAFETY_FILE)
    }


# ---- documents of others ----


def test_documents_of_another_program_are_held_to_each_other_and_not_to_our_tools(
    contracts: dict[str, Contract],
) -> None:
    assert read_contracts(FOREIGN_JSON).tools == {"read_it": "A", "change_it": "C"}
    assert read_safety(FOREIGN_SAFETY).tools == {"read_it": "A", "change_it": "C"}
    assert document_drift(contracts, FOREIGN_JSON, FOREIGN_SAFETY) == ()


@pytest.mark.parametrize(
    ("json_text", "safety_text", "expected"),
    [
        (FOREIGN_JSON.replace('_count": 2', '_count": 3'), FOREIGN_SAFETY, {("COUNT_DIFFERS", JSON_FILE)}),
        (FOREIGN_JSON, FOREIGN_SAFETY.replace("Class C", "Class A"), {("CLASS_DIFFERS", SAFETY_FILE)}),
        (FOREIGN_JSON, FOREIGN_SAFETY.replace("| `read_it` | A |\n", ""),
         {("TOOL_UNDOCUMENTED", SAFETY_FILE)}),
        (FOREIGN_JSON, FOREIGN_SAFETY + "| `third` | B |\n", {("TOOL_UNDOCUMENTED", JSON_FILE)}),
        ('{"read_it": {"class": "A"}, "change_it": {"class": "C"}}', FOREIGN_SAFETY, set()),
        ('[{"name": "read_it"}, {"name": "change_it"}]', FOREIGN_SAFETY, set()),
        ('{"tools": [{"class": "A"}]}', FOREIGN_SAFETY, {("DOCUMENT_UNREADABLE", JSON_FILE)}),
        ('"read_it"', FOREIGN_SAFETY, {("DOCUMENT_UNREADABLE", JSON_FILE)}),
    ],
)  # fmt: skip
def test_where_two_documents_of_another_program_differ_is_told(
    contracts: dict[str, Contract], json_text: str, safety_text: str, expected: set[tuple[str, str]]
) -> None:
    assert codes(document_drift(contracts, json_text, safety_text)) == expected


def test_what_is_no_file_is_not_waited_for_and_what_is_endless_is_not_read(
    contracts: dict[str, Contract], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / JSON_FILE)
    (tmp_path / SAFETY_FILE).symlink_to("/dev/zero")
    assert codes(folder_drift(contracts, tmp_path)) == {
        ("DOCUMENT_MISSING", JSON_FILE),
        ("DOCUMENT_MISSING", SAFETY_FILE),
    }


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"tools": [{"name": "x" * 201}]}),
        json.dumps({"tools": [{"name": str(number)} for number in range(10_001)]}),
        " " * ((16 << 20) + 1),
        '{"tools": [{"name": "a"}], "count": ' + "9" * 5000 + "}",
    ],
)
def test_a_document_without_measure_is_refused(contracts: dict[str, Contract], text: str) -> None:
    assert ("DOCUMENT_UNREADABLE", JSON_FILE) in codes(document_drift(contracts, text, FOREIGN_SAFETY))


@given(text=st.text() | st.text(alphabet='{}[]":,|`abcABC\\\n ', max_size=200))
def test_whatever_a_document_holds_it_is_read_or_refused(text: str) -> None:
    read_safety(text)
    with suppress(ManifestError):
        read_contracts(text)
    assert all(one.code and one.message for one in document_drift({}, text, text))
