"""Credentials: hosts that send them back, plans that ask for others, and what is left of them: nothing."""

from __future__ import annotations

import base64
import html
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from walks import Says, Walks, granted, parallel, sequence, tool
from websites import Site, moved, page, website

from executor import Outcome

# No known shape, and a character of each kind that encodings change.
SECRET = 'plain-Words & "quotes" <tags> + 100% ünïcode/slash'
TOKEN = "plain-words+are/secret=too&here"


@pytest.fixture
def site() -> Iterator[Site]:
    with website() as found:
        yield found


def request(id: str, site: Site, path: str = "/", method: str = "GET", **args: str) -> dict[str, Any]:
    return tool(id, "http/request", "network", method=method, url=f"{site.origin}{path}", **args)


def code(outcome: Outcome) -> str:
    return outcome.failure.code if outcome.failure else outcome.state


def spellings(secret: str) -> list[bytes]:
    """What would give a secret away, whatever stands around it."""
    data = secret.encode()
    plain = [secret, json.dumps(secret)[1:-1], html.escape(secret), quote(secret, safe=""), quote(secret)]
    found = [text.encode() for text in plain] + [data.hex().encode(), data[:12], data[-12:]]
    for before in range(3):
        whole = base64.b64encode(bytes(before) + data).rstrip(b"=")
        found.append(whole[4:-2])
        found.append(whole[4:-2].replace(b"+", b"-").replace(b"/", b"_"))
    return found


