"""What a tool answered: its shape was checked by the SDK, its structured part is held to its schema here."""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

from executor.sandbox.redaction import visible
from executor.tools.foreign import ForeignChecker
from mcl.catalog.upstream.faults import Fault, FaultError, asks, lied

Json: TypeAlias = dict[str, Any]


class Result(TypedDict):
    """What a tool answered: blocks of content, the structured answer or None; is_error: it says it failed.

    A structured answer that is no object (the newer protocol allows it) is {"result": it}.
    """

    content: list[Json]
    structured: Json | None
    is_error: bool


def as_result(answer: Json) -> Result:
    """The answer to a call, in our form."""
    structured = answer.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        structured = {"result": structured}
    content = answer.get("content")
    return {
        "content": list(content) if isinstance(content, list) else [],
        "structured": structured,
        "is_error": answer.get("isError") is True,
    }


def check_structured(answer: Json, tool: str, promised: ForeignChecker | None) -> None:
    """Hold the structured part of an answer to what the tool promised.

    Args:
        promised: of its output schema, None where it has none.

    Raises:
        FaultError: SERVER_LIED.
    """
    if promised is None or answer.get("isError") is True:
        return
    if "structuredContent" not in answer:
        raise FaultError(lied(f"promised a structured answer of {tool}, and gave none"))
    if (flaw := next(promised.iter_errors(answer["structuredContent"]), None)) is not None:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in flaw.absolute_path)
        said = visible(f"${place[:80]} {flaw.message}")
        raise FaultError(lied(f"answered {tool} otherwise than its output schema says: {said}"))


def check_whole(answer: Json, what: str) -> None:
    """See that an answer is one, and says so in one way only.

    Raises:
        FaultError: SERVER_LIED.
    """
    if (kind := answer.get("resultType", "complete")) != "complete":
        raise FaultError(lied(f"answered {what} with a result of the kind {ascii(kind)[:80]}"))
    if not isinstance(answer.get("isError", False), bool):
        raise FaultError(lied(f"answered {what} in a wrong shape: isError is no boolean"))


def asked(answer: Json) -> Fault | None:
    """What a server wants first, where its answer is not yet one (protocol 2026-07-28)."""
    if answer.get("resultType") != "input_required":
        return None
    requests = answer.get("inputRequests")
    wanted = list(requests.values()) if isinstance(requests, dict) else []
    method = next((one.get("method") for one in wanted if isinstance(one, dict)), "")
    return asks(method if isinstance(method, str) else "")
