"""mcl server: servers entered, shown, trusted, tried and taken out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

PEERS = Path(__file__).parents[1] / "mcp" / "peers"
HONEST = (sys.executable, "-S", str(PEERS / "hostile_tools.py"))
EXITS = (sys.executable, "-S", str(PEERS / "hostile_start.py"), "--way", "exits")


def test_a_server_is_entered_shown_trusted_and_taken_out(mcl: Any) -> None:
    added = mcl("server", "add", "time", "--env", "TZ=UTC", "--json", "--", "uvx", "mcp-server-time", "--utc")
    assert added.code == 0
    assert added.document["command"] == ["uvx", "mcp-server-time", "--utc"]
    assert added.document["environment"] == {"HOME": "$env:HOME", "PATH": "$env:PATH", "TZ": "UTC"}
    assert "its process gets: PATH, HOME, TZ=UTC" in added.err
    assert "mcl server check time, then mcl tool approve --server time" in added.err
    (listed,) = mcl("server", "list", "--json").document["servers"]
    assert (listed["name"], listed["trusted"]) == ("time", False)
    assert "uvx mcp-server-time --utc" in mcl("server", "list").out
    assert mcl("server", "trust", "time", "--json").document["trusted"] is True
    assert "believed" in mcl("server", "show", "time").out
    assert mcl("server", "untrust", "time", "--json").document["trusted"] is False
    assert mcl("server", "remove", "time").code == 0
    assert mcl("server", "list", "--json").document == {"servers": []}
    assert "no servers" in mcl("server", "list").err


def test_a_server_at_an_address_gets_headers_and_no_variables(mcl: Any) -> None:
    header = "Authorization: Bearer $env:DOCS_TOKEN"
    added = mcl("server", "add", "docs", "--url", "https://E.org/mcp", "--header", header, "--json")
    assert added.document["url"] == "https://e.org/mcp"
    assert added.document["headers"] == {"Authorization": "Bearer $env:DOCS_TOKEN"}
    assert added.document["environment"] == {}


def test_variables_are_named_in_three_ways_and_left_out_in_one(mcl: Any) -> None:
    options = ("--bare-environment", "--env", "A", "--env", "B=b=c", "--env", "C=$env:D")
    added = mcl("server", "add", "x", *options, "--json", "--", "x").document
    assert added["environment"] == {"A": "$env:A", "B": "b=c", "C": "$env:D"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", "mcl", "--", "x"), "BAD_SERVER_NAME"),
        (("add", "x"), "BAD_SERVER"),
        (("add", "x", "--env", "A=:HOME", "--", "x"), "BAD_SERVER"),
        (("add", "x", "--env", "1", "--", "x"), "BAD_SERVER"),
        (("add", "x", "--url", "https://e.org", "--header", "nothing"), "BAD_SERVER"),
        (("add", "x", "--env", "API_KEY=abcdefg", "--", "x"), "SECRET_IN_SERVER"),
        (("show", "x"), "SERVER_UNKNOWN"),
        (("trust", "x"), "SERVER_UNKNOWN"),
        (("untrust", "x"), "SERVER_UNKNOWN"),
        (("remove", "x"), "SERVER_UNKNOWN"),
        (("check", "x"), "SERVER_UNKNOWN"),
    ],
)
def test_what_cannot_be_done_is_told(mcl: Any, arguments: tuple[str, ...], code: str) -> None:
    verb, *rest = arguments
    ended = mcl("server", verb, "--json", *rest)
    assert ended.code == 2
    assert ended.document["error"]["code"] == code
    assert ended.document["error"]["fix"]
    assert mcl("server", "list", "--json").document == {"servers": []}


def test_a_dollar_that_the_shell_took_away_is_explained(mcl: Any) -> None:
    assert "your shell took the $env away" in mcl("server", "add", "x", "--env", "A=:HOME", "--", "x").err


def test_tools_that_nobody_can_tell_apart_are_told_and_the_others_are_taken_note_of(mcl: Any) -> None:
    same = (*EXITS[:-1], "same")
    assert mcl("server", "add", "same", "--", *same).code == 0
    (tried,) = mcl("server", "check", "--json").document["servers"]
    assert tried["up"] is True, tried
    assert tried["tools"]["new"] == ["same:other"]
    assert all("same:echo" in one for one in tried["tools"]["bad"])
    assert tried["tools"]["bad"]


def test_trying_servers_shows_what_each_offers_and_notes_its_tools(mcl: Any) -> None:
    assert mcl("server", "check").code == 0
    assert mcl("server", "add", "good", "--", *HONEST).code == 0
    assert mcl("server", "add", "bad", "--", *EXITS).code == 0
    tried = mcl("server", "check", "--json")
    assert tried.code == 5
    bad, good = tried.document["servers"]
    assert (bad["server"], bad["up"], bad["code"]) == ("bad", False, "SERVER_DOWN")
    assert "cannot find the config" in bad["problem"]
    assert (good["server"], good["up"], good["says"]["name"]) == ("good", True, "hostile")
    assert (good["offers"]["tools"], good["seconds"] > 0) == (len(good["tools"]["new"]), True)
    assert "good:echo" in good["tools"]["new"]
    again = mcl("server", "check", "good")
    assert again.code == 0
    assert "up in" in again.out
    shown = mcl("server", "show", "good", "--json").document
    assert {one["standing"] for one in shown["tools"]} == {"new"}
    assert "mcl tool approve --server good" in mcl("server", "show", "good").out
    assert "network" in shown["needs"]


def test_a_server_is_started_by_a_program_that_has_very_many_files_open(mcl: Any) -> None:
    import os
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("this machine allows fewer than 2,048 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert mcl("server", "add", "good", "--", *HONEST).code == 0
        (tried,) = mcl("server", "check", "--json").document["servers"]
        assert tried["up"] is True, tried
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
