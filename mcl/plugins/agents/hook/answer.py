"""From the bytes of a request to those of an answer; the same in the resident process and without it."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.gate.breaker import Breaker
from executor.store.home import Home
from ir import MclError
from mcl.core.environment import agent_name
from mcl.core.errors import HookError
from mcl.plugins.agents.guard import refusals
from mcl.plugins.agents.guard.aftermath import Aftermath
from mcl.plugins.agents.guard.judge import REFUSED, HookGate
from mcl.plugins.agents.hook.messages import received
from mcl.plugins.agents.hosts.host import (
    AgentHost,
    Event,
    HookCaller,
    HostAnswer,
    answer_after,
    answer_before,
    host_named,
    read_event,
)

if TYPE_CHECKING:
    from collections.abc import Callable


_UNJUDGED: Final = "unjudged"
_SURROUNDINGS: Final = 4  # two names of a project's folder, MCL_AGENT, PATH


class Answering:
    """Answers the requests of one home. For one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home, self._denials = home, Breaker(home)
        self._judge, self._aftermath = HookGate(home), Aftermath(home)

    def answer(self, parts: Sequence[bytes], data: bytes) -> HostAnswer:
        """The answer to an event. parts: verb, host, agent and surroundings, as `entry` sends them.

        Raises MclError, OSError, ValueError where it cannot be given; `failed` says that as an answer. Of a
        call that was to be made there is a record then.
        """
        try:
            return self._answer(parts, data)
        except Exception as problem:
            if parts and parts[0] == b"pre":
                with suppress(MclError, OSError, ValueError):  # it is refused all the same
                    self._record(parts, data, problem)
            raise

    def _record(self, parts: Sequence[bytes], data: bytes, problem: Exception) -> None:
        """That a call was refused unjudged: nothing of its event but a hash. Of many in a row the first, the
        second, the fourth and so on are recorded, so that they fill no journal."""
        code = problem.code if isinstance(problem, MclError) else "INTERNAL"
        now = self._home.clock.now()
        times = self._denials.note("", Path("/"), _UNJUDGED, code, now)
        if times & (times - 1):
            return
        agent = refusals.shown(b" ".join(parts[2:3]).decode("utf-8", "replace"))
        body = {"agent": agent, "code": code, "event": sha256(data).hexdigest(), "times": times}
        self._home.journal.record(REFUSED, body)

    def _answer(self, parts: Sequence[bytes], data: bytes) -> HostAnswer:
        verb, host, caller = _read(parts)
        if verb == "post":
            event = read_event(data, host, "post")
            return answer_after(event.name, self._aftermath.note(event, caller))
        event = read_event(data, host, "pre")
        decision = self._judge.decide(event, caller)
        if decision.violation is None:
            return answer_before(host, decision.verdict, decision.reason)
        text = f"{decision.violation.code}: {decision.violation.text}"
        return answer_before(host, "deny", _told(text, event, caller))


def answer_once(place: Path, parts: Sequence[bytes], data: bytes) -> HostAnswer:
    """The answer of a home that is opened for it alone; never raises but for a fault of ours."""
    try:
        if not (place / "mcl.db").exists():  # nobody signed anything: nothing is governed
            return HostAnswer(0, "{}")
        with Home.open(place) as home:
            return Answering(home).answer(parts, data)
    except (MclError, OSError, ValueError) as problem:
        return failed(parts, problem)


def failed(parts: Sequence[bytes], problem: MclError | OSError | ValueError) -> HostAnswer:
    """What is answered where something was wrong: before a call it is refused, after it is only told."""
    if isinstance(problem, MclError):
        error = problem
    else:
        error = HookError(
            "INTERNAL", f"{type(problem).__name__}: {problem}", fix="report it: mcl had a fault"
        )
    text = f"{error.code}: {refusals.of_error(error).text}"
    try:
        verb, host, _ = _read(parts)
    except (MclError, ValueError):
        verb, host = (parts[0].decode("ascii", "replace") if parts else "pre"), None
    if verb == "post":
        said = f"{error.code}: what the call left could not be noted: {refusals.shown(error.message)}"
        return HostAnswer(0, "{}", said + "\n")
    text = f"{error.code}\n{refusals.of_error(error).text}"
    return answer_before(host, "deny", text) if host is not None else HostAnswer(2, "", text + "\n")


def _told(text: str, event: Event, caller: HookCaller) -> str:
    """A refusal, with the name under which this agent selects an intent on a command line."""
    if event.does in ("writes", "shell", "unknown") and "select_active_intent" in text:
        return f"{text}\n\nOn a command line: mcl work select INT-… --agent {caller.agent}"
    return text


def _read(parts: Sequence[bytes]) -> tuple[str, AgentHost, HookCaller]:
    if len(parts) != 4:
        raise ValueError("no request")
    verb, name, given = (part.decode("utf-8", "strict") for part in parts[:3])
    if verb not in ("pre", "post"):
        raise ValueError("no request")
    host = host_named(name)
    around = _fields(parts[3])
    projects = dict(zip(("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"), around[:2], strict=True))
    agent = agent_name(given or around[2] or host.name)
    project = projects.get(host.project_variable, "")
    return verb, host, HookCaller(agent, in_environment=agent == around[2], project=project, search=around[3])


def _fields(data: bytes) -> list[str]:
    body = len(data).to_bytes(4, "big") + data
    read: Callable[[int], bytes] = io.BytesIO(body).read
    fields = [os.fsdecode(one) for one in received(read)]
    if len(fields) != _SURROUNDINGS:
        raise ValueError("no request")
    return fields
