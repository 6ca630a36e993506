"""A server whose one tool takes a while and says meanwhile what it does, by its progress and in its log; made
without the SDK, so that it starts at once."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

KINDS = {"steps": "integer", "words": "string", "times": "integer", "fails": "boolean"}
TOOL = {
    "name": "work",
    "description": "Take a third of a second a step, and say what each is, and so many times the words.",
    "inputSchema": {"type": "object", "properties": {name: {"type": kind} for name, kind in KINDS.items()}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(number: Any, result: dict[str, Any]) -> None:
    say({"id": number, "result": result})


def tell(method: str, **params: Any) -> None:
    say({"method": f"notifications/{method}", "params": params})


def work(number: Any, token: Any, steps: int, words: str = "", times: int = 1, fails: bool = False) -> None:
    for step in range(1, steps + 1):
        tell("progress", progressToken=token, progress=step, total=steps, message=f"step {step} of {steps}")
        for _ in range(times if words else 0):
            tell("message", level="warning", data=words.replace("@", "_"))  # no plan may hold a key itself
        tell("message", level="info", data={"step": step})
        tell("progress", progressToken=token, progress=step + 0.5, total=steps)  # which says nothing
        time.sleep(0.33)
    text = {"content": [{"type": "text", "text": "it broke" if fails else "done"}]}
    answer(number, {**text, "isError": fails})


for line in sys.stdin:
    message = json.loads(line)
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "initialize":
            about = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "talking", "version": "1"}}
            answer(number, {**about, "capabilities": {"tools": {}, "logging": {}}})
        case "tools/list":
            answer(number, {"tools": [TOOL]})
        case "tools/call":
            work(number, params.get("_meta", {}).get("progressToken"), **params["arguments"])
        case "ping" | "logging/setLevel":
            answer(number, {})
        case _ if number is not None:
            say({"id": number, "error": {"code": -32601, "message": "Method not found"}})
