"""Addresses and grants: read strictly, compared in one spelling."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import PolicyError, ScopeError
from executor.sandbox.origin import parse_grant, parse_url


@pytest.mark.parametrize(
    ("text", "url", "origin"),
    [
        ("https://Example.ORG:443/a?b=1#c", "https://example.org/a?b=1", "https://example.org"),
        ("HTTPS://example.org", "https://example.org/", "https://example.org"),
        ("https://example.org?b", "https://example.org/?b", "https://example.org"),
        ("https://example.org.:8443/", "https://example.org:8443/", "https://example.org:8443"),
        ("http://räksmörgås.se/å", "http://xn--rksmrgs-5wao1o.se/å", "http://xn--rksmrgs-5wao1o.se"),
        ("https://a。b/", "https://a.b/", "https://a.b"),
        ("https://１２７.0.0.1/", "https://127.0.0.1/", "https://127.0.0.1"),
        ("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]"),
        ("http://[0:0::1]:8080/", "http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_an_address_has_one_spelling(text: str, url: str, origin: str) -> None:
    found = parse_url(text)
    assert (str(found), str(found.origin)) == (url, origin)
    assert parse_grant(origin) == found.origin


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.org", "//example.org", "ftp://example.org/", "file:///etc/passwd", "javascript:1"),
        *("https://", "https:///x", "https://user@example.org/", "https://user:pw@example.org/"),
        *("https://good.org@evil.org/", "https://good.org\\@evil.org/", "https://good.org\\.evil.org/"),
        *("https://exa mple.org/", " https://example.org/", "https://example.org/\r\nHost: evil.org"),
        *("https://example.org/\x00", "https://example.org/\u2028", "https://ex%61mple.org/"),
        *("http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://1.2.3/"),
        *("http://[::1%25eth0]/", "http://[::1/", "http://::1/", "http://[example.org]/"),
        *("https://example.org:0/", "https://example.org:65536/", "https://example.org:/", "https://a:b/"),
        *("https://-a.org/", "https://a..org/", f"https://{'a' * 64}.org/", f"https://{'a.' * 130}org/"),
        *(
            "https://*.example.org/",
            "https://a_b.!.org/",
            f"https://example.org/{'a' * 5000}",
            "https://\ud800/",
        ),
    ],
)
def test_what_readers_might_understand_differently_is_no_address(text: str) -> None:
    with pytest.raises(ScopeError) as caught:
        parse_url(text)
    assert caught.value.code == "HOST_DENIED"
    assert caught.value.fix


@pytest.mark.parametrize(
    ("text", "origin", "short"),
    [
        ("example.org", "https://example.org", "example.org"),
        ("Example.org:443", "https://example.org", "example.org"),
        ("example.org:8443", "https://example.org:8443", "example.org:8443"),
        ("http://localhost:8080/", "http://localhost:8080", "http://localhost:8080"),
        ("[::1]:8080", "https://[::1]:8080", "[::1]:8080"),
        ("bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_grant_is_written_as_people_write_hosts(text: str, origin: str, short: str) -> None:
    found = parse_grant(text)
    assert (str(found), found.short) == (origin, short)
    assert parse_grant(short) == found


@pytest.mark.parametrize(
    "text", ["", "*", "*.example.org", "example.org/docs", "example.org?x", "ftp://x", "a b", "u@x", "::1"]
)
def test_a_grant_names_one_host_and_nothing_else(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_grant(text)
    assert caught.value.code == "BAD_HOST"


@given(st.text(max_size=60).map(lambda text: f"https://{text}"))
def test_whatever_is_read_reads_the_same_again_and_has_a_host_of_plain_letters(text: str) -> None:
    try:
        found = parse_url(text)
    except ScopeError:
        return
    assert parse_url(str(found)) == found
    assert found.origin.host == found.origin.host.lower()
    assert found.origin.host.isascii()
    assert not set("/@?#\\ %") & set(found.origin.host)


@given(st.text(max_size=60).map(lambda text: f"https://example.org/{text}"))
def test_no_path_makes_the_client_see_another_host_than_the_gate(text: str) -> None:
    try:
        found = parse_url(text)
    except ScopeError:
        return
    sent = httpx.URL(f"https://192.0.2.1:443{found.target}")
    assert (sent.scheme, sent.host, sent.userinfo) == ("https", "192.0.2.1", b"")
