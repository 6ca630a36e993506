"""A server whose answers are honest ones with something changed at random; made without the SDK.

The argument ``seed`` says how; every tenth is honest. It speaks the older protocol, the newer one with
``--modern``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--modern", action="store_true")
CHOSEN, _ = PARSER.parse_known_args()
CHANCE = random.Random()
COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if CHOSEN.modern else {}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOL = {"name": "look", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}
ODD: list[Any] = [
    *(None, True, 0, -1, 1 << 70, 1e300, "", "x", "\u202e", [], {}, [[]], {"": None}, "2.0", "complete"),
    *("input_required", {"type": "text"}, {"$ref": "#"}, [{"type": "text", "text": 1}]),
]


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def changed(value: Any, depth: int = 0) -> Any:
    """The value with one thing in it otherwise."""
    if isinstance(value, dict) and value and CHANCE.random() < 0.8:
        name = CHANCE.choice(sorted(value))
        way = CHANCE.randrange(5)
        if way == 0:
            return {key: item for key, item in value.items() if key != name}
        if way == 1:
            return {**value, CHANCE.choice(("error", "result", "method", "params", "_meta", "x")): odd()}
        return {**value, name: changed(value[name], depth + 1)}
    if isinstance(value, list) and value and CHANCE.random() < 0.8:
        place = CHANCE.randrange(len(value))
        return [*value[:place], changed(value[place], depth + 1), *value[place + 1 :]]
    return odd()


def odd() -> Any:
    return CHANCE.choice(ODD)


def answer(number: Any, seed: int) -> None:
    CHANCE.seed(seed)
    block = {"type": "text", "text": "seen", "annotations": {"audience": ["user"], "priority": 0.5}}
    result = {"content": [block], "structuredContent": {"n": 1}, **COMPLETE}
    honest = {"jsonrpc": "2.0", "id": number, "result": result}
    if seed % 10 == 0:
        print(json.dumps(honest), flush=True)
        return
    line = json.dumps(changed(honest))
    if CHANCE.random() < 0.1:  # a character of it
        place = CHANCE.randrange(len(line))
        line = line[:place] + CHANCE.choice('{}[]",:\\\n0e') + line[place + 1 :]
    print(line, flush=True)


for line in sys.stdin:
    message = json.loads(line)
    number, method = message.get("id"), message.get("method")
    if method == "server/discover" and CHOSEN.modern:
        say(
            id=number, result={"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **COMPLETE}
        )
    elif method == "initialize":
        about = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "random", "version": "1"}}
        say(id=number, result={**about, "capabilities": {"tools": {}}})
    elif method == "tools/list":
        say(id=number, result={"tools": [TOOL], **COMPLETE})
    elif method == "tools/call":
        answer(number, message["params"]["arguments"]["seed"])
    elif number is not None:
        say(id=number, error={"code": -32601, "message": "Method not found"})
