"""Another agent, in a process of its own with a key of its own: takes work over HTTP and answers, honestly or
not, as the path of the request says.

    python tests/peer.py

It prints its port and its did. Each line that it reads is the did of whom it believes from then on; it says
the line again. It needs nothing of the executor: what it does is written in docs/walker.md.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_bytes
from typing import Any

from nacl.signing import SigningKey

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from ir import (
    Body,
    Header,
    Intent,
    IntentAttestBody,
    IntentCancelBody,
    IntentDispatchBody,
    IntentFailBody,
    PlanStepBody,
    PublicKey,
    content_hash,
    did_of,
    key_of,
    open_envelope,
    seal,
)

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def fresh_id() -> str:
    number = int.from_bytes(token_bytes(16)) >> 3
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def instant(**ago: float) -> str:
    moment = datetime.now(UTC) - timedelta(**ago)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Peer:
    """The agent: whom it believes, its key, and what it was sent."""

    def __init__(self) -> None:
        self.key = SigningKey.generate()
        self.did = did_of(bytes(self.key.verify_key))
        self.believe("")

    def believe(self, did: str) -> None:
        self.believed = did
        self.first = b""
        self.seen: dict[str, int] = {}

    def answer(self, how: str, wire: bytes) -> tuple[int, str, bytes, dict[str, str]]:
        """Status, type, body and headers."""

        def resolver(did: str) -> PublicKey | None:
            return PublicKey(did, "agent", key_of(did)) if did == self.believed else None

        dispatch = open_envelope(wire, resolver, now=instant())
        body = dispatch.body
        assert isinstance(body, IntentDispatchBody)
        assert dispatch.to == self.did
        intent = Intent.from_json(body.sub_intent_json)
        assert content_hash(intent) == intent.hash
        self.seen[dispatch.id] = self.seen.get(dispatch.id, 0) + 1
        if how == "busy" and self.seen[dispatch.id] < 3:
            return 202, "text/plain", b"at work", {"Retry-After": "1"}
        evidence = {"verb": intent.frame.verb, "objects": [one.value for one in intent.frame.objects]}
        said = json.dumps({**evidence, "scope": body.scope_uri, "sent": self.seen[dispatch.id]}).encode()
        told: tuple[str, Body] = (
            "intent.attest",
            IntentAttestBody("success", instant(), ("matrix://artifact/a",), said),
        )
        header: dict[str, Any] = {
            "id": fresh_id(),
            "at": instant(),
            "from_": self.did,
            "intent": f"matrix://intent/{intent.id}",
            "to": dispatch.from_,
            "causation_id": dispatch.id,
        }
        key = self.key
        if how == "secret":
            evidence["objects"] = ["ghp_" + "a1" * 18]
            told = "intent.attest", IntentAttestBody("success", instant(), (), json.dumps(evidence).encode())
        elif how == "deep":
            told = "intent.attest", IntentAttestBody("success", instant(), (), b"[" * 500 + b"]" * 500)
        elif how == "escapes":
            evidence["objects"] = ["\x1b[2J", "\u202e"]
            told = "intent.attest", IntentAttestBody("success", instant(), (), json.dumps(evidence).encode())
        elif how == "fail":
            told = "intent.fail", IntentFailBody("tool_failure", instant(), "out of\x1b[2J paper", said)
        elif how == "partial":
            told = "intent.attest", IntentAttestBody("partial", instant())
        elif how == "kind":
            told = "plan.step", PlanStepBody("p", "n", "completed")
        elif how == "role":
            told = "intent.cancel", IntentCancelBody(instant())
        elif how == "other-key":
            key = SigningKey.generate()
            header["from_"] = did_of(bytes(key.verify_key))
        elif how == "other-intent":
            header["intent"] = f"matrix://intent/{fresh_id()}"
        elif how == "above":  # the Intent of whoever dispatches: it is not this agent's to end
            header["intent"] = dispatch.intent
        elif how == "other-dispatch":
            header["causation_id"] = fresh_id()
        elif how == "elsewhere":
            header["to"] = self.did
        elif how == "old":
            header["at"] = instant(hours=1)
        elif how == "earlier":
            header["at"] = instant(minutes=10)
        elif how == "future":
            header["at"] = instant(hours=-1)
        sealed = seal(told[0], told[1], Header(**header), key).wire
        self.first = self.first or sealed
        if how == "replay":
            sealed = self.first
        elif how == "forged":
            sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
        elif how == "changed":
            sealed = sealed.replace(b"artifact/a", b"artifact/b")
        elif how == "unsigned":
            sealed = bytes([sealed[0] - 1]) + sealed[1:-67]
        elif how == "garbage":
            sealed = b"\x00not an envelope"
        elif how == "trailing":
            sealed += b"\x00"
        elif how == "empty":
            sealed = b""
        elif how == "huge":
            sealed += bytes(1 << 20)
        kind = "text/html" if how == "html" else "application/cbor"
        status = {"error": 500, "moved": 307, "gone": 404}.get(how, 200)
        return status, kind, sealed, {"Location": "/ok"} if how == "moved" else {}


def main() -> None:
    peer = Peer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that http.server calls
            wire = self.rfile.read(int(self.headers["Content-Length"]))
            how = self.path.strip("/")
            if how == "dead":
                self.close_connection = True
                return
            if how == "slow":
                time.sleep(60)
            status, kind, body, headers = peer.answer(how, wire)
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], peer.did, flush=True)
    for line in sys.stdin:
        peer.believe(line.strip())
        print(peer.believed, flush=True)


if __name__ == "__main__":
    main()
