"""A hub on loopback that speaks the Hugging Face protocol: facts of a repository, and its files by ranges."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "8f" * 20


@dataclass
class Hub:
    """What is served, and what was asked. breaks: bytes after which the next answer with a file ends early.
    wrong: digests are told of other bytes."""

    repo: str
    files: dict[str, bytes]
    licence: str = "apache-2.0"
    gated: bool = False
    breaks: int = 0
    wrong: bool = False
    endpoint: str = ""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, object]:
        """As of `GET /api/models/REPO/revision/REVISION?blobs=true`."""
        siblings = [
            {
                "rfilename": name, "size": len(data),
                "lfs": {"sha256": self.digest(data), "size": len(data), "pointerSize": 132},
            }
            for name, data in self.files.items()
        ]  # fmt: skip
        card = {"license": self.licence} if self.licence else {}
        return {"id": self.repo, "sha": COMMIT, "siblings": siblings, "cardData": card, "tags": []}

    def digest(self, data: bytes) -> str:
        """The sha256 that is told of a file."""
        return sha256(data + (b"!" if self.wrong else b"")).hexdigest()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub at an address of its own while this is open."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path, _, _ = self.path.partition("?")
            hub.asked.append((self.command, path, self.headers.get("Range", "")))
            if token := self.headers.get("Authorization"):
                hub.tokens.append(token)
            place = f"/{hub.repo}/resolve/"
            if path.startswith(f"/api/models/{hub.repo}/revision/"):
                if not path.endswith(("/main", COMMIT)):
                    self._say(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
                else:
                    self._say(200, json.dumps(hub.facts()).encode(), {"Content-Type": "application/json"})
            elif path.startswith(place) and (name := path[len(place) :].partition("/")[2]) in hub.files:
                if hub.gated:
                    self._say(403, b"{}", {"X-Error-Code": "GatedRepo"})
                else:
                    self._file(hub.files[name])
            else:
                self._say(404, b"{}", {"X-Error-Code": "RepoNotFound"})

        def _file(self, data: bytes) -> None:
            heads = {
                "ETag": f'"{hub.digest(data)}"', "X-Repo-Commit": COMMIT, "X-Linked-Size": str(len(data)),
                "Accept-Ranges": "bytes",
            }  # fmt: skip
            asked = self.headers.get("Range", "")
            if self.command == "GET" and asked.startswith("bytes="):
                first = int(asked.removeprefix("bytes=").partition("-")[0])
                heads["Content-Range"] = f"bytes {first}-{len(data) - 1}/{len(data)}"
                self._say(206, data[first:], heads)
            else:
                self._say(200, data, heads)

        def _say(self, status: int, data: bytes, heads: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in heads.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if hub.breaks and "Content-Type" not in heads and status in (200, 206):
                data, hub.breaks = data[: hub.breaks], 0
                self.close_connection = True
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
