"""A server that is honest for ``--after N`` calls and then lies in one way (``--lie``); made without the SDK.

Lies: json (no JSON), id (an answer that nobody asked for, none to who asked), shape (a result that is no
result), large (more than any message may have).
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--lie", choices=("json", "id", "shape", "large"), default="json")
PARSER.add_argument("--after", type=int, default=0)
CHOSEN, _ = PARSER.parse_known_args()
TOOL = {
    "name": "look",
    "description": "Give the token back.",
    "inputSchema": {"type": "object", "properties": {"token": {"type": "string"}}},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
calls = 0


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(number: Any, result: dict[str, Any]) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))


def called(number: Any, token: str) -> None:
    global calls  # one process, one count
    calls += 1
    if calls <= CHOSEN.after:
        text = json.dumps({"token": token})
        answer(number, {"content": [{"type": "text", "text": text}], "structuredContent": {"token": token}})
    elif CHOSEN.lie == "json":
        say('{"jsonrpc": "2.0", "id": ' + str(number) + ', "result": {"content": [')
    elif CHOSEN.lie == "id":
        answer(10_000_000 + calls, {"content": []})
    elif CHOSEN.lie == "shape":
        answer(number, {"content": "this is no list"})
    else:
        say(
            '{"jsonrpc": "2.0", "id": ' + str(number) + ', "result": {"content": [' + " " * (20 << 20) + "]}}"
        )


for line in sys.stdin:
    message = json.loads(line)
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "initialize":
            about = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "lying", "version": "1"}}
            answer(number, {**about, "capabilities": {"tools": {}}})
        case "tools/list":
            answer(number, {"tools": [TOOL]})
        case "tools/call":
            called(number, str(params.get("arguments", {}).get("token")))
        case "ping":
            answer(number, {})
        case _ if number is not None:
            error = {"code": -32601, "message": "Method not found"}
            say(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}))
