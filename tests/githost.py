"""A host of git repositories on this machine: git's own server of http behind a small web server."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class GitHost:
    """Bare repositories in a folder. wants: the header that a request must bring, "" for none."""

    folder: Path
    origin: str = ""
    wants: str = ""
    headers: list[str] = field(default_factory=list)

    def make(self, name: str) -> str:
        """The address of a new repository."""
        place = self.folder / name
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(place)], check=True)
        subprocess.run(["git", "-C", str(place), "config", "http.receivepack", "true"], check=True)
        return f"{self.origin}/{name}"

    def git(self, name: str, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.folder / name), *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


@contextmanager
def git_host(folder: Path) -> Iterator[GitHost]:
    host = GitHost(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(host))
    host.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(host: GitHost) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            said = self.headers.get("Authorization", "")
            host.headers.append(said)
            if host.wants and said != host.wants:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            body = self._body()
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(host.folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "REQUEST_METHOD": self.command,
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }
            done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment)
            head, _, answer = done.stdout.partition(b"\r\n\r\n")
            fields = [line.partition(": ") for line in head.decode("latin-1").split("\r\n") if line]
            status = next((value for name, _, value in fields if name == "Status"), "200 OK")
            self.send_response(int(status[:3]))
            for name, _, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            self.do_GET()

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    return Handler
