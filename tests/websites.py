"""A website on this machine that answers exactly what a test wants, byte by byte."""

from __future__ import annotations

import gzip
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

Handler = Callable[[socket.socket], None] | bytes


def page(
    body: bytes | str = b"", kind: str = "text/html; charset=utf-8", status: str = "200 OK", **headers: str
) -> bytes:
    """A whole answer; underscores in header names become dashes."""
    data = body.encode() if isinstance(body, str) else body
    told = {"Content-Type": kind, "Content-Length": str(len(data)), **headers}
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in told.items() if value]
    return f"HTTP/1.1 {status}\r\n{''.join(lines)}\r\n".encode("latin-1") + data


def moved(where: str, status: str = "302 Found") -> bytes:
    return page(b"", "", status, Location=where)


def packed(body: bytes, **headers: str) -> bytes:
    return page(gzip.compress(body), Content_Encoding="gzip", **headers)


class Site:
    """Pages by path. ``requests`` keeps the head of every request that came, ``bodies`` what came with it."""

    def __init__(self, listener: socket.socket, scheme: str) -> None:
        self.pages: dict[str, Handler] = {}
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self._listener = listener
        self.port = listener.getsockname()[1]
        self.origin = f"{scheme}://127.0.0.1:{self.port}"
        self.named = f"{scheme}://localhost:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.requests]

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except ssl.SSLError:
                self.connections += 1
                continue
            except OSError:  # closed: the test is over
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(20)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
                if head.startswith(b"\x16"):  # somebody speaks TLS to a site that does not
                    connection.sendall(page("what?", status="400 Bad Request"))
                    return
            head, _, body = head.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
            while length and len(body) < int(length[1]):
                if not (piece := connection.recv(65536)):
                    return
                body += piece
            self.bodies.append(body)
            self.requests.append(head.decode("latin-1") + "\r\n\r\n")
            answer = self.pages.get(self.paths[-1], page("nothing here", status="404 Not Found"))
            if isinstance(answer, bytes):
                connection.sendall(answer)
            else:
                answer(connection)


@contextmanager
def website(
    pages: Mapping[str, Handler] | None = None, *, tls: ssl.SSLContext | None = None
) -> Iterator[Site]:
    """Serve pages on 127.0.0.1 until the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    if tls is not None:
        listener = tls.wrap_socket(listener, server_side=True)
    site = Site(listener, "https" if tls else "http")
    site.pages.update(pages or {})
    thread = threading.Thread(target=site.serve, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=5)


def certificate(folder: Path, *names: str) -> tuple[ssl.SSLContext, Path]:
    """A server's TLS with a new self-signed certificate for ``names`` (DNS:x, IP:x), and the certificate."""
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    parted = (one.partition(":") for one in names)
    also = [x509.IPAddress(ip_address(one)) if kind == "IP" else x509.DNSName(one) for kind, _, one in parted]
    made = x509.CertificateBuilder(name, name, secret.public_key(), x509.random_serial_number())
    now = datetime.now(UTC)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=2))
    made = made.add_extension(x509.SubjectAlternativeName(also), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    key, place = folder / "server.key", folder / "server.crt"
    plain = (PrivateFormat.PKCS8, NoEncryption())
    key.write_bytes(secret.private_bytes(Encoding.PEM, *plain))
    place.write_bytes(made.sign(secret, SHA256()).public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place, key)
    return context, place
