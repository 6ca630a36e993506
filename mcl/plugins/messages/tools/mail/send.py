"""Sends a mail through a granted server of SMTP, encrypted."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Mapping
from datetime import datetime
from email import message_from_bytes
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import make_msgid
from typing import Final

from anyio import to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.origin import MAIL, THIS_MACHINE, Origin, parse_url
from executor.sandbox.redaction import visible
from executor.tools.http.fetch import addresses_of
from executor.tools.tool import Bench
from mcl.plugins.messages.letter import MAX_ATTACHED, address_of, attach, letter, split_people

_SECONDS: Final = 40.0


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Send it to all of its recipients, or to none where the server refuses one of them.

    Raises:
        ToolError: BAD_ADDRESS, NOBODY, BAD_HEAD, NOT_A_MAIL, BAD_ARGUMENTS, CREDENTIAL_IN_CLEAR,
            NOT_ENCRYPTED, MAIL_REFUSED, CONNECT_FAILED, TLS_FAILED, HOST_NOT_FOUND. ScopeError: HOST_DENIED.
    """
    import httpx

    url = parse_url(str(args["server"]), MAIL)
    origin = url.origin
    if origin not in bench.hosts:
        raise ScopeError("HOST_DENIED", f"{origin} was not granted", place=str(origin), fix="grant the host")
    message, sender, people = await to_thread.run_sync(_message, args, bench)
    places = [str(one) for one in await addresses_of(origin)]
    trust = httpx.create_ssl_context(trust_env=False)
    login = (str(args.get("user") or sender.addr_spec), str(args.get("password", "")))
    id_ = await to_thread.run_sync(_send, origin, places, trust, login, message, sender, people)
    told = [one.addr_spec for one in people]
    subject = visible(str(message["Subject"] or ""))
    return {
        "to": told,
        "subject": subject,
        "id": id_,
        "server": str(origin),
        "text": f"sent to {', '.join(told)} through {origin}: {subject or '(no subject)'}",
    }


def _message(args: Mapping[str, object], bench: Bench) -> tuple[EmailMessage, Address, list[Address]]:
    """The mail, who sends it and who gets it."""
    message = _read(args, bench) if "draft" in args else None
    said, own = split_people(str(args.get("to", ""))), str(args.get("from", ""))
    if message is not None:
        said = said or _heads(message, "To", "Cc")
        own = own or next(iter(_heads(message, "From")), "")
    people = [address_of(one) for one in said]
    if not people:
        raise ToolError("NOBODY", "nobody is to get it", place="to", fix="name an address")
    if not own:
        raise ToolError("BAD_ADDRESS", "it is not said who sends it", place="from", fix="name your address")
    sender, now = address_of(own), datetime.fromisoformat(bench.clock.now()).replace(microsecond=0)
    if message is None:
        subject, body = str(args.get("subject", "")), str(args.get("body", ""))
        message = letter(sender=own, to=people, subject=subject, body=body, at=now)
        if attached := str(args.get("attach", "")):
            attach(message, attached, bench.workspace)
    for name in ("Bcc", "X-Unsent", "From", "To", "Date", "Message-ID"):
        del message[name]
    message["From"], message["To"] = sender, people
    message["Date"], message["Message-ID"] = now, make_msgid(domain=sender.domain)
    return message, sender, people


def _read(args: Mapping[str, object], bench: Bench) -> EmailMessage:
    """A draft, which is sent as it is. Raises ToolError BAD_ARGUMENTS, NOT_A_MAIL."""
    path = str(args["draft"])
    for name in ("subject", "body", "attach"):
        if name in args:
            message = f"a draft is sent as it is, and {name} was given too"
            raise ToolError("BAD_ARGUMENTS", message, place=name, fix=f"leave out {name}, or the draft")
    data, size = bench.workspace.read(path, 2 * MAX_ATTACHED)
    found = message_from_bytes(data, policy=SMTP) if size <= 2 * MAX_ATTACHED else None
    if not isinstance(found, EmailMessage) or not {"to", "subject"} & {name.lower() for name in found}:
        raise ToolError("NOT_A_MAIL", f"{path!r} is no mail", place=path, fix="name an .eml file")
    return found


