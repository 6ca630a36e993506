"""Calls that are refused again and again: an agent that repeats itself is told so."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from executor.call import Call
from executor.core.hashing import json_hash
from executor.gate.guards.three_keys import MAX_REASON
from executor.gate.verdict import Deny
from executor.store.home import Home
from mcl.plugins.agents.governed.judged import Judged
from mcl.plugins.agents.guard.refusals import circuit_open
from mcl.plugins.agents.writes.circuit import SHARED, Denials

MOST: Final = 3  # times that the very same call is judged and refused
FORGOTTEN_S: Final = 60.0  # after which it is judged again
_KEPT: Final = 1024  # calls


@dataclass(slots=True)
class _Seen:
    times: int
    until: float
    stamp: object
    last: Deny


class Refusals:
    """The calls that the gate refused lately. One is judged again as soon as anything changed that could make
    a difference, and in any case after a minute.

    What is refused for its file, or for what its agent has checked out, is counted in the home: together with
    what the hook of the agent's host refused, and over the end of this process.
    """

    def __init__(self, home: Home, now: Callable[[], float] = monotonic) -> None:
        self._home, self._now = home, now
        self._denials = Denials(home)
        self._seen: OrderedDict[str, _Seen] = OrderedDict()

    def note(self, judged: Judged, verdict: Deny) -> None:
        """This call was refused. Raises HomeError."""
        governed = judged.governed
        if governed is not None and verdict.code in SHARED:
            at, lease = self._home.clock.now(), governed.intent_id
            key = governed.key(judged.call, judged.context)
            self._denials.note(governed.agent, governed.root, key, verdict.code, at, lease=lease)
            return
        what = _what(judged.call, judged.agent)
        seen = self._seen.pop(what, None)
        times = seen.times + 1 if seen is not None and self._counts(seen, judged.stamp) else 1
        self._seen[what] = _Seen(times, self._now() + FORGOTTEN_S, judged.stamp, verdict)
        if len(self._seen) > _KEPT:
            self._seen.popitem(last=False)

    def tired_of(self, judged: Judged) -> Deny | None:
        """CIRCUIT_OPEN for a call that was refused too often, with what was said the last time. Raises
        HomeError."""
        if (shared := self._tired_at_any_door(judged)) is not None:
            return shared
        if not self._seen:
            return None
        seen = self._seen.get(_what(judged.call, judged.agent))
        if seen is None or seen.times < MOST or not self._counts(seen, judged.stamp):
            return None
        return replace(
            seen.last,
            code="CIRCUIT_OPEN",
            reason=f"this very call was refused {MOST} times: {seen.last.code}: {seen.last.reason}",
            data={**seen.last.data, "refused_with": seen.last.code},
        )

    def _tired_at_any_door(self, judged: Judged) -> Deny | None:
        governed, at = judged.governed, self._home.clock.now()
        if governed is None or not self._denials.some(governed.agent, governed.root, at):
            return None
        key = governed.key(judged.call, judged.context)
        code = self._denials.open(governed.agent, governed.root, key, at, lease=governed.intent_id)
        if code is None:
            return None
        told = circuit_open(code).deny()
        return replace(told, guard="checkout", data={**told.data, "refused_with": code})

    def _counts(self, seen: _Seen, stamp: object) -> bool:
        return seen.stamp == stamp and self._now() < seen.until


def _what(call: Call, agent: str) -> str:
    """The call with what is declared of it. Of the reason just whether it is too long: to say it in other
    words makes no other call."""
    said = call.declaration
    declared: list[object] = []
    if said is not None:
        declared = [said.given, said.operation_type, said.data_sensitivity, said.variant]
        declared.append(len(said.reason) > MAX_REASON)
    return json_hash([call.tool_ref, call.args_hash, declared, agent])
