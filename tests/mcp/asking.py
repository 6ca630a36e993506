"""Calls that need a person, put as questions in this process: a home with a clock that can be moved, tools
that say what they did, and callers of both eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import anyio
from walks import probe

from executor import Home, SystemClock, Tool
from executor.call import Call
from executor.core.clock import instant
from executor.gate.decide import decide
from executor.gate.verdict import Ask
from executor.tools.registry import Registry
from mcl.catalog.tools.registry import shipped_tools
from mcl.plugins.mcp.call_questions import ApprovedCall, CallQuestions, DeniedCall, Pending, Settled
from mcl.plugins.mcp.call_texts import read_call
from mcl.plugins.mcp.session import Session
from mcl.plugins.mcp.upstream.channels import Channels
from mcl.serve.exchange import Caller, Filled, Form


class Ahead(SystemClock):
    """The time, moved ahead by so many minutes."""

    minutes = 0.0

    def now(self) -> str:
        return instant(datetime.fromisoformat(super().now()) + timedelta(minutes=self.minutes))


@dataclass
class Line:
    """A channel that remembers."""

    said: list[str] = field(default_factory=list)

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.said.append(message or "")

    async def log(self, level: str, data: object, logger: str | None) -> None:
        self.said.append(str(data))


@dataclass
class Room:
    """A server process's questions, without the server: what asks is real, and so is what it is asked of."""

    home: Home
    clock: Ahead
    workspace: Path
    tools: list[Tool] = field(default_factory=list)
    line: Line = field(default_factory=Line)

    def __post_init__(self) -> None:
        self.questions = CallQuestions(self.home)
        self.session = self.another()

    def another(self) -> Session:
        """A session of the same home, as another server process has it."""
        nothing: Any = None  # no question looks at these
        return Session(
            self.home,
            self.workspace,
            upstreams=nothing,
            definitions=nothing,
            activity=nothing,
            channels=Channels(),
            tools=self.registry,
            stamp=lambda: [tool.manifest.pin for tool in self.tools],
            environment={"SHOP_TOKEN": "a-secret-of-this-machine"},
        )

    def registry(self) -> Registry:
        return Registry([*shipped_tools(), *self.tools])

    def caller(
        self,
        era: Literal["handshake", "modern"] = "handshake",
        elicit: Callable[[Form], Awaitable[Filled]] | None = None,
        *,
        can: bool = True,
        client: str = "tester",
        state: str = "",
        filled: Mapping[str, Filled] | None = None,
    ) -> Caller:
        return Caller(
            client=client,
            version="1.0",
            era=era,
            request_id="1",
            can_elicit=can,
            channel=self.line,
            elicit=elicit,
            filled=filled or {},
            state=state,
        )

    def approver(self) -> Caller:
        """A client whose person approves."""
        return self.caller(elicit=answering(says("approve")))

    def call(self, name: str, args: Mapping[str, object], **said: str) -> Call:
        """The call as an agent declares it, without asking anybody."""
        said.setdefault("reason", "to tidy up")
        request = read_call("call_tool_destructive", {"name": name, "args": dict(args), **said})
        return request.call(self.session.address(request.name))

    def overwrite(self, content: str = "new", path: str = "a.txt", **said: str) -> Call:
        """A call that destroys what is in a file."""
        return self.call("mcl:fs/write", {"path": path, "content": content, "overwrite": True}, **said)

    def asks(self, call: Call) -> Ask:
        verdict = decide(call, self.session.context)
        assert isinstance(verdict, Ask), verdict
        return verdict

    async def settle(self, call: Call, caller: Caller) -> Settled:
        return await self.questions.settle(self.session, call, self.asks(call), caller)

    def go(self, call: Call, caller: Caller) -> Any:
        """Settle a call, and make it where it is approved: what was settled, and what was made."""

        async def whole() -> Any:
            settled = await self.settle(call, caller)
            made = None
            if isinstance(settled, ApprovedCall):
                made = await self.questions.run_approved(self.session, settled)
            return settled, made

        return anyio.run(whole)

    def pending(self, call: Call, client: str = "tester") -> Pending:
        settled, _ = self.go(call, self.caller("modern", client=client))
        assert isinstance(settled, Pending)
        return settled

    def back(self, call: Call, state: str, *, client: str = "tester", **content: Any) -> Any:
        """The call again, with the form filled in."""
        filled = {"call": Filled("accept", content or {"decision": "approve"})}
        return self.go(call, self.caller("modern", state=state, filled=filled, client=client))

    def text(self, path: str = "a.txt") -> str:
        return (self.workspace / path).read_text()

    def kinds(self) -> list[str]:
        return [row.kind for row in self.home.journal.rows()]

    def records(self, kind: str) -> list[Mapping[str, Any]]:
        opened = (self.home.journal.open(row.wire) for row in self.home.journal.rows(kind=kind))
        return [one.body for one in opened]


@contextmanager
def room(folder: Path, *, sealed: bool = False) -> Iterator[Room]:
    """A room, whose journal verifies in the end. sealed: the user's key is, with a passphrase that this
    process knows."""
    clock, passphrase = Ahead(), b"known to this process" if sealed else None
    with Home.open(folder / "home", clock=clock):
        pass
    with Home.open(folder / "home", clock=clock, passphrase=passphrase) as home:
        if sealed:
            home.keyring.new("user")
        workspace = folder / "work"
        workspace.mkdir(exist_ok=True)
        (workspace / "a.txt").write_text("old")
        opened = Room(home, clock, workspace)
        yield opened
        opened.session.close()
        assert home.journal.verify().ok


def answering(*answers: Filled | BaseException, seen: list[Form] | None = None) -> Any:
    """An ``elicit`` that gives these answers in turn."""
    left = list(answers)

    async def elicit(form: Form) -> Filled:
        if seen is not None:
            seen.append(form)
        answer = left.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return elicit


def says(decision: object, **more: object) -> Filled:
    return Filled("accept", {"decision": decision, **more})


def code_of(settled: Any) -> str:
    assert isinstance(settled, DeniedCall), settled
    return settled.code


__all__ = ["Line", "Room", "answering", "code_of", "probe", "room", "says"]
