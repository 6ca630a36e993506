"""http/request, through the gate and the walker, of real sites on this machine."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from walks import Says, Walks, granted, sequence, tool
from websites import Site, moved, page, website

from executor import Outcome

TOKEN = "t0p-s3cret/tok+en=value&more"


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


def ask(
    walks: Walks,
    site: Site,
    method: str,
    path: str = "/",
    *,
    verb: str = "deliver",
    people: object = None,
    environment: Mapping[str, str] | None = None,
    **args: Any,
) -> Outcome:
    """One request in a plan; people approve unless told otherwise."""
    granted(walks, site.origin)
    texts = {name: one if isinstance(one, str) else json.dumps(one) for name, one in args.items()}
    node = tool("n1", "http/request", "network", method=method, url=f"{site.origin}{path}", **texts)
    return walks.run(
        walks.accept(node, verb=verb), people=people or Says("approve"), environment=environment or {}
    )


def code(outcome: Outcome) -> str:
    return outcome.failure.code if outcome.failure else outcome.state


def headers(site: Site) -> dict[str, str]:
    """Those of the last request."""
    lines = site.requests[-1].split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}


def test_a_post_sends_json_and_tells_the_answer_as_values(walks: Walks, site: Site) -> None:
    said = b'{"id": 12345678901234567890, "tags": ["a", 1.5, null], "note": "caf\xc3\xa9"}'
    site.pages["/items"] = page(said, "application/json", "201 Created", Location="/items/7", ETag='"x"')
    outcome = ask(walks, site, "POST", "/items", json={"title": "a", "n": 3})
    assert outcome.failure is None
    found: Any = outcome.outputs["n1"]
    assert site.requests[0].startswith("POST /items HTTP/1.1\r\n")
    assert json.loads(site.bodies[0]) == {"title": "a", "n": 3}
    assert headers(site)["content-type"] == "application/json"
    assert found["status"] == 201
    assert found["json"] == {"id": 12345678901234567890, "tags": ["a", 1.5, None], "note": "café"}
    assert found["headers"] == {"location": "/items/7", "etag": '"x"'}
    assert found["text"] == said.decode()


@pytest.mark.parametrize("said", [b"{", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[" * 100_000, b""])
def test_what_is_no_sound_json_is_told_as_text_only(walks: Walks, site: Site, said: bytes) -> None:
    site.pages["/"] = page(said, "application/json")
    found: Any = ask(walks, site, "GET").outputs["n1"]
    assert "json" not in found
    assert found["text"] == said.decode()


def test_a_text_is_sent_as_it_is(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("ok", "text/plain")
    assert ask(walks, site, "PUT", body="räksmörgås\n", content_type="text/csv").state == "completed"
    assert site.bodies == ["räksmörgås\n".encode()]
    assert headers(site)["content-type"] == "text/csv"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_what_changes_something_elsewhere_is_approved_each_time(
    walks: Walks, site: Site, method: str
) -> None:
    site.pages["/"] = page("ok", "text/plain")
    people = Says("approve", "deny")
    assert ask(walks, site, method, people=people).state == "completed"
    refused = ask(walks, site, method, people=people)
    assert (refused.state, code(refused)) == ("denied", "GATE_DENIED")
    assert [asked.kind for asked in people.asked] == ["approval", "approval"]
    assert ("destructive" in people.asked[0].question) is (method == "DELETE")
    assert len(site.requests) == 1


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_only_reads_from_a_granted_host_needs_no_question(walks: Walks, site: Site, method: str) -> None:
    site.pages["/"] = page("hello", "text/plain") if method == "GET" else page("", "text/plain")
    outcome = ask(walks, site, method, verb="find", people=Says())
    assert outcome.state == "completed", outcome.failure
    assert "idempotency-key" not in headers(site)


def test_a_goal_that_only_looks_may_not_send(walks: Walks, site: Site) -> None:
    outcome = ask(walks, site, "POST", verb="find")
    assert (outcome.state, code(outcome), site.connections) == ("denied", "INTENT_MISMATCH", 0)


def test_each_sending_has_the_key_of_its_attempt(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("ok", "text/plain")
    outcome = ask(walks, site, "POST")
    begun = [
        json.loads(envelope.body.result)
        for envelope in walks.home.journal.envelopes(outcome.intent_id)
        if envelope.kind == "plan.step" and getattr(envelope.body, "status", "") == "running"
    ]
    assert headers(site)["idempotency-key"] == begun[0]["key"]


def test_an_error_says_what_the_host_says_of_it(walks: Walks, site: Site) -> None:
    site.pages["/"] = page('{"error": "title is\nmissing"}', "application/json", "422 Unprocessable")
    outcome = ask(walks, site, "POST")
    assert code(outcome) == "HTTP_STATUS"
    assert outcome.failure is not None
    assert '422 (Unprocessable): {"error": "title is missing"}' in outcome.failure.message


def test_given_headers_go_along(walks: Walks, site: Site) -> None:
    site.pages["/"] = page("", "", "304 Not Modified")
    given = {"Accept": "application/json", "If-None-Match": '"x"', "X-Trace": "1", "Notion-Version": "2"}
    outcome = ask(walks, site, "GET", headers=given)
    assert outcome.outputs["n1"]["status"] == 304  # type: ignore[index]
    assert given.items() <= {name.title(): value for name, value in headers(site).items()}.items()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Host",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "Cookie",
            "Authorization",
            "X-Api-Key",
        ),
        *("Proxy-Authorization", "X-Forwarded-For", "x-http-method-override", "X-Method-Override", "Range"),
        *(
            "X-Original-URL",
            "Idempotency-Key",
            "X-Auth-Token",
            "Upgrade",
            "TE",
            "Expect",
            "",
            "X-A: b",
            "X-é",
        ),
    ],
)
def test_no_other_header_does(walks: Walks, site: Site, name: str) -> None:
    outcome = ask(walks, site, "GET", headers={name: "x"})
    assert (code(outcome), site.connections) == ("INVALID_ARGS", 0)


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ({"body": "x", "json": {}}, "BAD_REQUEST"),
        ({"method": "GET", "body": "x"}, "BAD_REQUEST"),
        ({"method": "HEAD", "json": {}}, "BAD_REQUEST"),
        ({"content_type": "text/plain"}, "BAD_REQUEST"),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "BAD_REQUEST"),
        ({"content_type": "text/plain\r\nX: y", "body": ""}, "INVALID_ARGS"),
        ({"headers": {"X-A": "1\r\nX-B: 2"}}, "INVALID_ARGS"),
        ({"method": "TRACE"}, "INVALID_ARGS"),
        ({"method": "post"}, "INVALID_ARGS"),
        ({"json": [1]}, "INVALID_ARGS"),
        ({"json": "{"}, "INVALID_ARGS"),
    ],
)
def test_a_request_that_contradicts_itself_is_not_made(
    walks: Walks, site: Site, args: dict[str, Any], wanted: str
) -> None:
    outcome = ask(walks, site, args.pop("method", "POST"), **args)
    assert (code(outcome), site.connections) == (wanted, 0)


def test_values_of_earlier_nodes_stay_values_inside_of_json(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    site.pages["/a"] = page('{"n": 7, "list": [1, {"x": "y"}]}', "application/json")
    site.pages["/b"] = page("ok", "text/plain")
    body = '{"n": "${n1.output.json.n}", "list": "${n1.output.json.list}", "say": "n=${n1.output.json.n}!"}'
    first = tool("n1", "http/request", "network", method="GET", url=f"{site.origin}/a")
    second = tool("n2", "http/request", "network", method="POST", url=f"{site.origin}/b", json=body)
    outcome = walks.go(sequence("n0", first, second), verb="deliver", people=Says("approve"))
    assert outcome.state == "completed", outcome.failure
    assert json.loads(site.bodies[1]) == {"n": 7, "list": [1, {"x": "y"}], "say": "n=7!"}


def test_an_answer_cannot_add_fields_to_the_json_that_it_is_written_into(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    evil = 'x", "admin": true, "y": "'
    site.pages["/a"] = page(evil, "text/plain")
    site.pages["/b"] = page("ok", "text/plain")
    first = tool("n1", "http/request", "network", method="GET", url=f"{site.origin}/a")
    body = '{"title": "about ${n1.output.text}"}'
    second = tool("n2", "http/request", "network", method="POST", url=f"{site.origin}/b", json=body)
    outcome = walks.go(sequence("n0", first, second), verb="deliver", people=Says("approve"))
    assert outcome.state == "completed", outcome.failure
    assert json.loads(site.bodies[1]) == {"title": f"about {evil}"}


@pytest.mark.parametrize(("status", "method"), [("303 See Other", "PUT"), ("302 Found", "POST")])
def test_a_sending_that_is_answered_elsewhere_is_looked_up_there(
    walks: Walks, site: Site, status: str, method: str
) -> None:
    site.pages["/"] = moved("/done", status)
    site.pages["/done"] = page("done", "text/plain")
    outcome = ask(walks, site, method, body="x")
    assert outcome.outputs["n1"]["text"] == "done"  # type: ignore[index]
    assert [request.split(" ")[0] for request in site.requests] == [method, "GET"]
    assert site.bodies == [b"x", b""]
    assert {"idempotency-key", "content-type", "content-length"}.isdisjoint(headers(site))


def test_a_sending_that_moved_on_the_same_host_is_sent_again(walks: Walks, site: Site) -> None:
    site.pages["/"] = moved("/new", "308 Permanent Redirect")
    site.pages["/new"] = page("ok", "text/plain")
    assert ask(walks, site, "POST", body="x").state == "completed"
    assert site.bodies == [b"x", b"x"]


@pytest.mark.parametrize("kind", ["bearer", "basic_auth", "api_key"])
def test_a_credential_is_sent_and_nothing_else_of_it_is_left(walks: Walks, site: Site, kind: str) -> None:
    sent = {
        "bearer": ("authorization", f"Bearer {TOKEN}"),
        "basic_auth": ("authorization", f"Basic {base64.b64encode(TOKEN.encode()).decode()}"),
        "api_key": ("private-token", TOKEN),
    }

    def echo(connection: socket.socket) -> None:
        connection.sendall(page(json.dumps({"got": site.requests[-1]}), "application/json"))

    site.pages["/"] = echo
    more = {"api_key_header": "PRIVATE-TOKEN"} if kind == "api_key" else {}
    people = Says("approve")
    outcome = ask(
        walks, site, "POST", people=people, environment={"API": TOKEN}, **{kind: "$env:API"}, **more
    )
    assert outcome.state == "completed", outcome.failure
    name, value = sent[kind]
    assert headers(site)[name] == value
    assert "$env:API" in people.asked[0].question
    everywhere = json.dumps([outcome.to_json(), [event.preview for event in walks.watch.events]])
    assert TOKEN not in everywhere
    assert sent[kind][1].split()[-1] not in everywhere
    assert "[redacted: " in everywhere


@pytest.mark.parametrize(
    "both",
    [
        {"bearer": "$env:API", "basic_auth": "$env:API"},
        {"bearer": "$env:API", "api_key_header": "authorization"},
    ],
)
def test_two_credentials_for_one_header_are_none(walks: Walks, site: Site, both: dict[str, str]) -> None:
    given = both if "basic_auth" in both else {**both, "api_key": "$env:API"}
    outcome = ask(walks, site, "GET", environment={"API": TOKEN}, **given)
    assert (code(outcome), site.connections) == ("BAD_REQUEST", 0)


@pytest.mark.parametrize("kind", ["bearer", "basic_auth", "api_key"])
def test_a_credential_written_out_is_no_plan(walks: Walks, site: Site, kind: str) -> None:
    outcome = ask(walks, site, "GET", **{kind: "hunter2hunter2"})
    assert (outcome.state, code(outcome)) == ("denied", "SECRET_INLINE")


def test_a_missing_variable_is_told_before_anything_runs(walks: Walks, site: Site) -> None:
    granted(walks, site.origin)
    node = tool("n2", "http/request", "network", method="GET", url=f"{site.origin}/", bearer="$env:API")
    for environment, why in (
        ({}, "is not set"),
        ({"API": ""}, "is empty"),
        ({"API": "short"}, "8 to 8192"),
        ({"API": "a" * 20 + "\r\nX-Evil: 1"}, "line breaks"),
    ):
        intent = walks.accept(sequence("n0", tool("n1", "time/now"), node), verb="find")
        outcome = walks.run(intent, environment=environment)
        assert (outcome.state, code(outcome)) == ("denied", "CREDENTIAL_MISSING")
        assert outcome.failure is not None
        assert why in outcome.failure.message
        assert "export API=" in outcome.failure.fix
        assert outcome.nodes == {}
    assert site.connections == 0


def test_a_credential_goes_over_an_encrypted_way_or_nowhere(
    walks: Walks, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted(walks, "http://10.0.0.5")
    node = tool("n1", "http/request", "network", method="GET", url="http://10.0.0.5/", bearer="$env:API")
    outcome = walks.run(walks.accept(node, verb="find"), environment={"API": TOKEN})
    assert code(outcome) == "CREDENTIAL_IN_CLEAR"
