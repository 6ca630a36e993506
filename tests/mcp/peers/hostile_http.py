"""A server over HTTP that answers by the path it is asked at; made without the SDK. Tells its port first.

Its one argument is the port, 0 for any. Paths: /honest, /redirect (to another origin, which is this server
under another name), /closed (from the start), /status/N, /packed, /large (a body without end), /text,
/wrong_id, /shape, /hangs, /breaks (cuts its answer off), /headers (tells the headers it got as the text of a
call's answer), /session (tells the sessions that were left), /lingers (and does not let one leave), /events
(answers as a stream of events, the first of which is too large).
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ABOUT = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "h", "version": "1"}}
LEFT: list[str] = []
TOOLS = [{"name": "echo", "inputSchema": {"type": "object"}}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        if self.path == "/lingers":
            time.sleep(120)
        LEFT.append(self.headers.get("mcp-session-id", ""))
        self.answer(200, b"")

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, number = said.get("method"), said.get("id")
        if number is None:
            self.answer(202, b"")
        elif method == "initialize" and self.path == "/closed":
            self.answer(401, b"")
        elif method == "initialize" and self.path in ("/session", "/lingers"):
            body = {"jsonrpc": "2.0", "id": number, "result": {**ABOUT, "capabilities": {"tools": {}}}}
            headers = {"content-type": "application/json", "mcp-session-id": "s-1"}
            self.answer(200, json.dumps(body).encode(), **headers)
        elif method == "initialize":
            self.result(number, {**ABOUT, "capabilities": {"tools": {}}})
        elif method == "tools/list":
            self.result(number, {"tools": TOOLS})
        elif method == "tools/call":
            self.wrong(number)
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.json({"jsonrpc": "2.0", "id": number, "error": error})

    def wrong(self, number: int) -> None:
        way = self.path.split("/")[1]
        if way in ("session", "lingers"):
            self.text(number, json.dumps(LEFT))
        elif way == "honest":
            self.text(number, "honest")
        elif way == "redirect":
            port = self.server.server_address[1]
            self.answer(307, b"", location=f"http://localhost:{port}/elsewhere")
        elif way == "elsewhere":
            self.text(number, "elsewhere")
        elif way == "status":
            self.answer(int(self.path.split("/")[2]), b"<html>sorry</html>", **{"content-type": "text/html"})
        elif way == "packed":
            body = gzip.compress(b"x" * (64 << 20))
            self.answer(200, body, **{"content-encoding": "gzip", "content-type": "application/json"})
        elif way == "large":
            self.head(200, {"content-type": "application/json", "transfer-encoding": "chunked"})
            piece = b"x" * (1 << 20)
            for _ in range(40):
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        elif way == "text":
            self.answer(200, b"hello", **{"content-type": "text/plain"})
        elif way == "wrong_id":
            self.text(number + 1000, "for nobody")
        elif way == "shape":
            self.result(number, {"content": "no list"})
        elif way == "hangs":
            time.sleep(120)
        elif way == "breaks":
            self.head(200, {"content-type": "application/json", "content-length": "5000"})
            self.wfile.write(b'{"jsonrpc": "2.0", "id"')
            self.close_connection = True
        elif way == "headers":
            self.text(number, json.dumps({name.lower(): value for name, value in self.headers.items()}))
        elif way == "events":
            self.head(200, {"content-type": "text/event-stream", "connection": "close"})
            self.wfile.write(b": hello\n\ndata: " + b"x" * (17 << 20))
            self.close_connection = True

    def text(self, number: int, words: str) -> None:
        self.result(number, {"content": [{"type": "text", "text": words}]})

    def result(self, number: int, result: dict[str, Any]) -> None:
        self.json({"jsonrpc": "2.0", "id": number, "result": result})

    def json(self, body: dict[str, Any]) -> None:
        self.answer(200, json.dumps(body).encode(), **{"content-type": "application/json"})

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.head(status, {"content-length": str(len(body)), **headers})
        self.wfile.write(body)

    def head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
