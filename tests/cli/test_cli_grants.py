"""mcl grant add, revoke and grants: classes, hosts and folders, given, listed and taken back."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.outside_dev  # folders are granted

OTHER = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"


def test_hosts_are_given_listed_and_taken(mcl: Any) -> None:
    given = mcl("grant", "add", "network", "--host", "Example.org", "--host", "http://127.0.0.1:8080")
    assert given.code == 0
    assert "and reach: http://127.0.0.1:8080, example.org" in given.err
    listed = mcl("grant", "list", "--json").document
    assert [(one["host"], one["revoked_at"]) for one in listed["hosts"]] == [
        ("http://127.0.0.1:8080", ""),
        ("https://example.org", ""),
    ]
    assert "network" in [one["side_effect"] for one in listed["grants"]]
    assert mcl("grant", "remove", "network", "--host", "example.org").code == 0
    assert "https://example.org    taken back" in mcl("grant", "list").out
    taken = mcl("grant", "remove", "network")
    assert "the agent may: read, write" in taken.err
    assert all(one["revoked_at"] for one in mcl("grant", "list", "--json").document["hosts"])


def test_where_a_host_is_is_given_with_it_and_listed(mcl: Any) -> None:
    assert mcl("grant", "add", "network", "--host", "api.example", "--region", "DE").code == 0
    assert mcl("grant", "list", "--json").document["hosts"][0]["regions"] == ["DE"]
    assert "in DE" in mcl("grant", "list").out
    without = mcl("grant", "add", "network", "--region", "DE", "--json")
    assert (without.code, without.document["error"]["code"]) == (2, "NEEDS_HOST")
    wrong = mcl("grant", "add", "network", "--host", "b.example", "--region", "Germany", "--json")
    assert wrong.document["error"]["code"] == "BAD_REGION"


def test_a_grant_for_so_long_and_so_many_calls_says_so(mcl: Any) -> None:
    given = mcl("grant", "add", "shell", "network", "--max-calls", "5", "--until", "2200-01-01T00:00:00Z")
    assert "network (5 calls in 24 hours, until 2200-01-01 00:00 UTC), read, shell (5 calls" in given.err
    listed = mcl("grant", "list", "--json").document
    shell = next(one for one in listed["grants"] if one["side_effect"] == "shell")
    assert (shell["max_calls"], shell["until"]) == (5, "2200-01-01T00:00:00.000Z")
    assert shell["by"].startswith("did:key:z6Mk")
    assert listed["used"] == {"network": 0, "shell": 0}
    assert "0 of 5" in mcl("grant", "list").out


def test_a_folder_outside_the_workspace_is_given_and_taken(mcl: Any) -> None:
    place = mcl.folder.parent / "reference"
    place.mkdir()
    given = mcl("grant", "add", "read", "--root", str(place))
    assert f"and read in: {place}" in given.err
    assert [one["root"] for one in mcl("grant", "list", "--json").document["roots"]] == [str(place)]
    assert mcl("grant", "remove", "read", "--root", str(place)).code == 0
    listed = mcl("grant", "list", "--json").document
    assert all(one["revoked_at"] for one in listed["roots"])
    assert [one["side_effect"] for one in listed["grants"] if not one["revoked_at"]] == [
        "read",
        "write",
    ]


def test_the_end_of_a_folder_is_not_the_end_of_all_reading(mcl: Any) -> None:
    (mcl.folder.parent / "reference").mkdir()
    listed = mcl("grant", "add", "read", "--root", "../reference", "--until", "P1D", "--json").document
    assert [one["until"] for one in listed["grants"] if one["side_effect"] == "read"] == [""]
    assert listed["roots"][0]["until"]
    listed = mcl("grant", "add", "network", "--host", "example.org", "--until", "P1D", "--json").document
    [network] = [one for one in listed["grants"] if one["side_effect"] == "network"]
    assert network["until"] == listed["hosts"][0]["until"] != ""


def test_each_change_is_a_record_in_the_journal(mcl: Any) -> None:
    mcl("grant", "add", "shell", "--max-calls", "2")
    mcl("grant", "remove", "shell")
    mcl("grant", "list")
    rows = mcl("log", "--json").document["rows"]
    assert [row["kind"] for row in rows[1:]] == [
        *("record.grant.given", "record.table.changed", "record.grant.taken", "record.table.changed"),
    ]
    assert mcl("log", "verify").code == 0


def test_another_agent_has_grants_of_its_own(mcl: Any) -> None:
    given = mcl("grant", "add", "read", "--agent", OTHER, "--json").document
    assert (given["agent"], [one["side_effect"] for one in given["grants"]]) == (OTHER, ["read"])
    assert "write" in mcl("grant", "list").out
    assert "write" not in mcl("grant", "list", "--agent", OTHER).out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("grant", "add", "network", "--host", "*.example.org"), "BAD_HOST"),
        (("grant", "add", "network", "--host", "example.org/path"), "BAD_HOST"),
        (("grant", "remove", "network", "--host", "example.org"), "NOT_GRANTED"),
        (("grant", "add", "shell", "--host", "example.org"), "NEEDS_CLASS"),
        (("grant", "add", "network", "--root", "."), "NEEDS_CLASS"),
        (("grant", "add", "shell", "read", "--root", "missing"), "BAD_ROOT"),
        (("grant", "add", "shell", "--until", "yesterday"), "BAD_UNTIL"),
        (("grant", "add", "shell", "--until", "2020-01-01"), "BAD_UNTIL"),
        (("grant", "add", "shell", "--until", "2199-01-01T00:00:00"), "BAD_UNTIL"),
        (("grant", "add", "shell", "--until", "P"), "BAD_UNTIL"),
        (("grant", "add", "shell", "--max-calls", "-1"), "USAGE"),
        (("grant", "add", "shell", "--agent", "did:key:nobody"), "DID_NOT_ED25519"),
        (("grant", "add", "all"), "USAGE"),
    ],
)
def test_what_cannot_be_given_or_taken_changes_nothing(mcl: Any, words: tuple[str, ...], code: str) -> None:
    before = mcl("grant", "list", "--json").document
    refused = mcl(*words)
    assert (refused.code, f"code  {code}" in refused.err) == (2, True), refused.err
    assert mcl("grant", "list", "--json").document == before
    assert [row["kind"] for row in mcl("log", "--json").document["rows"]] == ["record.home.unattended"]


@pytest.mark.parametrize("width", ["40", "60", "80", "100", "200"])
def test_what_was_granted_is_told_in_full_on_terminals_of_any_width(
    mcl: Any, monkeypatch: Any, width: str
) -> None:
    mcl(
        "grant",
        "add",
        "network",
        "--host",
        "http://localhost:8765",
        "--max-calls",
        "7",
        "--until",
        "2200-01-01T00:00:00Z",
    )
    monkeypatch.setenv("COLUMNS", width)
    shown = mcl("grant", "list").out
    assert all(len(line) <= int(width) for line in shown.splitlines())
    for told in ("network", "granted", "http://localhost:8765", "2200-01-01 00:00 UTC", "0 of 7"):
        assert told in " ".join(shown.split())


@pytest.mark.parametrize("terms", [("read", "--root", ""), ("network", "--max-calls", "0")])
def test_an_empty_folder_and_no_calls_at_all_are_no_grants(mcl: Any, terms: tuple[str, ...]) -> None:
    said = mcl("grant", *terms)
    assert said.code == 2
    assert "code  USAGE" in said.err
    listed = mcl("grant", "list", "--json").document
    assert [one["side_effect"] for one in listed["grants"]] == ["read", "write"]
    assert listed["roots"] == []


def test_a_word_that_is_no_class_is_answered_in_plain_lines(mcl: Any) -> None:
    assert "'fly' is not one of 'read', 'write'" in mcl("grant", "add", "fly").err
    assert "Value error" not in mcl("grant", "add", "fly").err
    assert "Choose from: read, write, network, shell, chain\n" in mcl("grant", "add").err
