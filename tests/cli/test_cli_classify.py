"""`mcl tool classify` and `mcl tool unclassify`, as a person types them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from executor import Home
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from tests.cli.conftest import Shell

HINTS = {"readOnlyHint": True, "title": "\x1b[2JLook"}
CLASSIFY = ("tool", "classify", "github:get_issue", "read", "--effects", "network")


def definition(annotations: Mapping[str, object] | None = HINTS, **more: object) -> dict[str, Any]:
    found = {"name": "get_issue", "description": "Gets an issue.", "inputSchema": {"type": "object"}, **more}
    return {**found, "annotations": dict(annotations)} if annotations is not None else found


def serve(mcl: Shell, *definitions: Mapping[str, Any], trusted: bool = False) -> None:
    """A home that knows the server github and what it lists."""
    with Home.open(mcl.home) as home:
        if Servers(home).find("github") is None:
            Servers(home).add("github", command=["/bin/true"])
        if trusted:
            Servers(home).trust("github")
        Definitions(home).observe("github", definitions)


def records(mcl: Shell, kind: str) -> list[Any]:
    with Home.open(mcl.home) as home:
        return [home.journal.open(row.wire).body for row in home.journal.rows(kind=kind)]


def test_a_tool_is_shown_and_asked_about_before_it_is_classified(mcl: Shell) -> None:
    serve(mcl, definition())
    for answer in (b"\n", b"no\n", b""):
        ended = mcl.fed(answer, *CLASSIFY)
        assert ended.code == 4
        assert "nothing was changed" in ended.err
        shown = ended.out + ended.err
        assert "github:get_issue" in shown
        assert "readOnlyHint = true" in shown
        assert "\\u001b[2JLook" in shown
        assert "\x1b[2J" not in shown
        assert "the worst, as nobody is believed" in shown
        assert "Let github:get_issue count as read (network), as it is now?" in shown
    assert records(mcl, "record.tool.classified") == []
    ended = mcl.fed(b"y\n", *CLASSIFY)
    assert ended.code == 0
    assert "github:get_issue counts as read (network); agents call it by call_tool_read" in ended.err
    with Home.open(mcl.home) as home:
        known = Definitions(home).find("github:get_issue")
        assert known is not None
        assert records(mcl, "record.tool.classified") == [
            {
                "uri": known.manifest.uri,
                "name": "github:get_issue",
                "pin": known.manifest.pin,
                "by": home.keyring.user.did,
                "operation": "read",
                "effects": ["network"],
                "unseen": True,  # the home is one of programs
            }
        ]
    assert mcl("log", "verify").code == 0


def test_whoever_does_not_agree_is_told_so_in_one_document_too(mcl: Shell) -> None:
    serve(mcl, definition())
    ended = mcl.fed(b"", *CLASSIFY, "--json")
    assert (ended.code, ended.document["code"], ended.document["operation"]) == (
        4,
        "NOT_AGREED",
        "destructive",
    )


def test_what_was_said_holds_until_the_tool_changes_or_it_is_taken_back(mcl: Shell) -> None:
    serve(mcl, definition())
    said = mcl(*CLASSIFY, "--yes", "--json")
    assert (said.code, said.document["operation"], said.document["asked"]) == (0, "read", False)
    again = mcl(*CLASSIFY, "--yes")
    assert (again.code, "ALREADY_CLASSIFIED" in again.err) == (2, True)
    serve(mcl, definition(description="Gets an issue, and more."))
    changed = mcl("tool", "unclassify", "github:get_issue")
    assert (changed.code, "NOT_CLASSIFIED" in changed.err) == (2, True)
    serve(mcl, definition())
    back = mcl("tool", "unclassify", "github:get_issue", "--json")
    assert (back.document["operation"], back.document["by"]) == ("destructive", "")
    assert len(records(mcl, "record.tool.unclassified")) == 1
    assert mcl("tool", "unclassify", "github:get_issue").code == 2
    assert len(records(mcl, "record.tool.unclassified")) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("github:get_isue", "read", "--effects", "network"), "TOOL_UNKNOWN"),
        (("fs/read", "read", "--effects", "read"), "TOOL_UNKNOWN"),
        (("mcl:fs/read", "read", "--effects", "read"), "TOOL_UNKNOWN"),
        (("github:get_issue", "read", "--effects", "everything"), "UNKNOWN_SIDE_EFFECT"),
        (("github:get_issue", "read", "--effects", ""), "BAD_CLASSIFICATION"),
        (("github:get_issue", "write", "--effects", "read"), "BAD_CLASSIFICATION"),
        (("github:get_issue", "read", "--effects", "network", "--pin", "0" * 64), "PIN_MISMATCH"),
    ],
)
def test_what_cannot_be_said_is_refused_and_leaves_nothing(
    mcl: Shell, words: tuple[str, ...], code: str
) -> None:
    serve(mcl, definition(), definition({"destructiveHint": True}, name="remove"))
    ended = mcl("tool", "classify", *words, "--yes")
    assert ended.code == 2
    assert code in ended.err
    assert "fix" in ended.err
    assert records(mcl, "record.tool.classified") == []


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("hints", [None, {"readOnlyHint": True}, {"destructiveHint": True}])
@pytest.mark.parametrize("operation", ["read", "write", "destructive"])
def test_an_operators_word_counts_whatever_its_server_says(
    mcl: Shell, hints: dict[str, bool] | None, operation: str, trusted: bool
) -> None:
    serve(mcl, definition(hints), trusted=trusted)
    words = ("tool", "classify", "github:get_issue", operation, "--effects", "network")
    said = mcl(*words, "--reason", "looked at it", "--yes", "--json")
    assert (said.code, said.document["operation"], said.document["by"]) == (0, operation, "operator")
    (record,) = records(mcl, "record.tool.classified")
    assert (record["reason"], record["unseen"]) == ("looked at it", True)
    back = mcl("tool", "unclassify", "github:get_issue", "--json").document
    by = "server" if hints and (trusted or "destructiveHint" in hints) else ""
    assert back["by"] == by


def test_an_operation_that_is_none_is_a_mistake_of_usage(mcl: Shell) -> None:
    serve(mcl, definition())
    assert mcl("tool", "classify", "github:get_issue", "delete", "--effects", "network").code == 2
    assert mcl("tool", "classify", "github:get_issue", "read").code == 2
