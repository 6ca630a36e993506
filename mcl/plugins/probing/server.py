"""A server of this machine that stands in for every host that an example names."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

_PAGE: Final = b"<!doctype html><title>Shop</title><p>Open.</p>\n"
_KINDS: Final = {  # by what the caller takes: content type and body
    "application/cbor": ("application/cbor", b"\xa0"),
    "application/json": ("application/json", b'{"id": 1}\n'),
}


def listen() -> ThreadingHTTPServer:
    """A server on a free port; ``serve_forever`` of it answers."""
    return ThreadingHTTPServer(("127.0.0.1", 0), _Answer)


def origin(server: ThreadingHTTPServer) -> str:
    """Where it listens: http://127.0.0.1:12345."""
    return "http://{}:{}".format(*server.server_address[:2])


def moved(url: str, host: str) -> str:
    """An address of an example, on this server. host: as ``origin``."""
    there = urlsplit(url)
    return f"{host}{there.path or '/'}{'?' + there.query if there.query else ''}"


class _Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._tell()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_GET  # noqa: N815  # names of the library

    def _tell(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kind, body = _KINDS.get(self.headers.get("Accept", ""), ("text/html; charset=utf-8", _PAGE))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # whoever asked has gone
            return
