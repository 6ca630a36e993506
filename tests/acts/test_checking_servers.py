"""mcl server check over time: what waits is told each time, what is as approved again does not wait."""

from __future__ import annotations

import sys
from pathlib import Path

from executor import Home
from mcl.catalog.servers import Servers
from mcl.plugins.mcp.servers import Checked
from mcl.plugins.mcp.servers import check as check_servers
from mcl.usecases.tools import approve as approve_tool

SCRIPT = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said: continue
    tools = [{"name": "ro", "description": open(sys.argv[1]).read(), "inputSchema": {"type": "object"}}]
    info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "x", "version": "1"}}
    answers = {"initialize": info, "tools/list": {"tools": tools}, "ping": {}}
    method = said["method"]
    body = {"result": answers[method]} if method in answers else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": said["id"], **body}), flush=True)
"""


def test_what_waits_is_told_again_and_what_is_as_approved_again_does_not_wait(
    home: Home, tmp_path: Path
) -> None:
    script, text = tmp_path / "server.py", tmp_path / "text"
    script.write_text(SCRIPT)
    Servers(home).add("rug", command=(sys.executable, "-S", str(script), str(text)), folder=tmp_path)

    def check(said: str) -> Checked:
        text.write_text(said)
        (found,) = check_servers("rug", home=home)
        assert found.up, found.status
        return found

    assert (check("Reads.").new, check("Reads.").waiting) == (("rug:ro",), ("rug:ro",))
    approve_tool("rug:ro", home=home)
    assert check("Reads.").waiting == ()
    changed = check("Reads more.")
    assert (changed.changed, changed.waiting, changed.back) == (("rug:ro",), ("rug:ro",), ())
    again = check("Reads more.")
    assert (again.changed, again.waiting) == ((), ("rug:ro",))
    back = check("Reads.")
    assert (back.changed, back.waiting, back.back) == ((), (), ("rug:ro",))
