"""mcl agent: other agents, entered, listed and taken out."""

from __future__ import annotations

from typing import Any

import pytest

DID = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"


def test_an_agent_is_entered_listed_and_taken_out(mcl: Any) -> None:
    added = mcl("agent", "add", "print-shop", "--did", DID, "--endpoint", "https://E.org:443/work", "--json")
    assert added.code == 0
    assert added.document["endpoint"] == "https://e.org/work"
    assert "not granted yet: mcl grant add network --host e.org" in added.err
    (listed,) = mcl("agent", "list", "--json").document["agents"]
    assert (listed["name"], listed["did"], listed["trusted"]) == ("print-shop", DID, True)
    assert [one["role"] for one in mcl("key", "list", "--json").document["keys"] if one["did"] == DID] == [
        "agent"
    ]
    assert "print-shop" in mcl("agent", "list").out
    assert mcl("key", "revoke", DID).code == 0
    assert "(revoked)" in mcl("agent", "list").out
    removed = mcl("agent", "remove", "print-shop")
    assert f"mcl key revoke {DID}" in removed.err
    assert mcl("agent", "list", "--json").document == {"agents": []}
    kinds = [row["kind"] for row in mcl("log", "--limit", "0", "--json").document["rows"]]
    assert kinds[1:] == [
        "record.key.trusted",
        "record.agent.added",
        "record.table.changed",
        "record.key.revoked",
        "record.agent.removed",
        "record.table.changed",
    ]


def test_a_granted_host_is_not_spoken_of(mcl: Any) -> None:
    assert mcl("grant", "add", "network", "--host", "e.org").code == 0
    assert "granted" not in mcl("agent", "add", "a", "--did", DID, "--endpoint", "https://e.org/").err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", "Shop", "--did", DID, "--endpoint", "https://e.org"), "BAD_AGENT_NAME"),
        (("add", "shop", "--did", "did:web:e.org", "--endpoint", "https://e.org"), "DID"),
        (("add", "shop", "--did", DID, "--endpoint", "e.org/work"), "HOST_DENIED"),
        (("remove", "shop"), "AGENT_UNKNOWN"),
    ],
)
def test_what_cannot_be_entered_is_told(mcl: Any, arguments: tuple[str, ...], code: str) -> None:
    ended = mcl("agent", *arguments, "--json")
    assert ended.code in (2, 4)
    assert code in ended.document["error"]["code"]
    assert mcl("agent", "list", "--json").document == {"agents": []}
