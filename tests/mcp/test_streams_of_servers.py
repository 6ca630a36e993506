"""What a tool of another server says while it runs is heard as what any node says: with a real server, over
stdio."""

from __future__ import annotations

from typing import Any

import pytest
from desks import Desk, Peers, surroundings
from walks import Walks, Watch, tool

import mcl
from executor.gate.grants import Grants
from executor.walker.streams import MARK, said
from ir import PlanOutputBody
from mcl.core.home import open_home

TOKEN = "ghp_" + "a1B2" * 9


class Hears(Watch):
    """A listener that remembers what was heard, and which nodes had ended by then."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, bool]] = []
        self._ended = False

    def on(self, event: Any) -> None:
        super().on(event)
        self._ended = self._ended or event.state in ("completed", "failed")

    def spoke(self, node_id: str, text: str) -> None:
        self.heard.append((text, self._ended))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A home with the server, whose one tool a person approved."""
    folder = tmp_path_factory.mktemp("streams")
    made = Desk(folder / "home", folder / "work", surroundings(folder))
    made.workspace.mkdir()
    peers = Peers(made.workspace, made.environment)
    made.enter("talking", command=peers.command("talking"))
    with open_home(made.home) as home:
        Grants(home).grant(home.keyring.agent.did, ["network"])
    return made


def ran(desk: Desk, watch: Hears, **args: object) -> tuple[Any, list[PlanOutputBody], str]:
    """A plan of one call of it that was run: how it ended, its pieces, and all that it said."""
    with open_home(desk.home) as home:
        node = tool("n1", "", "read", **{name: str(value).lower() for name, value in args.items()})
        node["tool_call"]["tool_ref"] = "matrix://tool/mcp-talking/work@1.0.0"
        id = Walks(home, desk.workspace).accept(node, verb="find")
        outcome = mcl.run(id, workspace=desk.workspace, listener=watch, home=home)
        envelopes = tuple(home.journal.envelopes(id))
        assert home.journal.verify().ok
        pieces = [one.body for one in envelopes if isinstance(one.body, PlanOutputBody)]
        return outcome, pieces, said(envelopes).get("n1", "")


def test_its_progress_and_its_log_are_rows_while_it_runs(desk: Desk) -> None:
    watch = Hears()
    outcome, pieces, text = ran(desk, watch, steps=5, words="beware")
    assert outcome.failure is None, outcome.failure
    assert outcome.outputs["n1"]["content"] == [{"type": "text", "text": "done"}]
    assert len(pieces) >= 2
    assert [piece.sequence for piece in pieces] == list(range(len(pieces)))
    assert {(piece.node_id, piece.channel) for piece in pieces} == {("n1", "log")}
    assert [line for line in text.split("\n") if line.startswith("step ")] == [
        f"step {number} of 5" for number in range(1, 6)
    ]
    assert text.split("\n").count("warning: beware") == 5
    assert 'info: {"step": 3}' in text.split("\n")
    assert "".join(words for words, _ in watch.heard) == text
    assert not watch.heard[0][1], "heard while it ran"


def test_no_secret_is_in_them_and_too_much_is_cut(desk: Desk) -> None:
    watch = Hears()
    outcome, pieces, text = ran(desk, watch, steps=3, words=f"the token is {TOKEN.replace('_', '@')}")
    assert outcome.failure is None, outcome.failure
    assert "the token is" in text
    assert TOKEN not in text + "".join(words for words, _ in watch.heard)
    outcome, pieces, text = ran(desk, Hears(), steps=2, words="x" * 10_000, times=40)
    assert outcome.failure is None, outcome.failure
    assert text.endswith(MARK)
    assert pieces[-1].final


def test_what_it_said_before_it_failed_is_kept(desk: Desk) -> None:
    outcome, _, text = ran(desk, Hears(), steps=1, fails=True)
    assert outcome.failure is not None
    assert "it broke" in outcome.failure.message
    assert text.split("\n")[0] == "step 1 of 1"


def test_what_is_said_beside_a_call_is_passed_on_to_who_listens_too() -> None:
    import anyio
    from asking import Line

    from mcl.plugins.mcp.upstream.channels import Overheard

    heard: list[bytes] = []
    line = Line()

    async def talks() -> None:
        channel = Overheard(line, heard.append)
        await channel.progress(1, 2, "half")
        await channel.progress(2, 2, None)
        await channel.log("error", {"place": "åäö"}, "part")
        await channel.log("info", "two\nlines", None)

    anyio.run(talks)
    assert b"".join(heard).decode() == 'half\nerror: {"place": "åäö"}\ninfo: two\nlines\n'
    assert line.said == ["half", "", "{'place': 'åäö'}", "two\nlines"]
