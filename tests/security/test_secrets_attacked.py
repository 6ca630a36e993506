"""Secrets on their way out: in which shapes they are taken out, and in which they are not."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from walks import Walks, sequence, tool

from executor.sandbox.redaction import Redactor

VALUE = 'corr"ect-hörse/battery+staple='
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234\nq9KxZ0vbnm7TgYhUjMkLop\n-----END PRIVATE KEY-----"
DATA = VALUE.encode()

CAUGHT: dict[str, Callable[[], str]] = {
    "as it is": lambda: VALUE,
    "as a string of JSON": lambda: json.dumps({"password": VALUE}),
    "as a string of JSON with its own letters": lambda: json.dumps({"a": VALUE}, ensure_ascii=False),
    "in an address": lambda: f"https://e.org/?q={quote(VALUE, safe='')}&x=1",
    "in a form": lambda: f"a=1&password={quote_plus(VALUE)}",
    "in base64": lambda: base64.b64encode(DATA).decode(),
    "in base64 behind a name": lambda: base64.b64encode(b"u:" + DATA).decode(),
    "in base64 behind a longer name": lambda: base64.b64encode(b"ada:" + DATA + b"\n").decode(),
    "in base64 inside more": lambda: base64.b64encode(b"{12345" + DATA + b"}").decode(),
    "in base64 for addresses": lambda: base64.urlsafe_b64encode(b"user:" + DATA).decode(),
    "in hexadecimal": DATA.hex,
    "in hexadecimal, in capitals": lambda: DATA.hex().upper(),
    "cut before its last character": lambda: "x " + VALUE[:-1],
    "cut after a quarter": lambda: "x " + VALUE[:8],
    "cut inside a line": lambda: f"{VALUE[:12]}… and more",
    "cut at its beginning": lambda: f"a …{VALUE[5:]} b",
}
# Honest about its limits: a program that means to hide a value can.
NOT_CAUGHT: dict[str, Callable[[], str]] = {
    "backwards": lambda: VALUE[::-1],
    "with spaces between": lambda: " ".join(VALUE),
    "turned by thirteen letters": lambda: VALUE.translate(
        {ord(one): chr((ord(one) - 97 + 13) % 26 + 97) for one in "abcdefghijklmnopqrstuvwxyz"}
    ),
    "in base64 of base64": lambda: base64.b64encode(base64.b64encode(DATA)).decode(),
    "over two lines": lambda: VALUE[:5] + "\n" + VALUE[5:10] + "\n" + VALUE[10:],
}


@pytest.mark.parametrize("shape", CAUGHT.values(), ids=CAUGHT)
def test_the_value_of_a_secret_variable_is_taken_out(shape: Callable[[], str]) -> None:
    text = shape()
    told = Redactor({"MY_PASSWORD": VALUE}).text(text)
    assert told != text
    assert "[redacted: value of the environment]" in told
    for part in (VALUE[:8], VALUE[-8:], base64.b64encode(DATA[3:12]).decode(), DATA[3:12].hex()):
        assert part not in told


@pytest.mark.parametrize("shape", NOT_CAUGHT.values(), ids=NOT_CAUGHT)
def test_what_is_hidden_on_purpose_is_not_found_and_the_docs_say_so(shape: Callable[[], str]) -> None:
    assert Redactor({"MY_PASSWORD": VALUE}).text(shape()) == shape()


def test_each_line_of_a_secret_of_several_lines_is_taken_out() -> None:
    redactor = Redactor({"DEPLOY_KEY": KEY})
    for line in KEY.splitlines()[1:3]:
        assert line not in redactor.text(f"notes.txt:3: {line}")
    assert redactor.text("-----END PRIVATE KEY-----") == "-----END PRIVATE KEY-----"  # tells nothing


@pytest.mark.parametrize("value", ["x" * 40, "ab" * 20, "aaaaaaaaab", "…" * 12, "a…b…c…d…e"])
def test_a_value_that_repeats_itself_takes_no_longer(value: str) -> None:
    redactor = Redactor({"A_TOKEN": value})
    assert value not in redactor.text(value[:-1] * 20_000 + "…" * 1000)


@pytest.mark.parametrize("most", [39, 30, 20, 12])
def test_a_token_cut_by_the_reader_is_taken_out_all_the_same(walks: Walks, most: int) -> None:
    token = "ghp_" + "a1B2" * 9  # 40 characters
    walks.write("notes.txt", token)
    found = walks.ask(tool("n1", "fs/read", path="notes.txt", max_bytes=str(most)))
    assert found["text"] == "[redacted: token]"


def test_the_value_of_a_variable_cut_by_the_reader_is_taken_out_all_the_same(walks: Walks) -> None:
    walks.write("notes.txt", VALUE)
    plan = sequence(
        "n0",
        *(tool(f"n{cut}", "fs/read", path="notes.txt", max_bytes=str(cut)) for cut in range(8, len(DATA))),
        tool("last", "fs/search", query="hörse"),
    )
    outcome = walks.run(walks.accept(plan), environment={"MY_PASSWORD": VALUE})
    assert outcome.state == "completed"
    kept = b"".join(row.wire for row in walks.home.journal.rows())
    for told in (str(outcome.to_json()), str(walks.watch.events)):
        assert VALUE[:6] not in told
    assert VALUE[:6].encode() not in kept.replace(b"[redacted", b"")
