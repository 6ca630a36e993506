"""A secret that somebody types where words are kept is in no file of the home afterwards, by any door."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from walks import Walks, gate, sequence

import mcl
from executor import GateAnswer, GateQuestion, Home
from mcl.core.home import open_home
from mcl.plugins.mcp.records import Activity, CallRecord

# Cut in two, so that this file is no hit of a search for keys itself.
SECRETS = {
    "basic": ("Authorization: Basic {}", "ZGVwbG95OlQwcHMz" + "Y3JldA=="),
    "api key": ("api_key={}", "q8WnR4tY7uKp" + "L2xVb9"),
    "aws": ("AWS_SECRET_ACCESS_KEY={}", "kU7/vRz2qT9LmXw4PfHs8Yd" + "Nc3Bj6GaEoZi1K5tD"),
    "header": ("X-Api-Key: {}", "q8WnR4tY7uKpL2" + "xVb9sDc5Fg"),
    "github": ("{}", "ghp_" + "a1B2c3D4e5" * 4),
    "bearer": ("Authorization: Bearer {}", "q8WnR4tY7uKpL2" + "xVb9sDc5Fg"),
    "address": ("postgres://shop:{}@db.example.org/x", "q8WnR4t" + "Y7uKp"),
    "quoted": ("client_secret = '{}'", "q8WnR4tY7uKpL2" + "xVb9sDc5Fg"),
    "json": ('{{"password": "{}"}}', "q8WnR4tY7uKpL2" + "xVb9sDc5Fg"),
    "query": ("https://example.org/?api_key={}&page=1", "q8WnR4tY7uKp" + "L2xVb9"),
}
AROUND = ("{}", "use {} for the deploy", "first line\n{}\nlast line")


def remembered(home: Home, text: str) -> None:
    mcl.memories.add("Fact", text, home=home)


def quarantined(home: Home, text: str) -> None:
    mcl.tools.quarantine("fs/read", reason=text, home=home)


def called(home: Home, text: str) -> None:
    async def talk() -> None:
        args = {"q": text, "deep": [{"x": text}]}
        await Activity(home).keep(CallRecord("shop", "search", "allowed", reason=text, args=args))

    asyncio.run(talk())


def cancelled(home: Home, text: str) -> None:
    found = mcl.compile_goal("find the word invoice in the folder notes", home=home, ai=False)
    mcl.cancel(found.require().intent.id, reason=text, home=home)


def said_in_a_goal(home: Home, text: str) -> None:
    """Refused, or nothing of it is kept."""
    mcl.compile_goal(f"find the words {text} in the folder notes", home=home, ai=False)


def denied_at_a_gate(home: Home, text: str) -> None:
    walks = Walks(home, Path.cwd())
    assert walks.run(walks.accept(sequence("root", gate("g1"))), people=Denies(text)).state != "completed"


class Denies:
    """A person who says no, and why."""

    def __init__(self, why: str) -> None:
        self.why = why

    async def ask(self, question: GateQuestion) -> GateAnswer:
        return GateAnswer("no", self.why)


DOORS: dict[str, Callable[[Home, str], None]] = {
    "a memory": remembered,
    "why a tool was closed": quarantined,
    "a call over MCP": called,
    "why an intent was cancelled": cancelled,
    "a goal": said_in_a_goal,
    "why a call was denied": denied_at_a_gate,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_in_no_file_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, door: str
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    shape, secret = SECRETS[kind]
    with open_home(tmp_path / "home") as home:
        for around in AROUND:
            with suppress(mcl.MclError):  # it may be refused
                DOORS[door](home, around.format(shape.format(secret)))
    written = [one for one in (tmp_path / "home").rglob("*") if one.is_file()]
    assert [one for one in written if secret.encode() in one.read_bytes()] == []
