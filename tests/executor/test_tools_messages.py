"""mail/draft, mail/send, notify/ntfy and notify/webhook, to real servers on this machine."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import certifi
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, Session
from walks import Says, Walks, code, granted, sequence, tool
from websites import Site, certificate, page, website

from executor.walker.undo.undo import undo

PASSWORD = "korrekt-hast-batteri"


@dataclass
class Post:
    """What came to a server of mail. login: how somebody signed in. refuses: whom it does not take."""

    refuses: str = ""
    mails: list[Envelope] = field(default_factory=list)
    login: tuple[bytes, bytes] = (b"", b"")
    encrypted: bool = False

    async def handle_RCPT(  # noqa: N802  # a name of the library, as below
        self, server: Any, session: Session, envelope: Envelope, address: str, _: Any
    ) -> str:
        if address == self.refuses:
            return "550 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.mails.append(envelope)
        self.encrypted = server.transport.get_extra_info("sslcontext") is not None
        return "250 OK"

    def sign_in(self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        self.login = (data.login, data.password)
        return AuthResult(success=data.password == PASSWORD.encode())

    def last(self) -> EmailMessage:
        found = message_from_bytes(self.mails[-1].content, policy=policy.SMTP)
        assert isinstance(found, EmailMessage)
        return found


@contextmanager
def post_office(
    post: Post, tls: ssl.SSLContext | None = None, *, secure: bool = False, **more: Any
) -> Iterator[str]:
    """A server of mail; with tls encrypted from the first byte (secure), or by STARTTLS."""
    if tls is not None:
        more["ssl_context" if secure else "tls_context"] = tls
    controller = Controller(post, hostname="127.0.0.1", port=free_port(), **more)
    controller.start()
    try:
        yield f"127.0.0.1:{controller.port}"
    finally:
        controller.stop()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def send(walks: Walks, server: str, people: Any = None, **args: str) -> Any:
    granted(walks, server)
    given = {
        "from": "Ada <ada@example.org>",
        "to": "bo@example.org",
        "subject": "Hej",
        "body": "Så är det.",
        **args,
    }
    node = tool("n1", "mail/send", "network", server=server, **{k: v for k, v in given.items() if v})
    return walks.run(
        walks.accept(node, verb="deliver"),
        people=people or Says("approve"),
        environment={"MAIL_PASSWORD": PASSWORD},
    )


def test_a_mail_is_sent_once_a_person_agrees(walks: Walks) -> None:
    post = Post()
    with post_office(post) as where:
        assert code(send(walks, f"smtp://{where}", Says("deny"))) == "GATE_DENIED"
        assert post.mails == []
        outcome = send(
            walks, f"smtp://{where}", to="Bo <bo@example.org>, cy@example.org", subject="Räksmörgås"
        )
    assert outcome.failure is None, outcome.failure
    assert outcome.outputs["n1"]["to"] == ["bo@example.org", "cy@example.org"]
    assert post.mails[0].rcpt_tos == ["bo@example.org", "cy@example.org"]
    assert (post.last()["From"], post.last()["To"]) == (
        "Ada <ada@example.org>",
        "Bo <bo@example.org>, cy@example.org",
    )
    assert (post.last()["Subject"], post.last().get_content().strip()) == ("Räksmörgås", "Så är det.")
    assert post.last()["Message-ID"].endswith("@example.org>")


@pytest.mark.parametrize("secure", [True, False], ids=["smtps", "starttls"])
def test_a_password_is_named_and_goes_over_tls_alone(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secure: bool
) -> None:
    tls, place = certificate(tmp_path, "IP:127.0.0.1")
    monkeypatch.setattr(certifi, "where", lambda: str(place))
    post = Post()
    with post_office(
        post, tls, secure=secure, authenticator=post.sign_in, auth_require_tls=not secure
    ) as where:
        server = f"smtps://{where}" if secure else f"smtp://{where}"
        assert code(send(walks, server, user="ada", password="written-out-here")) in (
            "INVALID_ARGS",
            "SECRET_INLINE",
        )
        outcome = send(walks, server, user="ada", password="$env:MAIL_PASSWORD")
    assert outcome.failure is None, outcome.failure
    assert (post.login, post.encrypted) == ((b"ada", PASSWORD.encode()), True)
    assert not [row for row in walks.home.journal.rows() if PASSWORD.encode() in row.wire]


def test_a_server_whose_certificate_is_another_ones_gets_nothing(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, place = certificate(tmp_path, "DNS:mail.example.org")
    monkeypatch.setattr(certifi, "where", lambda: str(place))
    post = Post()
    with post_office(post, tls) as where:
        assert code(send(walks, f"smtp://{where}")) == "TLS_FAILED"
    with post_office(post, authenticator=post.sign_in, auth_require_tls=False) as where:
        assert code(send(walks, f"smtp://{where}", password="$env:MAIL_PASSWORD")) == "CREDENTIAL_IN_CLEAR"
    assert (post.mails, post.login) == ([], (b"", b""))


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        ({"to": "Anna"}, "BAD_ADDRESS"),
        ({"to": "bo@example.org\r\nBcc: x@example.org"}, "BAD_ADDRESS"),
        ({"to": "a@b@c"}, "BAD_ADDRESS"),
        ({"to": ", ;"}, "NOBODY"),
        ({"to": "nobody@example.org"}, "MAIL_REFUSED"),
        ({"from": "Ada"}, "BAD_ADDRESS"),
        ({"draft": "a.eml"}, "BAD_ARGUMENTS"),
        ({"draft": "a.txt", "subject": "", "body": ""}, "NOT_A_MAIL"),
        ({"attach": "nowhere.pdf"}, "NOT_FOUND"),
        ({"attach": "../x"}, "OUT_OF_SCOPE"),
        ({"attach": ".env"}, "PROTECTED_PATH"),
    ],
)
def test_what_cannot_be_sent_is_not(walks: Walks, args: dict[str, str], refused: str) -> None:
    walks.write("a.txt", "no mail\n")
    post = Post(refuses="nobody@example.org")
    with post_office(post) as where:
        assert code(send(walks, f"smtp://{where}", **args)) == refused
    assert post.mails == []


def test_only_a_server_of_mail_that_was_granted_is_asked(walks: Walks) -> None:
    assert code(send(walks, "http://127.0.0.1:9")) == "HOST_DENIED"
    assert code(send(walks, "smtp://127.0.0.1:9")) == "CONNECT_FAILED"
    node = tool("n1", "mail/send", "network", server="smtps://mail.example.org", to="a@b.example")
    people = Says("deny")
    assert code(walks.run(walks.accept(node, verb="deliver"), people=people)) == "GATE_DENIED"
    assert code(walks.run(walks.accept(node, verb="build"), people=people)) == "INTENT_MISMATCH"
    web = tool("n1", "http/get", "network", url="smtps://mail.example.org")
    assert code(walks.run(walks.accept(web, verb="acquire"), people=Says("approve"))) == "HOST_DENIED"


def test_a_draft_is_a_file_that_an_undo_takes_away_and_that_is_sent_as_it_is(walks: Walks) -> None:
    walks.write("report.csv", "a,b\n")
    node = tool(
        "n1", "mail/draft", "write",
        to="Bo <bo@example.org>", subject="Våren", body="Hej!", attach="report.csv",
    )  # fmt: skip
    outcome = walks.go(node)
    assert outcome.failure is None, outcome.failure
    path = outcome.outputs["n1"]["path"]
    assert path.startswith("drafts/20")
    assert path.endswith(".eml")
    draft = message_from_bytes((walks.workspace / path).read_bytes(), policy=policy.SMTP)
    assert (draft["To"], draft["Subject"], draft["X-Unsent"]) == ("Bo <bo@example.org>", "Våren", "1")
    post = Post()
    with post_office(post) as where:
        assert send(walks, f"smtp://{where}", draft=path, to="", subject="", body="").failure is None
    assert post.mails[0].rcpt_tos == ["bo@example.org"]
    assert post.last()["X-Unsent"] is None
    assert [one.get_filename() for one in post.last().iter_attachments()] == ["report.csv"]
    undo(walks.home, outcome.intent_id)
    assert not (walks.workspace / "drafts").exists()


def test_each_of_several_gets_a_draft_of_their_own(walks: Walks) -> None:
    args = {"to": "a@x.example, b@x.example", "subject": "Fee", "body": "Hi", "folder": "drafts"}
    walks.ask(tool("n1", "mail/draft", "write", apart="each", **args))
    drafts = [message_from_bytes(one.read_bytes()) for one in (walks.workspace / "drafts").iterdir()]
    assert sorted(str(one["To"]) for one in drafts) == ["a@x.example", "b@x.example"]


def test_a_draft_for_somebody_without_an_address_cannot_be_sent(walks: Walks) -> None:
    found = walks.ask(tool("n1", "mail/draft", "write", to="Anna, bo@example.org", body="Hej"))
    assert found["to"] == ["Anna", "bo@example.org"]
    assert "without an address yet: Anna" in found["text"]
    assert walks.refusal(tool("n1", "mail/draft", "write", to="x@y@z")) == "BAD_ADDRESS"
    assert walks.refusal(tool("n1", "mail/draft", "write", folder=".git")) == "PROTECTED_PATH"


def test_mail_goes_out_as_the_home_says(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCL_HOME", str(walks.home.path))
    assert walks.refusal(tool("n1", "mail/account")) == "NO_ACCOUNT"
    place = walks.home.path / "mail.toml"
    place.write_text('server = "https://mail.example.org"\nfrom = "ada@example.org"\n')
    assert walks.refusal(tool("n1", "mail/account")) == "BAD_CONFIGURATION"
    post = Post()
    with post_office(post) as where:
        place.write_text(f'server = "smtp://{where}"\nfrom = "Ada <ada@example.org>"\n')
        granted(walks, f"smtp://{where}")
        plan = sequence(
            "root",
            tool("who", "mail/account"),
            tool("n1", "mail/send", "network", server="${who.output.server}", to="bo@example.org",
                 user="${who.output.user}", password="$env:MAIL_PASSWORD", **{"from": "${who.output.from}"}),
        )  # fmt: skip
        outcome = walks.run(
            walks.accept(plan, verb="deliver"),
            people=Says("approve"),
            environment={"MAIL_PASSWORD": PASSWORD},
        )
    assert code(outcome) == "CREDENTIAL_IN_CLEAR"


# ---- Notices.


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


def notice(walks: Walks, site: Site, which: str, people: Any = None, **args: str) -> Any:
    granted(walks, site.origin)
    node = tool("n1", f"notify/{which}", "network", **args)
    environment = {
        "HOOK": f"{site.origin}/hooks/s3cret-path",
        "TOKEN": PASSWORD,
        "AWAY": "https://example.org/x/y",
    }
    return walks.run(
        walks.accept(node, verb="deliver"), people=people or Says("approve"), environment=environment
    )


def test_a_notice_goes_to_a_topic(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("{}", "application/json")
    url = f"{site.origin}/door"
    assert code(notice(walks, site, "ntfy", Says("deny"), url=url, message="Painted")) == "GATE_DENIED"
    assert site.connections == 0
    outcome = notice(
        walks, site, "ntfy", url=url, message="Målad", title="Dörren", priority="high", token="$env:TOKEN"
    )
    assert outcome.failure is None, outcome.failure
    assert site.bodies == ['{"message":"Målad","priority":4,"title":"Dörren","topic":"door"}'.encode()]
    assert f"Bearer {PASSWORD}" in site.requests[0]
    assert code(notice(walks, site, "ntfy", url=site.origin, message="x")) == "BAD_TOPIC"
    site.pages["/"] = page("no", "text/plain", "403 Forbidden")
    assert code(notice(walks, site, "ntfy", url=url, message="x")) == "HTTP_STATUS"


def test_a_text_goes_to_a_webhook_whose_address_may_be_a_secret(walks: Walks, site: Site) -> None:
    site.pages["/hooks/s3cret-path"] = page("ok", "text/plain")
    outcome = notice(
        walks, site, "webhook", url=site.origin, address="$env:HOOK", text="Klart", field="content"
    )
    assert outcome.failure is None, outcome.failure
    assert (site.paths, site.bodies) == (["/hooks/s3cret-path"], [b'{"content":"Klart"}'])
    assert not [row for row in walks.home.journal.rows() if b"s3cret-path" in row.wire]
    both = notice(walks, site, "webhook", url=site.origin, text="x", json='{"a": 1}')
    assert code(both) == "BAD_ARGUMENTS"
    assert (
        code(notice(walks, site, "webhook", url=site.origin, address="$env:AWAY", text="x")) == "OTHER_HOST"
    )
    assert code(notice(walks, site, "webhook", url=site.origin, address=site.origin, text="x")) in (
        "INVALID_ARGS",
        "SECRET_INLINE",
    )