def _heads(message: EmailMessage, *names: str) -> list[str]:
    """The addresses in heads of a draft."""
    return [
        str(one)
        for name in names
        for head in message.get_all(name, [])
        for one in getattr(head, "addresses", ())
    ]


def _send(
    origin: Origin,
    places: list[str],
    trust: ssl.SSLContext,
    login: tuple[str, str],
    message: EmailMessage,
    sender: Address,
    people: list[Address],
) -> str:
    """Hand it over. Blocks."""
    place = str(origin)
    try:
        with _connected(origin, places, trust, secret=bool(login[1])) as server:
            if login[1] and (server.has_extn("auth") or origin.host not in THIS_MACHINE):
                server.login(*login)
            _accepted(server.mail(sender.addr_spec), sender)
            for one in people:
                _accepted(server.rcpt(one.addr_spec), one)
            _accepted(server.data(message.as_bytes()), None)
    except ssl.SSLError as problem:
        why = f"{origin} cannot be reached safely: {problem.reason}"
        raise ToolError("TLS_FAILED", why, place=place, fix="check the server") from problem
    except smtplib.SMTPResponseException as problem:
        said: object = problem.smtp_error
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        why = f"{origin} did not take it: {problem.smtp_code} {visible(' '.join(words.split()))[:300]}"
        raise ToolError("MAIL_REFUSED", why, place=place, fix="see what the server says") from problem
    except (smtplib.SMTPException, OSError) as problem:
        why = f"{origin} could not be talked to: {visible(str(problem))[:200]}"
        raise ToolError(
            "CONNECT_FAILED", why, place=place, fix="check the server and the network"
        ) from problem
    return str(message["Message-ID"])


def _accepted(said: tuple[int, bytes], who: Address | None) -> None:
    """Go on, or raise SMTPResponseException with what the server says of it."""
    code, words = said
    if code >= 400:
        about = f"{who.addr_spec}: ".encode() if who is not None else b""
        raise smtplib.SMTPResponseException(code, about + words)


def _connected(origin: Origin, places: list[str], trust: ssl.SSLContext, *, secret: bool) -> smtplib.SMTP:
    """A connection, encrypted but to this machine. Raises ToolError, OSError, SMTPException."""
    problem: OSError | None = None
    for place in places:
        try:
            server = _Secure(origin, place, trust) if origin.scheme == "smtps" else _Plain(origin, place)
            break
        except ssl.SSLError:
            raise
        except OSError as failed:
            problem = failed
    else:
        raise problem or OSError("no address")
    server.ehlo_or_helo_if_needed()
    if origin.scheme == "smtp":
        if server.has_extn("starttls"):
            server.starttls(context=trust)
            server.ehlo()
        elif origin.host not in THIS_MACHINE:
            server.close()
            raise ToolError(
                "NOT_ENCRYPTED",
                f"{origin} offers no encryption",
                place=str(origin),
                fix="use smtps://, or port 587",
            )
        elif secret:
            server.close()
            raise ToolError(
                "CREDENTIAL_IN_CLEAR",
                f"{origin} offers no encryption: no password is sent there",
                place=str(origin),
                fix="leave the password out, or use a server that encrypts",
            )
    return server


class _Plain(smtplib.SMTP):
    """A connection to one address of a host, whose name its certificate is held to."""

    def __init__(self, origin: Origin, place: str) -> None:
        super().__init__(local_hostname="localhost", timeout=_SECONDS)
        code, said = self.connect(place, origin.port)
        if code != 220:
            self.close()
            raise smtplib.SMTPConnectError(code, said)
        self._host = origin.host


class _Secure(smtplib.SMTP_SSL):
    """The same, encrypted from the first byte."""

    def __init__(self, origin: Origin, place: str, trust: ssl.SSLContext) -> None:
        super().__init__(local_hostname="localhost", timeout=_SECONDS, context=trust)
        self._host = origin.host
        code, said = self.connect(place, origin.port)
        if code != 220:
            self.close()
            raise smtplib.SMTPConnectError(code, said)
