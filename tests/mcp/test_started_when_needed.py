"""A server is started when somebody needs it: by a client that looks around none whose tools are known."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from desks import Peers, surroundings
from mcp import Client

from executor import Grants, Home
from mcl.catalog import approval
from mcl.catalog.definitions import Definitions
from mcl.catalog.servers import Servers
from mcl.core.home import open_home
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.service import GoalCompiler

NAMES = ("one", "two")


class Yard:
    """A home with two servers whose tools were listed, and approved."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.home, self.folder = home, folder
        environment = surroundings(folder)
        environment.pop("MCL_HOME")
        for name in NAMES:
            begins = f"open({str(self.mark(name))!r}, 'a').write('started ')"
            whole = [*Peers(folder, environment).command("plain")]
            script = f"import os, sys; {begins}; os.execv(sys.executable, {whole!r})"
            Servers(home).add(
                name, command=[sys.executable, "-c", script], folder=folder, environment=environment
            )

    def mark(self, name: str) -> Path:
        return self.folder / f"{name}.started"

    @property
    def started(self) -> dict[str, int]:
        """How often each was started so far."""
        marks = {name: self.mark(name) for name in NAMES}
        return {
            name: mark.read_text().count("started") if mark.exists() else 0 for name, mark in marks.items()
        }

    @contextmanager
    def client(self) -> Iterator[tuple[BlockingPortal, Any]]:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            serving = opened(self.home, self.folder / "work", GoalCompiler(self.home, ai=False))
            face = stack.enter_context(portal.wrap_async_context_manager(serving))
            client = Client(face.server, mode="legacy")
            yield portal, stack.enter_context(portal.wrap_async_context_manager(client))


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    (tmp_path / "work").mkdir()
    with open_home(tmp_path / "home") as home:
        made = Yard(home, tmp_path)
        with made.client() as (portal, client):
            portal.call(client.list_resources)  # asks each, as nothing is known of them
            portal.call(client.list_prompts)
        definitions = Definitions(home)
        for one in definitions.known():
            approval.approve(definitions, one.name, despite_warnings=True)
            Servers(home).trust(one.server)
        Grants(home).grant(home.keyring.agent.did, ["network", "shell"])
        assert made.started == {"one": 1, "two": 1}
        yield made


def told(portal: BlockingPortal, client: Any, name: str, arguments: dict[str, Any]) -> Any:
    return portal.call(lambda: client.call_tool(name, arguments))


def test_a_client_that_looks_around_starts_none_and_a_call_starts_the_one_that_it_is_for(yard: Yard) -> None:
    with yard.client() as (portal, client):
        portal.call(client.list_tools)
        found = told(portal, client, "retrieve_tools", {"query": "look keep note", "server": "one"})
        assert found.structured_content["tools"]
        told(portal, client, "describe_tool", {"name": found.structured_content["tools"][0]["name"]})
        assert yard.started == {"one": 1, "two": 1}
        args = {"name": "one:look", "args": {"token": "t"}, "operation_type": "read", "reason": "to look"}
        answer = told(portal, client, "call_tool_read", args)
        assert not answer.is_error, answer.structured_content
        assert yard.started == {"one": 2, "two": 1}


def test_lists_start_those_that_have_something_that_may_be_read(yard: Yard) -> None:
    approval.quarantine(Definitions(yard.home), "one:resources/read")
    approval.quarantine(Definitions(yard.home), "two:prompts/get")
    with yard.client() as (portal, client):
        portal.call(client.list_resources)
        assert yard.started == {"one": 1, "two": 2}
        portal.call(client.list_prompts)
        assert yard.started == {"one": 2, "two": 2}
