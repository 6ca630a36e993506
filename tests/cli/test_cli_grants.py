"""mcl grants: classes and hosts, given, listed and taken."""

from __future__ import annotations

from typing import Any

import pytest


def test_hosts_are_given_listed_and_taken(mcl: Any) -> None:
    given = mcl("grants", "give", "network", "--host", "Example.org", "--host", "http://127.0.0.1:8080")
    assert given.code == 0
    assert "and reach: example.org, http://127.0.0.1:8080" in given.err
    listed = mcl("grants", "--json").document
    assert [(one["host"], one["revoked_at"]) for one in listed["hosts"]] == [
        ("http://127.0.0.1:8080", ""),
        ("https://example.org", ""),
    ]
    assert "network" in [one["side_effect"] for one in listed["grants"]]
    assert mcl("grants", "take", "network", "--host", "example.org").code == 0
    assert "https://example.org    taken back" in mcl("grants").out
    taken = mcl("grants", "take", "network")
    assert "the agent may: read, write" in taken.err
    assert all(one["revoked_at"] for one in mcl("grants", "--json").document["hosts"])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("give", "network", "--host", "*.example.org"), "BAD_HOST"),
        (("give", "network", "--host", "example.org/path"), "BAD_HOST"),
        (("take", "network", "--host", "example.org"), "NOT_GRANTED"),
        (("give", "shell", "--host", "example.org"), "USAGE"),
    ],
)
def test_what_cannot_be_given_or_taken_changes_nothing(mcl: Any, words: tuple[str, ...], code: str) -> None:
    before = mcl("grants", "--json").document
    refused = mcl("grants", *words)
    assert (refused.code, f"code  {code}" in refused.err) == (2, True)
    assert mcl("grants", "--json").document == before