def require_nowhere(secret: str, *texts: object, folders: tuple[Path, ...] = ()) -> None:
    """No spelling of the secret is in these values as JSON, nor in any byte of any file of these folders."""
    data = {"values": json.dumps(texts, default=str, ensure_ascii=False).encode()}
    for folder in folders:
        data |= {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = [(name, one) for name, value in data.items() for one in spellings(secret) if one in value]
    assert not found


def echo(site: Site, how: str) -> Any:
    """A page that sends back what came, in a way of its own."""

    def answer(connection: socket.socket) -> None:
        head = site.requests[-1]
        sent = next(line for line in head.splitlines() if line.lower().startswith(("authorization", "x-api")))
        value = sent.partition(": ")[2].removeprefix("Bearer ").removeprefix("Basic ")
        pages = {
            "head": page(head, "text/plain"),
            "json": page(json.dumps({"headers": {value: [value, head]}}), "application/json"),
            "html": page(f"<title>{html.escape(value)}</title><p>{html.escape(head)}</p>"),
            "error": page(head, "text/plain", "403 Forbidden"),
            "reason": page("no", "text/plain", f"401 {value}"),
            "base64": page(base64.b64encode(f"xy{head}".encode()), "text/plain"),
            "hex": page(head.encode().hex(), "text/plain"),
            "url": moved(f"/done?{quote(value, safe='')}"),
            "location": page(
                "ok", "text/plain", "201 Created", Location=f"/x/{quote(value)}", ETag=f'"{value}"'
            ),
            "type": page("ok", f"text/plain; x={quote(value, safe='')}"),
            "cut": page(head[: head.index(value) + len(value) - 3], "text/plain"),
        }
        connection.sendall(pages[how])

    return answer


@pytest.mark.parametrize(
    "how", ["head", "json", "html", "error", "reason", "base64", "hex", "url", "location", "type", "cut"]
)
@pytest.mark.parametrize("kind", ["bearer", "api_key", "basic_auth"])
def test_whatever_a_host_sends_back_nothing_of_a_credential_is_kept(
    walks: Walks, site: Site, how: str, kind: str
) -> None:
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = echo(site, how)
    secret = SECRET if kind == "basic_auth" else TOKEN
    call = request("n1", site, method="POST", **{kind: "$env:API"})
    # What was sent once may come back later, to a call without it.
    later = tool("n2", "http/get", "network", url=f"{site.origin}/later")
    site.pages["/later"] = page(f"you said {secret}", "text/plain")
    site.pages[f"/done?{quote(secret, safe='')}"] = page("ok", "text/plain")
    people = Says("approve")
    outcome = walks.run(
        walks.accept(parallel("n0", sequence("n3", call, later)), verb="deliver"),
        people=people,
        environment={"API": secret},
    )
    sent = base64.b64encode(secret.encode()).decode() if kind == "basic_auth" else secret
    assert sent in site.requests[0]
    said = [
        outcome.to_json(),
        [asdict(question) for question in people.asked],
        [(event.preview, event.error) for event in walks.watch.events],
    ]
    home = walks.home.path
    walks.home.close()
    require_nowhere(secret, said, folders=(home, walks.workspace))


def test_a_redirect_to_another_host_goes_without_the_credential(walks: Walks, site: Site) -> None:
    with website({"/": page("ok", "text/plain")}) as other:
        granted(walks, site.origin, other.origin, also=["shell"])
        site.pages["/"] = moved(f"{other.origin}/")
        node = request("n1", site, bearer="$env:API", headers='{"X-Trace": "a"}')
        outcome = walks.run(walks.accept(node, verb="find"), environment={"API": TOKEN})
        assert outcome.state == "completed", outcome.failure
        assert TOKEN in site.requests[0]
        assert "authorization" not in other.requests[0].lower()
        assert "x-trace" not in other.requests[0].lower()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_what_is_sent_is_never_sent_on_to_another_host(
    walks: Walks, site: Site, method: str, status: str
) -> None:
    with website({"/": page("ok", "text/plain")}) as other:
        granted(walks, site.origin, other.origin, also=["shell"])
        site.pages["/"] = moved(f"{other.origin}/", status)
        node = request("n1", site, method=method, bearer="$env:API", body="the words")
        intent = walks.accept(node, verb="deliver")
        outcome = walks.run(intent, people=Says("approve"), environment={"API": TOKEN})
        if method == "POST" and status[:3] in ("301", "302"):  # looked up there, as browsers do
            assert outcome.state == "completed"
            assert other.requests[0].startswith("GET / ")
            assert "authorization" not in other.requests[0].lower()
        else:
            assert code(outcome) == "REDIRECT_REFUSED"
        assert b"".join(other.bodies) == b""


def test_an_answer_of_a_host_does_not_choose_which_variable_is_read(walks: Walks, site: Site) -> None:
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = page("$env:OTHER_SECRET", "text/plain")
    first = request("n1", site)
    second = request("n2", site, method="POST", bearer="${n1.output.text}")
    intent = walks.accept(sequence("n0", first, second), verb="deliver")
    outcome = walks.run(intent, people=Says("approve"), environment={"OTHER_SECRET": TOKEN})
    assert (outcome.state, code(outcome)) == ("denied", "INVALID_ARGS")
    assert outcome.failure is not None
    assert "named in the plan itself" in outcome.failure.message
    assert len(site.requests) == 1


def test_a_credential_to_an_address_that_an_answer_named_is_asked_about(walks: Walks, site: Site) -> None:
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = page(f"{site.origin}/elsewhere", "text/plain")
    site.pages["/elsewhere"] = page("ok", "text/plain")
    second = tool("n2", "http/request", "network", method="GET", url="${n1.output.text}", bearer="$env:API")
    plan = sequence("n0", request("n1", site), second)
    people = Says("deny")
    outcome = walks.run(walks.accept(plan, verb="find"), people=people, environment={"API": TOKEN})
    assert (code(outcome), site.paths) == ("GATE_DENIED", ["/"])
    assert "an address that is not written in the plan" in people.asked[0].question
    intent = walks.propose(plan, verb="find")
    walker = walks.walker(environment={"API": TOKEN})
    assert [verdict.decision for verdict in walker.preflight(intent)] == ["allow", "ask"]
    walker.close()


@pytest.mark.parametrize(
    "node",
    [
        tool("n1", "fs/write", "write", path="a.txt", content="$env:API"),
        tool("n1", "fs/write", "write", path="$env:API", content="x"),
        tool("n1", "http/get", "network", url="$env:API"),
        tool("n1", "http/request", "network", method="POST", url="https://e.org", body="$env:API"),
        tool("n1", "http/request", "network", method="GET", url="https://e.org", api_key_header="$env:API"),
        tool("n1", "process/tests", "shell", select="$env:API"),
    ],
)
def test_no_other_argument_takes_a_credential(walks: Walks, node: dict[str, Any]) -> None:
    granted(walks, "https://e.org", also=["shell"])
    intent = walks.accept(node, verb="deliver")
    outcome = walks.run(intent, people=Says("approve"), environment={"API": TOKEN})
    assert (outcome.state, code(outcome)) == ("denied", "INVALID_ARGS")
    require_nowhere(TOKEN, outcome.to_json(), folders=(walks.workspace,))


@pytest.mark.parametrize(
    "value", ["Bearer $env:API", "$env:API ", "$ENV:API", "$env:A-B", "$env:", TOKEN, "$env:API\n", "${env}"]
)
def test_a_credential_is_a_variable_and_nothing_around_it(walks: Walks, site: Site, value: str) -> None:
    granted(walks, site.origin, also=["shell"])
    outcome = walks.run(
        walks.accept(request("n1", site, bearer=value), verb="find"), environment={"API": TOKEN}
    )
    assert (outcome.state, site.connections) == ("denied", 0)
    assert code(outcome) in ("INVALID_ARGS", "SECRET_INLINE", "REFERENCE_MALFORMED")


def test_an_approval_is_of_the_variable_that_was_named(walks: Walks, site: Site) -> None:
    """The same call with another variable is another call."""
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = page("ok", "text/plain")
    people = Says("approve", "approve")
    for variable in ("API", "OTHER"):
        node = request("n1", site, method="POST", bearer=f"$env:{variable}")
        intent = walks.accept(node, verb="deliver")
        walks.run(intent, people=people, environment={"API": TOKEN, "OTHER": TOKEN + "2"})
    assert ["$env:API" in asked.question for asked in people.asked] == [True, False]
    assert people.asked[0].binding != people.asked[1].binding


@pytest.mark.usefixtures("unsandboxed")
def test_children_see_nothing_of_it(walks: Walks, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API", TOKEN)
    python = walks.write(".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = page("ok", "text/plain")
    walks.write("pytest.ini", "[pytest]\n")
    walks.write(
        "test_look.py",
        "import os, pathlib\n"
        "def test_look():\n"
        "    seen = [repr(dict(os.environ))]\n"
        "    for place in pathlib.Path('/proc').glob('[0-9]*/cmdline'):\n"
        "        try:\n"
        "            seen.append(place.read_bytes().decode('utf-8', 'replace'))\n"
        "        except OSError:\n"
        "            pass\n"
        "    pathlib.Path('seen.txt').write_text('\\n'.join(seen))\n",
    )
    plan = sequence(
        "n0", request("n1", site, bearer="$env:API"), tool("n2", "process/tests", "shell", suite="pytest")
    )
    outcome = walks.run(walks.accept(plan), people=Says("approve", "approve"), environment=os.environ)
    assert outcome.state == "completed", outcome.failure
    assert outcome.outputs["n2"]["passed"], outcome.outputs["n2"]  # type: ignore[index]
    assert "PATH" in (walks.workspace / "seen.txt").read_text()
    require_nowhere(TOKEN, outcome.to_json(), folders=(walks.workspace,))


def test_the_command_line_shows_and_keeps_nothing_of_it(walks: Walks, site: Site, tmp_path: Path) -> None:
    granted(walks, site.origin, also=["shell"])
    site.pages["/"] = echo(site, "head")
    node = request("n1", site, method="POST", bearer="$env:API")
    intent = walks.accept(node, verb="deliver")
    home = walks.home.path
    walks.home.close()
    environment = {**os.environ, "MCL_HOME": str(home), "API": TOKEN}
    said: list[str] = []
    for command in (
        ["plan", intent, "--json"],
        ["run", intent, "--json", "--yes-gates"],
        ["show", intent, "--json"],
        ["log", intent, "--limit", "0"],
        ["log", "verify"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "mcl", *command],
            cwd=walks.workspace,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        said += [done.stdout, done.stderr]
    assert f"Bearer {TOKEN}" in site.requests[0]
    assert "[redacted" in said[2]
    require_nowhere(TOKEN, *said, folders=(home, walks.workspace))
