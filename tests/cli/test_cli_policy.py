"""mcl policy check: what each entry of policy.toml closes, for people and for machines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcl.core.home import open_home


@pytest.mark.parametrize(
    ("text", "code", "standings"),
    [
        ("", 0, []),
        ('deny = ["fs/write", "mcl:git/branch"]', 0, ["closed", "closed"]),
        ('deny = ["fs/write", "time:now"]', 6, ["closed", "unverified"]),
        ('deny = ["fs/write", "time:now", "fs/wrte"]', 2, ["closed", "unverified", "unknown"]),
    ],
)
def test_the_exit_code_says_what_the_entries_do(mcl: Any, text: str, code: int, standings: list[str]) -> None:
    assert mcl("server", "add", "time", "--", "true").code == 0
    (mcl.home / "policy.toml").write_text(text)
    told, asked = mcl("policy", "check"), mcl("policy", "check", "--json")
    assert (told.code, asked.code) == (code, code)
    assert [one["standing"] for one in asked.document["deny"]] == standings
    assert asked.document["sound"] == (code == 0)
    for one in asked.document["deny"]:
        assert one["entry"] in told.out
        assert one["place"].endswith("policy.toml:1")
    assert ("BAD_POLICY" in told.err) == (code == 2)


def test_without_a_file_nothing_is_denied(mcl: Any) -> None:
    assert mcl("policy", "check").out.strip() == "policy.toml denies nothing"
    (mcl.home / "policy.toml").write_text("deny = [")
    ended = mcl("policy", "check", "--json")
    assert (ended.code, ended.document["error"]["code"]) == (2, "BAD_POLICY")


@pytest.mark.parametrize(
    "command",
    [
        ("tool", "call", "fs/list", "--yes"),
        ("run", "@last"),
        ("plan", "check", "@last"),
        ("plan", "@last"),
        ("tool", "list"),
        ("tool", "approve", "fs/read", "--yes"),
    ],
    ids=" ".join,
)
def test_nothing_runs_until_a_typo_is_mended(mcl: Any, command: tuple[str, ...]) -> None:
    assert mcl(*mcl.COMPILE).code == 0
    assert mcl("accept", "@last", "--yes").code == 0
    with open_home(mcl.home) as home:
        before = home.journal.size()
    (mcl.home / "policy.toml").write_text('\ndeny = ["fs/lst"]')
    ended = mcl(*command)
    assert ended.code == 2
    assert "BAD_POLICY" in ended.err
    assert "policy.toml:2" in ended.err
    assert "nearest: fs/list" in ended.err
    with open_home(mcl.home) as home:
        assert home.journal.size() == before


def test_lists_of_tools_say_which_entries_nobody_saw(mcl: Any) -> None:
    assert mcl("server", "add", "time", "--", "true").code == 0
    (mcl.home / "policy.toml").write_text('deny = ["time:now"]')
    for command in (("tool", "list"), ("tool", "list", "--json"), ("tool", "check", "--no-probe")):
        assert "denies what no server listed yet: 'time:now'" in mcl(*command).err
    (mcl.home / "policy.toml").write_text('deny = ["fs/write"]')
    assert "denies" not in mcl("tool", "list").err
    assert json.loads(mcl("tool", "show", "fs/write", "--json").out)["closed"] is True
