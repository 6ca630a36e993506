"""Operations of a web service that describes itself are tools of a server: entered, approved, asked for,
called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from executor.gate.grants import Grants
from mcl.catalog.servers import Servers
from mcl.cli.main import main
from mcl.core.errors import InputError, McpError
from mcl.plugins.derived.openapi import read_openapi
from mcl.plugins.mcp import servers
from mcl.usecases import accept, run, tools
from tests.derived.conftest import Shelf

PETSTORE = Path(__file__).with_name("petstore.yaml")


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


@dataclass
class Store:
    """A petstore on this machine. seen: what it was asked."""

    url: str
    seen: list[Seen] = field(default_factory=list)


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store("")

    class Handler(BaseHTTPRequestHandler):
        pets: ClassVar[dict[str, dict[str, Any]]] = {"7": {"id": 7, "name": "Misse", "tag": "cat"}}

        def answer(self) -> None:
            where = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(data) if data else None
            made.seen.append(Seen(self.command, where.path, parse_qs(where.query), dict(self.headers), body))
            id = where.path.rpartition("/")[2]
            if where.path == "/v1/pets" and self.command == "GET":
                self.say(200, list(self.pets.values()))
            elif where.path == "/v1/pets":
                self.say(200, {"id": 8, **body})
            elif id == "301":
                self.send_response(301)
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
                self.end_headers()
            elif id in self.pets:
                self.say(200, self.pets[id])
            else:
                self.say(404, {"message": "no such pet"})

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def say(self, status: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}/v1"
    Thread(target=server.serve_forever, daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def entered(shelf: Shelf, store: Store, *more: str) -> None:
    given = ["server", "add", "pets", "--openapi", str(PETSTORE), "--url", store.url, *more]
    assert main(given) == 0
    (checked,) = servers.check("pets", home=shelf.home)
    assert checked.up, checked.status.problem
    for one in tools.list(home=shelf.home):
        if one.outside is not None and one.standing == "new":
            tools.approve(one.name, home=shelf.home)
    grants, agent = Grants(shelf.home), shelf.home.keyring.agent.did
    if "network" not in grants.classes(agent):
        assert main(["grant", "add", "network"]) == 0


def test_a_document_is_read_as_it_stands() -> None:
    found = read_openapi(PETSTORE)
    said = {one.tool["name"]: (one.method, one.path) for one in found.operations}
    assert said == {
        "findPets": ("GET", "/pets"),
        "addPet": ("POST", "/pets"),
        "find_pet_by_id": ("GET", "/pets/{id}"),
        "replacePet": ("PUT", "/pets/{id}"),
        "deletePet": ("DELETE", "/pets/{id}"),
    }
    assert found.left == {"POST /pets/{id}/photo": "it takes a body of image/png, and none of JSON"}
    replace = found.operations[3]
    schema = replace.tool["inputSchema"]
    assert schema["required"] == ["id", "name"]
    assert schema["properties"]["tag"] == {"type": ["string", "null"]}
    assert replace.places["name"] == ("body", "name")
    assert len(json.dumps(schema)) < 20_000  # a mother has a mother, and so on
    assert [one.tool["annotations"]["destructiveHint"] for one in found.operations] == [
        *(False, False, False, True, True)
    ]


def test_an_operation_is_asked_for_in_words_signed_and_called(
    shelf: Shelf, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PETS_TOKEN", "tok-1234567890")
    entered(shelf, store, "--header", "Authorization: Bearer $env:PETS_TOKEN")
    assert set(shelf.derived.by_id) == {
        *("pets.findpets-" + shelf.slug("findPets"), "pets.addpet-" + shelf.slug("addPet")),
        *("pets.find_pet_by_id", "pets.replacepet-" + shelf.slug("replacePet")),
        "pets.deletepet-" + shelf.slug("deletePet"),
    }
    made = shelf.compile_kept("return the pets of the system with limit 5")
    assert made.intent.compile_metadata.skill_id.startswith("pets.findpets")
    assert made.intent.frame.verb == "find"  # a GET reads
    accept.accept(made.intent.id, home=shelf.home)
    ended = run.run(made.intent.id, workspace=tmp_path, home=shelf.home)
    assert ended.failure is None, ended.failure
    (output,) = ended.outputs.values()
    assert output["structured"] == {"value": [{"id": 7, "name": "Misse", "tag": "cat"}]}
    assert [(one.method, one.path, one.query) for one in store.seen] == [
        ("GET", "/v1/pets", {"limit": ["5"]})
    ]
    assert store.seen[0].headers["Authorization"] == "Bearer tok-1234567890"
    journal = b"".join(row.wire for row in shelf.home.journal.rows())
    assert b"tok-1234567890" not in journal


def test_what_writes_or_takes_away_is_asked_about_each_time(
    shelf: Shelf, store: Store, tmp_path: Path
) -> None:
    entered(shelf, store)
    for name, slots, told in (
        ("addPet", {"name": "Rex", "state": "sold"}, ("POST", "/v1/pets", {"name": "Rex", "state": "sold"})),
        ("deletePet", {"id": "9"}, ("DELETE", "/v1/pets/9", None)),
    ):
        id = f"pets.{name.lower()}-{shelf.slug(name)}"
        made = shelf.compile_kept("x", skill=id, slots=slots)
        accept.accept(made.intent.id, home=shelf.home)
        ended = run.run(made.intent.id, workspace=tmp_path, home=shelf.home)  # nobody is there to say yes
        assert ended.failure is not None
        assert store.seen == []
        assert main(["compile", "x", "--skill", id, *(f"--slot={k}={v}" for k, v in slots.items())]) == 0
        assert main(["accept", "@last", "--yes"]) == 0
        main(["run", "@last", "--yes-gates"])
        assert [(one.method, one.path, one.body) for one in store.seen] == [told]
        store.seen.clear()


def test_answers_that_are_none_fail_and_no_redirect_is_followed(
    shelf: Shelf, store: Store, tmp_path: Path
) -> None:
    entered(shelf, store)
    for id, said in (("12", "answers 404"), ("301", "is not followed")):
        made = shelf.compile_kept("x", skill="pets.find_pet_by_id", slots={"id": id})
        accept.accept(made.intent.id, home=shelf.home)
        ended = run.run(made.intent.id, workspace=tmp_path, home=shelf.home)
        assert ended.failure is not None
        assert said in ended.failure.message


def test_a_file_of_operations_that_was_changed_is_not_served(shelf: Shelf, store: Store) -> None:
    entered(shelf, store)
    (place,) = (shelf.home.path / "services").iterdir()
    place.write_text(place.read_text().replace("/pets/{id}", "/admin/{id}"))
    (checked,) = servers.check("pets", home=shelf.home)
    assert not checked.up
    assert store.seen == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{}", "OPENAPI_UNREADABLE"),
        ("swagger: '2.0'\n", "OPENAPI_UNREADABLE"),
        ("[" * 5000, "OPENAPI_UNREADABLE"),
        ("a: &a [*a]\n", "OPENAPI_UNREADABLE"),
        ('{"openapi": "3.1.0", "paths": {}}', "OPENAPI_EMPTY"),
        (
            '{"openapi": "3.1.0", "paths": {"/../x": {"get": {}}, "//evil.org/x": {"get": {}}}}',
            "OPENAPI_EMPTY",
        ),
        ('{"openapi": "3.1.0", "paths": {"/x/{id}": {"get": {}}}}', "OPENAPI_EMPTY"),
        ('{"openapi": "3.1.0", "paths": {"/x": {"get": {}}}}', "OPENAPI_ADDRESS"),
        (
            '{"openapi": "3.1.0", "servers": [{"url": "ftp://x.org"}], "paths": {"/x": {"get": {}}}}',
            "OPENAPI_ADDRESS",
        ),
        (
            '{"openapi": "3.1.0", "servers": [{"url": "http://x.org"}], "paths": {"/x": {"get": {}}}}',
            "BAD_SERVER",
        ),
    ],
)
def test_what_is_no_document_of_a_service_enters_nothing(
    shelf: Shelf, tmp_path: Path, text: str, code: str
) -> None:
    place = tmp_path / "api.yaml"
    place.write_text(text)
    with pytest.raises((InputError, McpError)) as caught:
        servers.add_described("pets", place, home=shelf.home)
    assert caught.value.code == code
    assert Servers(shelf.home).list() == ()
    assert not (shelf.home.path / "services").exists()


def test_a_secret_that_is_written_out_is_refused(shelf: Shelf, store: Store) -> None:
    key = "Bearer ghp_" + "a1B2" * 9
    with pytest.raises(McpError) as caught:
        servers.add_described(
            "pets", PETSTORE, url=store.url, headers=[f"Authorization: {key}"], home=shelf.home
        )
    assert caught.value.code == "SECRET_IN_SERVER"


@pytest.mark.parametrize("value", ["..", ".", "", "../admin", "a/b?c#d", "%2e%2e"])
def test_no_value_leaves_its_place_in_the_address(store: Store, value: str) -> None:
    from mcl.plugins.derived.bridge import BridgedService

    said = {
        "title": "x",
        "base": store.url,
        "operations": [one.to_json() for one in read_openapi(PETSTORE).operations],
    }
    answer = BridgedService(said, {}).call("find_pet_by_id", {"id": value})
    assert answer["isError"]
    paths = [one.path for one in store.seen]
    assert paths == [] if value in ("..", ".", "") else len(paths) == 1 and paths[0].count("/") == 3
