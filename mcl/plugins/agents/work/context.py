"""The context that an agent is given with a checkout: what it may change, must heed, and has to reach."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mcl.plugins.agents.work.item import WorkItem

# What XML 1.0 cannot hold, however it is written.
_UNHOLDABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_SPECIAL: Final = re.compile('[&<>"\r]')


def context_of(item: WorkItem) -> str:
    """The `<intent_context>` of a piece of work, as it was signed: an XML element in which every text of
    the file is only text."""
    return "\n".join(_lines(item))


def _lines(item: WorkItem) -> Iterator[str]:
    yield f'<intent_context intent_id="{escaped(item.label)}">'
    yield f"  <name>{escaped(item.name)}</name>"
    yield f"  <status>{escaped(item.status)}</status>"
    yield from _listed("owned_scope", "pattern", item.scope)
    yield from _listed("constraints", "constraint", item.constraints)
    yield from _listed("acceptance_criteria", "criterion", item.criteria)
    yield "</intent_context>"


def _listed(name: str, one: str, texts: Iterable[str]) -> Iterator[str]:
    yield f"  <{name}>"
    yield from (f"    <{one}>{escaped(text)}</{one}>" for text in texts)
    yield f"  </{name}>"


def escaped(text: str) -> str:
    """A text as the content of an element or an attribute; what XML cannot hold stands as `\\u0000`."""
    held = _UNHOLDABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], held)
