"""A server of one web service: run as a program, with nothing but Python's own modules.

    python -I bridge.py FILE SHA256

FILE says which operations there are (`mcl.plugins.derived.services` writes it), and is not served where
its sha256 is another. It speaks the Model Context Protocol over standard input and output, a message a
line, and goes to one address: no redirect is followed, no proxy and no certificate of the environment is
used. A header is `NAME: value` in a variable that begins with `MCL_HEADER_`.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import ssl
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

MOST = 1 << 20  # bytes of an answer
TIMEOUT_S = 50
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")


class RefusedError(Exception):
    """What is not sent, with the reason."""


class BridgedService:
    """The operations of a file, and the address that they lie below."""

    def __init__(self, said: dict[str, Any], headers: dict[str, str]) -> None:
        self.said, self.headers = said, headers
        self.operations = {one["tool"]["name"]: one for one in said["operations"]}
        self.base = urlsplit(said["base"])

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What a tool answers, as the protocol has it."""
        try:
            status, kind, data, cut = self._asked(self.operations[name], arguments)
        except (OSError, http.client.HTTPException) as problem:
            return failed(f"{self.base.netloc} could not be asked: {type(problem).__name__}: {problem}")
        except RefusedError as problem:
            return failed(str(problem))
        text = data.decode("utf-8", "replace")
        if not 200 <= status < 300:
            more = "; it sends elsewhere, and is not followed" if 300 <= status < 400 else ""
            return failed(f"{self.base.netloc} answers {status}{more}: {text[:2000]}")
        if not kind.partition(";")[0].strip().endswith("json") or cut:
            if kind and not kind.startswith("text/") and not kind.partition(";")[0].strip().endswith("json"):
                text = f"{len(data)} bytes of {kind}"
            return {"content": [{"type": "text", "text": text + "\n(cut)" * cut}]}
        answer: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return answer
        return {**answer, "structuredContent": value if isinstance(value, dict) else {"value": value}}

    def _asked(self, operation: dict[str, Any], arguments: dict[str, Any]) -> tuple[int, str, bytes, bool]:
        path, query, headers, parts, whole = operation["path"], [], dict(self.headers), {}, None
        for key, value in arguments.items():
            if key not in operation["places"]:
                raise RefusedError(f"{key} is no argument of it")
            where, name = operation["places"][key]
            if where == "path":
                text = plain(value)
                if text in ("", ".", ".."):
                    raise RefusedError(f"{key} cannot be {text!r}: it is a part of the address")
                path = path.replace(f"{{{name}}}", quote(text, safe=""))
            elif where == "query":
                query += [(name, plain(one)) for one in (value if isinstance(value, list) else [value])]
            elif where == "header":
                if not plain(value).isprintable() or not plain(value).isascii():
                    raise RefusedError(f"{key} cannot stand in a header")
                headers.setdefault(name, plain(value))
            elif operation["body"] == "whole":
                whole = value
            else:
                parts[name] = value
        if "{" in path:
            raise RefusedError("a part of its address is missing")
        body = None
        if operation["body"] and (whole is not None or operation["body"] == "parts"):
            body = json.dumps(whole if operation["body"] == "whole" else parts).encode()
            headers["Content-Type"] = "application/json"
        where = self.base.path.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")
        headers |= {"Accept": "application/json, text/*;q=0.9, */*;q=0.1", "User-Agent": "mcl"}
        connection = self._connected()
        try:
            connection.request(operation["method"], where, body, headers)
            response = connection.getresponse()
            data = response.read(MOST + 1)
            return response.status, response.headers.get("Content-Type", ""), data[:MOST], len(data) > MOST
        finally:
            connection.close()

    def _connected(self) -> http.client.HTTPConnection:
        host, port = self.base.hostname or "", self.base.port
        if self.base.scheme == "https":
            return http.client.HTTPSConnection(
                host, port, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)


def plain(value: object) -> str:
    """A value as it stands in an address or a header."""
    return value if isinstance(value, str) else json.dumps(value)


def failed(why: str) -> dict[str, Any]:
    """An answer that says what went wrong."""
    return {"content": [{"type": "text", "text": why}], "isError": True}


def answer_of(service: BridgedService, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that there is not."""
    if method == "initialize":
        wanted = params.get("protocolVersion")
        version = wanted if wanted in VERSIONS else VERSIONS[0]
        about = {"name": service.said["title"], "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [one["tool"] for one in service.said["operations"]]}
    if method == "tools/call" and params.get("name") in service.operations:
        return service.call(params["name"], params.get("arguments") or {})
    return None


def main(path: str, digest: str) -> int:
    """Serve until the input ends."""
    with open(path, "rb") as file:  # noqa: PTH123  (a program of its own)
        data = file.read()
    if hashlib.sha256(data).hexdigest() != digest:
        sys.stderr.write(
            "the file of this service is not what was entered: mcl server remove, and add it again\n"
        )
        return 1
    pairs = (
        value.partition(":") for key, value in sorted(os.environ.items()) if key.startswith("MCL_HEADER_")
    )
    service = BridgedService(json.loads(data), {name.strip(): value.strip() for name, _, value in pairs})
    turn = Lock()

    def say(message: dict[str, Any]) -> None:
        with turn:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def answer(id: object, method: str, params: dict[str, Any]) -> None:
        try:
            result = answer_of(service, method, params)
        except Exception as problem:  # noqa: BLE001  (one call, not the server)
            say({"id": id, "error": {"code": -32603, "message": f"{type(problem).__name__}: {problem}"}})
            return
        if result is None:
            say({"id": id, "error": {"code": -32601, "message": "there is no such method or tool"}})
        else:
            say({"id": id, "result": result})

    with ThreadPoolExecutor(8) as pool:
        for line in sys.stdin:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict) and "id" in message and isinstance(message.get("method"), str):
                params = message.get("params")
                pool.submit(
                    answer, message["id"], message["method"], params if isinstance(params, dict) else {}
                )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
