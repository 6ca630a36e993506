"""http/get, through the gate and the walker, from real sites on this machine."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Says, Walks, sequence, tool
from websites import Site, certificate, moved, packed, page, website

from executor import Grants, Home, Outcome, ToolError
from executor.tools.http.answer import decode, readable
from executor.tools.http.fetch import ResponseBody

PAGE = """<!doctype html><html><head><title>A &amp; B</title><style>x { y }</style>
<script>run()</script></head><body><nav><a href="/home">Home</a> <a href="#top">Up</a></nav>
<h1>Big <b>news</b></h1><p>Hello   <a href="more?x=1">read
on</a>.<br>Next line<p>Unclosed
<ul><li>one<ol><li>deep</ol><li>two</ul>
<table><tr><th>a<th>b<tr><td>1<td>2</table>
<pre>x
  y</pre><div hidden>invisible</div><p style="display: none">secret</p>
<img alt="a cat" src=c.png></body></html>"""
TEXT = """Home (https://e.org/home) Up

# Big news

Hello read on (https://e.org/d/more?x=1).
Next line

Unclosed

- one
  - deep
- two

a | b
1 | 2

x
  y

[a cat]"""


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


def get(walks: Walks, url: str, *hosts: str, people: object = None, **args: str) -> Outcome:
    """Fetch in a plan, with these hosts granted."""
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["network"])
    grants.grant_hosts(agent, hosts)
    return walks.go(tool("n1", "http/get", "network", url=url, **args), verb="find", people=people or Says())


def test_a_page_is_fetched_and_told_as_text(walks: Walks, site: Site) -> None:
    site.pages["/d/a?q=1"] = page(PAGE)
    outcome = get(walks, f"{site.origin}/d/a?q=1#part", site.origin)
    assert outcome.state == "completed", outcome.failure
    found = outcome.outputs["n1"]
    assert found == {
        "url": f"{site.origin}/d/a?q=1",
        "status": 200,
        "content_type": "text/html; charset=utf-8",
        "title": "A & B",
        "text": TEXT.replace("https://e.org", site.origin),
        "bytes": len(PAGE),
        "sha256": hashlib.sha256(PAGE.encode()).hexdigest(),
        "truncated": False,
    }


def test_a_request_says_who_asks_and_nothing_else(
    walks: Walks, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    (walks.workspace.parent / ".netrc").write_text("machine localhost login me password hunter2\n")
    monkeypatch.setenv("HOME", str(walks.workspace.parent))
    monkeypatch.setenv("NETRC", str(walks.workspace.parent / ".netrc"))
    site.pages["/"] = moved("/next", status="302 Found")[:-2] + b"Set-Cookie: id=1\r\n\r\n"
    site.pages["/next"] = page("done", "text/plain")
    assert get(walks, site.named, site.named).state == "completed"
    assert site.paths == ["/", "/next"]
    for request in site.requests:
        names = {line.partition(":")[0].lower() for line in request.splitlines()[1:] if line}
        assert names == {"host", "user-agent", "accept", "accept-encoding", "connection"}
        assert f"\r\nhost: localhost:{site.port}\r\n" in request.lower()
        assert "user-agent: mcl/" in request.lower()


def test_a_redirect_within_what_is_granted_is_followed(walks: Walks, site: Site) -> None:
    with website({"/end": page("arrived", "text/plain")}) as other:
        site.pages["/"] = moved("/a/b")
        site.pages["/a/b"] = moved("../c", "301 Moved Permanently")
        site.pages["/c"] = moved(f"{other.origin}/end", "307 Temporary Redirect")
        outcome = get(walks, site.origin, site.origin, other.origin)
        assert outcome.outputs["n1"]["text"] == "arrived"  # type: ignore[index]
        assert outcome.outputs["n1"]["url"] == f"{other.origin}/end"  # type: ignore[index]


def test_an_approval_of_the_exact_call_stands_in_for_the_grant(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("hello", "text/plain")
    people = Says("approve")
    outcome = get(walks, f"{site.origin}/", people=people)
    assert outcome.state == "completed", outcome.failure
    assert f"mcl grant add network --host {site.origin}" in people.asked[0].question
    refused = get(walks, f"{site.origin}/", people=Says("deny"))
    assert refused.failure is not None
    assert (refused.state, refused.failure.code) == ("denied", "GATE_DENIED")
    assert len(site.requests) == 1


def test_the_question_is_foreseen_before_the_first_node(walks: Walks, site: Site) -> None:
    get(walks, f"{site.origin}/", site.origin)
    intent = walks.accept(
        sequence(
            "n0",
            tool("n1", "http/get", "network", url=f"{site.origin}/"),
            tool("n2", "http/get", "network", url="https://other.example/"),
            tool("n3", "http/get", "network", url="${n1.output.text}"),
            tool("n4", "http/get", "network", url="file:///etc/passwd"),
        ),
        verb="find",
    )
    with_walker = walks.walker()
    verdicts = {verdict.node_id: verdict for verdict in with_walker.preflight(intent)}
    with_walker.close()
    assert [verdicts[f"n{number}"].decision for number in (1, 2, 3, 4)] == ["allow", "ask", "allow", "deny"]
    assert len(site.requests) == 1


def test_an_address_made_of_an_answer_is_judged_when_it_is_known(walks: Walks, site: Site) -> None:
    with website({"/": page("stolen", "text/plain")}) as other:
        site.pages["/"] = page(f"{other.origin}/", "text/plain")
        get(walks, f"{site.origin}/", site.origin)
        people = Says("deny")
        outcome = walks.go(
            sequence(
                "n0",
                tool("n1", "http/get", "network", url=f"{site.origin}/"),
                tool("n2", "http/get", "network", url="${n1.output.text}"),
            ),
            verb="find",
            people=people,
        )
        assert (outcome.state, len(people.asked)) == ("denied", 1)
        assert other.connections == 0


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "404 Not Found", "500 Oops", "304 Not Modified", "300 Which"]
)
def test_a_status_that_is_no_success_is_an_error_with_that_status(
    walks: Walks, site: Site, status: str
) -> None:
    site.pages["/"] = page("sorry", status=status)
    failure = get(walks, site.origin, site.origin).failure
    assert failure is not None
    assert (failure.code, failure.denied) == ("HTTP_STATUS", False)
    assert status.partition(" ")[0] in failure.message


def test_a_host_that_is_not_there_and_one_without_a_name_are_told(walks: Walks, site: Site) -> None:
    closed = "http://127.0.0.1:1"
    for host, code in [(closed, "CONNECT_FAILED"), ("https://nowhere.invalid", "HOST_NOT_FOUND")]:
        failure = get(walks, f"{host}/", host).failure
        assert failure is not None
        assert failure.code == code, failure


def test_text_that_is_no_html_comes_as_it_is_and_what_is_no_text_is_only_measured(
    walks: Walks, site: Site
) -> None:
    site.pages["/json"] = page(json.dumps({"a": "<b>"}), "application/json")
    site.pages["/png"] = page(b"\x89PNG\r\n\x00\x01", "image/png")
    site.pages["/liar"] = page(b"text\x00\x01", "text/plain")
    site.pages["/none"] = page("plain", "")
    site.pages["/empty"] = page("", "", "204 No Content")
    texts = {
        name: get(walks, f"{site.origin}/{name}", site.origin).outputs["n1"]["text"]
        for name in ("json", "png", "liar", "none", "empty")
    }  # type: ignore[index]
    assert texts == {
        "json": '{"a": "<b>"}',
        "png": "(image/png, 8 bytes: no text)",
        "liar": "(text/plain, 6 bytes: no text)",
        "none": "plain",
        "empty": "",
    }


def test_a_long_page_is_cut_at_max_bytes(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("ä" * 1000, "text/plain; charset=utf-8")
    found = get(walks, site.origin, site.origin, max_bytes="101").outputs["n1"]
    assert isinstance(found, dict)
    assert (found["text"], found["bytes"], found["truncated"]) == ("ä" * 50, 101, True)


def test_the_certificate_must_be_for_the_name_that_was_asked_for(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, place = certificate(tmp_path, "DNS:localhost")
    monkeypatch.setattr(certifi, "where", lambda: str(place))
    with website({"/": page("hello", "text/plain")}, tls=tls) as site:
        outcome = get(walks, f"{site.named}/", site.named)
        assert outcome.state == "completed", outcome.failure
        failure = get(walks, f"{site.origin}/", site.origin).failure  # the same server by its number
        assert failure is not None
        assert failure.code == "TLS_FAILED"
        assert len(site.requests) == 1


@pytest.mark.parametrize(
    ("data", "declared", "html", "text"),
    [
        ("räv", "utf-8", False, "räv"),
        ("räv".encode("latin-1"), "iso-8859-1", False, "räv"),
        ("€".encode("cp1252"), "iso-8859-1", False, "€"),
        ("лиса".encode("koi8-r"), "KOI8-R", False, "лиса"),
        ("狐".encode("shift_jis"), "shift_jis", False, "狐"),
        ("räv".encode("utf-16-le"), "utf-16le", False, "räv"),
        (b"\xff\xfer\x00", "utf-8", False, "r"),
        (b"\xef\xbb\xbfr", "latin-1", False, "r"),
        ("räv".encode("cp1252"), "", False, "räv"),
        ("räv".encode("cp1252"), "no-such-charset", False, "räv"),
        ("räv".encode(), "rot13", False, "räv"),
        ("räv".encode(), "unicode_escape", False, "räv"),
        ("räv".encode("cp1252"), "utf-8", False, "r\ufffdv"),
        (b"<meta charset='koi8-r'>" + "лиса".encode("koi8-r"), "", True, "<meta charset='koi8-r'>лиса"),
        (b"<meta charset='koi8-r'>x", "", False, "<meta charset='koi8-r'>x"),
    ],
)
def test_bytes_become_text_as_browsers_read_them(
    data: bytes | str, declared: str, html: bool, text: str
) -> None:
    raw = data.encode() if isinstance(data, str) else data
    assert decode(raw, declared, html=html, cut=False) == text


@given(st.binary(max_size=300), st.text(max_size=20), st.booleans(), st.booleans())
def test_any_bytes_become_some_text(data: bytes, declared: str, html: bool, cut: bool) -> None:
    decode(data, declared, html=html, cut=cut).encode()


def test_html_is_told_as_people_read_it() -> None:
    assert readable(PAGE, "https://e.org/d/") == ("A & B", TEXT)


PIECES = [
    *(
        "<p>",
        "</p>",
        "<ul>",
        "<li>",
        "</ul>",
        "<pre>",
        "</pre>",
        "<a href='x'>",
        "</a>",
        "<b hidden>",
        "</b>",
    ),
    *("<script>", "</script>", "<!--", "-->", "<", "&amp;", "&#0;", "<title>", "</title>", "<td>", "<br>"),
    *("text", "\n", "\x00", "ä", "<![CDATA[", "]]>", "<?x", '"', "'", "<base href='//['>", "<svg>", "</svg>"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_html_becomes_some_text(html: str) -> None:
    title, text = readable(html, "https://e.org/")
    assert "\x00" not in title + text
    assert text == text.strip("\n")


def test_a_packed_body_is_unpacked_and_measured_unpacked(walks: Walks, site: Site) -> None:
    site.pages["/"] = packed(b"hello " * 100, kind="text/plain")
    found = get(walks, site.origin, site.origin).outputs["n1"]
    assert isinstance(found, dict)
    assert (found["bytes"], found["truncated"], found["text"][:12]) == (600, False, "hello hello ")


@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4), st.integers(1, 50), st.integers(1, 300))
def test_packed_parts_come_out_whole_however_they_are_cut(parts: list[bytes], step: int, limit: int) -> None:
    whole = b"".join(parts)
    raw = b"".join(gzip.compress(part) for part in parts)
    body = ResponseBody("gzip", limit)
    for start in range(0, len(raw), step):
        body.take(raw[start : start + step])
    assert body.end() == (whole[:limit], len(whole) > limit)


def test_a_packed_body_that_breaks_off_is_truncated_and_one_with_padding_is_whole() -> None:
    raw = gzip.compress(b"hello" * 1000)
    body = ResponseBody("gzip", 10_000)
    body.take(raw[:-10])
    assert body.end()[1]
    body = ResponseBody("gzip", 10_000)
    body.take(raw + b"\0" * 100)
    body.take(b"\0" * 100)
    assert body.end() == (b"hello" * 1000, False)


def test_a_body_packed_as_nobody_asked_is_refused() -> None:
    for encoding in ("br", "zstd", "gzip, gzip", "deflate"):
        with pytest.raises(ToolError) as caught:
            ResponseBody(encoding, 10)
        assert caught.value.code == "BAD_RESPONSE"
