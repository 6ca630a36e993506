"""What a test log says of itself: how many tests passed, failed and were skipped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

Counts = Mapping[str, int]

_PYTEST_LINE = re.compile(r"^=*[ ]?((?:\d+ [a-z]+(?:, )?)+)(?: in [\d.]+s.*)$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) ([a-z]+)")
_MEANING: Final = {
    **dict.fromkeys(("passed", "pass", "passing", "xpassed"), "succeeded"),
    **dict.fromkeys(("failed", "fail", "failing", "error", "errors"), "failed"),
    **dict.fromkeys(("skipped", "xfailed", "ignored", "pending"), "skipped"),
}
_CARGO_LINE = re.compile(r"^test result: \w+\. (\d+ passed; \d+ failed; \d+ ignored)", re.MULTILINE)
_GO_FAILED = re.compile(r"^\s*--- FAIL: ", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[)", re.MULTILINE)
_NODE_LINE = re.compile(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)$", re.MULTILINE)
_JEST_LINE = re.compile(r"^Tests:\s+(.*)$", re.MULTILINE)
_MOCHA_LINE = re.compile(r"^\s+(\d+ (?:passing|failing|pending))\b", re.MULTILINE)


def counts(suite: str, log: str) -> Counts:
    """``succeeded``, ``failed`` and ``skipped``, as far as the log tells; empty where it does not."""
    for read in _READERS[suite]:
        if found := read(log):
            return found
    return {}


def _pytest(log: str) -> Counts:
    lines = _PYTEST_LINE.findall(log)
    return _named(lines[-1:])


def _cargo(log: str) -> Counts:
    return _named(_CARGO_LINE.findall(log))


def _go(log: str) -> Counts:
    return {"failed": len(_GO_FAILED.findall(log))} if _GO_PACKAGE.search(log) else {}


def _node(log: str) -> Counts:
    return _named(f"{count} {word}" for word, count in _NODE_LINE.findall(log))


def _jest(log: str) -> Counts:
    return _named(_JEST_LINE.findall(log)[-1:])


def _mocha(log: str) -> Counts:
    return _named(_MOCHA_LINE.findall(log))


def _named(texts: Iterable[str]) -> Counts:
    found: dict[str, int] = {}
    for text in texts:
        for number, word in _COUNT.findall(text):
            if name := _MEANING.get(word):
                found[name] = found.get(name, 0) + int(number)
    return found


_READERS: Final[Mapping[str, tuple[Callable[[str], Counts], ...]]] = {
    "pytest": (_pytest,),
    "cargo": (_cargo,),
    "go": (_go,),
    "npm": (_jest, _node, _mocha),
    "make": (_pytest, _cargo, _go, _jest, _node, _mocha),
}
