"""A server that is wrong when it starts, or lists its tools wrongly (``--way``); made without the SDK.

Ways: exits, silent (never answers), chatty (a line that is no JSON first), words (megabytes on its
standard error, then honest), shape (an introduction of the wrong shape), child (starts another process in a
session of its own that ignores signals, and tells both ids in FILE), loops (pages that lead back), endless
(pages without end), same (two tools of one name), modern (the newer protocol, whose tool asks for something
first), strict (ends when it is asked for the newer protocol).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--way", required=True)
PARSER.add_argument("--file", default="")
CHOSEN, _ = PARSER.parse_known_args()
WAY = CHOSEN.way
TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(120)"


def say(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def pages(cursor: str | None) -> dict[str, Any]:
    number = int(cursor or 0)
    tool = {**TOOL, "name": f"echo{number}"}
    if WAY == "loops":
        return {"tools": [], "nextCursor": str((number + 1) % 3)}
    if WAY == "endless":
        return {"tools": [tool], "nextCursor": str(number + 1)}
    return {"tools": [TOOL, TOOL, {**TOOL, "name": "other"}] if WAY == "same" else [TOOL]}


def discovered() -> dict[str, Any]:
    return {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        **COMPLETE,
    }


COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

if WAY == "exits":
    sys.exit(f"cannot find {os.environ.get('API_TOKEN', 'the config')}")
if WAY == "silent":
    time.sleep(120)
if WAY == "chatty":
    print("Welcome!", flush=True)
if WAY == "words":
    sys.stderr.write("blah \x1b[2J" * 500_000)
    sys.stderr.flush()
if WAY == "child":
    child = subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True)
    Path(CHOSEN.file).write_text(f"{os.getpid()} {child.pid}")

for line in sys.stdin:
    message = json.loads(line)
    if WAY == "strict" and message.get("method") == "server/discover":
        sys.exit("expected initialize")
    number, params = message.get("id"), message.get("params") or {}
    match message.get("method"):
        case "initialize" if WAY == "shape":
            say(id=number, result={"protocolVersion": 3})
        case "server/discover" if WAY == "modern":
            say(id=number, result=discovered())
        case "initialize":
            about = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "h", "version": "1"}}
            say(id=number, result={**about, "capabilities": {"tools": {}}})
        case "tools/list" if WAY == "modern":
            say(id=number, result={"tools": [TOOL], **COMPLETE})
        case "tools/list":
            say(id=number, result=pages(params.get("cursor")))
        case "tools/call" if WAY == "modern":
            schema = {"type": "object", "properties": {"password": {"type": "string"}}}
            form = {"mode": "form", "message": "Your password?", "requestedSchema": schema}
            asked = {"q": {"method": "elicitation/create", "params": form}}
            say(
                id=number,
                result={"resultType": "input_required", "inputRequests": asked, "requestState": "s"},
            )
        case "tools/call":
            say(id=number, result={"content": [{"type": "text", "text": "echo"}]})
        case method if number is not None and method is not None:
            say(id=number, error={"code": -32601, "message": "Method not found"})
