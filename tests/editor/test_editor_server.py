"""The server as a process: with a client of the same library, and with bytes written by hand."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from editor_texts import SKILL
from lsprotocol import types
from pygls.lsp.client import LanguageClient

COMMAND = [sys.executable, "-m", "mcl", "skill", "lsp"]
SHOWN = "textDocument/publishDiagnostics"
PATIENCE = 60  # seconds; a machine may be busy
Answer = TypeVar("Answer")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "MCL_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}


class Editor(LanguageClient):
    """A client that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.diagnostics: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: asyncio.Queue[types.ShowMessageParams] = asyncio.Queue()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def shown(params: types.PublishDiagnosticsParams) -> None:
            self.diagnostics.put_nowait(params)

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            self.messages.put_nowait(params)

    async def told(self) -> types.PublishDiagnosticsParams:
        return await self.diagnostics.get()

    def open(self, uri: str, text: str) -> None:
        self.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "mtx", 1, text))
        )

    def change(self, uri: str, version: int, text: str) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                document, [types.TextDocumentContentChangeWholeDocument(text)]
            )
        )  # fmt: skip


@asynccontextmanager
async def editor(env: dict[str, str], folder: Path, **offers: Any):
    client = Editor()
    await client.start_io(*COMMAND, env=env, cwd=folder)
    process = client._server
    assert process is not None
    try:
        capabilities = types.ClientCapabilities(**offers)
        answer = await client.initialize_async(
            types.InitializeParams(capabilities, process_id=os.getpid(), root_uri=folder.as_uri())
        )
        client.initialized(types.InitializedParams())
        yield client, answer
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def run(talk: Coroutine[Any, Any, Answer]) -> Answer:
    """Have a whole talk; a server that hangs, or that died and will never answer, fails its test."""
    return asyncio.run(asyncio.wait_for(talk, PATIENCE))


def test_an_editor_opens_types_asks_and_leaves(home: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "skills" / "demo"
    folder.mkdir(parents=True)
    path = folder / "SKILL.mtx"
    path.write_text("§NOT WHAT IS OPEN\n")
    uri = path.as_uri()
    rows = SKILL.split("\n")

    def position(line: str, character: int) -> types.Position:
        return types.Position(rows.index(line), character)

    async def talk() -> None:
        async with editor(home, tmp_path) as (client, answer):
            document = types.TextDocumentIdentifier(uri)
            assert answer.capabilities.position_encoding == "utf-16"
            client.open(uri, SKILL)
            assert list((await client.told()).diagnostics) == []

            broken = SKILL.replace("  optional", "  optionl", 1)
            client.change(uri, 2, broken)
            told = await client.told()
            (wrong,) = told.diagnostics
            assert (told.uri, wrong.code, wrong.source) == (uri, "UNEXPECTED", "mcl")
            assert wrong.severity == types.DiagnosticSeverity.Error
            assert 'did you mean "optional"?' in wrong.message
            line = broken.split("\n").index("  optionl")
            assert wrong.range == types.Range(types.Position(line, 2), types.Position(line, 9))

            options = types.FormattingOptions(2, True)
            formatting = types.DocumentFormattingParams(document, options)
            assert await client.text_document_formatting_async(formatting) is None
            assert "optionl" in (await client.messages.get()).message

            context = types.CodeActionContext([wrong])
            (action,) = await client.text_document_code_action_async(
                types.CodeActionParams(document, wrong.range, context)
            )
            assert isinstance(action, types.CodeAction)
            assert action.edit is not None
            (change,) = (action.edit.changes or {})[uri]
            assert (change.range, change.new_text) == (wrong.range, "optional")

            client.change(uri, 3, SKILL.replace("id=demo", "id =  demo"))
            assert list((await client.told()).diagnostics) == []
            (edit,) = await client.text_document_formatting_async(formatting)
            assert edit.new_text == "id=demo\n"
            assert edit.range == types.Range(types.Position(1, 0), types.Position(2, 0))

            client.change(uri, 4, SKILL)
            await client.told()
            assert not await client.text_document_formatting_async(formatting)
            found = await client.text_document_completion_async(
                types.CompletionParams(document, position("mcl.verbs=find analyze", 15))
            )
            assert isinstance(found, types.CompletionList)
            assert "build" in {item.label for item in found.items}
            found = await client.text_document_completion_async(
                types.CompletionParams(document, position("matrix://tool/fs/read@1.0.0", 27))
            )
            assert "matrix://tool/fs/write@1.0.0" in {item.label for item in found.items}
            told_about = await client.text_document_hover_async(
                types.HoverParams(document, position("matrix://tool/fs/read@1.0.0", 20))
            )
            assert isinstance(told_about.contents, types.MarkupContent)
            assert "max_bytes" in told_about.contents.value
            there = await client.text_document_definition_async(
                types.DefinitionParams(document, position("  unknown slot.target", 16))
            )
            start = position("slot target: ArtifactRef", 5)
            end = types.Position(start.line, 11)
            assert there == types.Location(uri, types.Range(start, end))
            outline = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
            assert [one.name for one in outline][:2] == ["§SKILL", "§INPUTS"]

            client.text_document_did_close(types.DidCloseTextDocumentParams(document))
            assert list((await client.told()).diagnostics) == []

    run(talk())


# display="🙂🙂" x: where the x stands
@pytest.mark.parametrize(
    ("encoding", "column"),
    [
        ("utf-8", 19),
        ("utf-16", 15),
        (None, 15),
        pytest.param("utf-32", 13, marks=pytest.mark.slow),  # each is a server of its own
    ],
)
def test_places_are_counted_as_the_client_and_the_server_agreed(
    encoding: str | None, column: int, home: dict[str, str], tmp_path: Path
) -> None:
    offered = [encoding, "utf-16"] if encoding else None
    general = types.GeneralClientCapabilities(position_encodings=offered)

    async def talk() -> None:
        async with editor(home, tmp_path, general=general) as (client, answer):
            assert answer.capabilities.position_encoding == (encoding or "utf-16")
            client.open("file:///demo/SKILL.mtx", SKILL.replace("id=demo", 'display="🙂🙂" x\nid=demo'))
            (wrong,) = (await client.told()).diagnostics
            assert wrong.code == "JUNK"
            assert wrong.range.start == types.Position(1, column)

    run(talk())


def test_snippets_are_given_to_editors_that_take_them(home: dict[str, str], tmp_path: Path) -> None:
    takes = types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(snippet_support=True)
        )
    )

    async def ask(**offers: Any) -> types.CompletionItem:
        async with editor(home, tmp_path, **offers) as (client, _):
            client.open("untitled:Untitled-1", "§PROCEDURE\n\n")
            params = types.CompletionParams(
                types.TextDocumentIdentifier("untitled:Untitled-1"), types.Position(1, 0)
            )
            found = await client.text_document_completion_async(params)
            return next(item for item in found.items if item.label == "prompt")

    plain, snippet = run(ask()), run(ask(text_document=takes))
    assert plain.insert_text_format == types.InsertTextFormat.PlainText
    assert plain.text_edit is not None
    assert plain.text_edit.new_text == "prompt"
    assert snippet.insert_text_format == types.InsertTextFormat.Snippet
    assert snippet.text_edit is not None
    assert snippet.text_edit.new_text.endswith("\nend")


class Wire:
    """The protocol's bytes, written and read by hand."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=folder,
        )
        self.watch = threading.Timer(PATIENCE, self.process.kill)  # a server that hangs fails its test
        self.watch.start()

    def send(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def call(self, method: str, params: object = None, id: int | None = None) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        message |= {"params": params} if params is not None else {}
        message |= {"id": id} if id is not None else {}
        self.send(json.dumps(message).encode())

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line.endswith(b"\r\n"), line
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def until(self, **wanted: object) -> dict[str, Any]:
        while True:
            message = self.receive()
            if all(message.get(key) == value for key, value in wanted.items()):
                return message


@pytest.fixture
def wire(home: dict[str, str], tmp_path: Path) -> Iterator[Wire]:
    found = Wire(home, tmp_path)
    yield found
    found.watch.cancel()
    found.process.kill()
    found.process.communicate()


def greet(wire: Wire) -> dict[str, Any]:
    wire.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    answer = wire.until(id=1)
    wire.call("initialized", {})
    return answer["result"]["capabilities"]


def open_text(wire: Wire, text: str, uri: str = "file:///x/demo/SKILL.mtx") -> dict[str, Any]:
    document = {"uri": uri, "languageId": "mtx", "version": 1, "text": text}
    wire.call("textDocument/didOpen", {"textDocument": document})
    return wire.until(method=SHOWN)["params"]


def test_a_client_written_by_hand_is_served(wire: Wire) -> None:
    capabilities = greet(wire)
    assert capabilities["textDocumentSync"]["openClose"] is True
    assert capabilities["documentFormattingProvider"]
    told = open_text(wire, SKILL.replace("\n", "\r\n").replace("id=demo", 'display="🙂" x\r\nid=demo'))
    (wrong,) = told["diagnostics"]
    assert wrong["code"] == "JUNK"
    assert wrong["range"]["start"] == {"line": 1, "character": 13}
    wire.call("shutdown", id=2)
    assert wire.until(id=2)["result"] is None
    wire.call("exit")
    out, err = wire.process.communicate(timeout=PATIENCE)
    assert (wire.process.returncode, out, err) == (0, b"", b"")


def test_the_process_ends_when_the_client_closes_its_end(wire: Wire) -> None:
    greet(wire)
    open_text(wire, SKILL)
    out, _ = wire.process.communicate(timeout=PATIENCE)
    assert out == b""
    assert wire.process.returncode == 1


def test_the_process_ends_when_nothing_was_said_at_all(wire: Wire) -> None:
    out, _ = wire.process.communicate(timeout=PATIENCE)
    assert out == b""


def test_an_interrupt_ends_the_process_though_nothing_more_is_said(wire: Wire) -> None:
    greet(wire)
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(PATIENCE) == -signal.SIGINT


def test_without_standard_input_the_process_ends(home: dict[str, str], tmp_path: Path) -> None:
    command = f'exec "{sys.executable}" -m mcl skill lsp <&-'
    done = subprocess.run(
        ["sh", "-c", command], env=home, cwd=tmp_path, capture_output=True, check=False, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_leaving_without_shutdown_is_told_by_the_exit_code(wire: Wire) -> None:
    greet(wire)
    wire.call("exit")
    wire.process.communicate(timeout=PATIENCE)
    assert wire.process.returncode == 1


def test_what_is_no_message_is_survived(wire: Wire) -> None:
    greet(wire)
    change = {"textDocument": {"uri": "file:///n", "version": 1}, "contentChanges": []}
    for message in (
        *({}, [], None, 3, {"jsonrpc": "2.0"}, {"jsonrpc": "1.0", "id": 6, "method": "shutdown"}),
        {"jsonrpc": "2.0", "id": 7, "method": "no/such"},
        {"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover", "params": {}},
        {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change},
    ):
        wire.send(json.dumps(message).encode())
    for body in (b"{", b"\xff\xfe", b"[" * 100_000):
        wire.send(body)
    assert open_text(wire, SKILL)["diagnostics"] == []


def test_questions_about_texts_that_are_not_open_have_empty_answers(wire: Wire) -> None:
    greet(wire)
    document = {"textDocument": {"uri": "file:///nowhere.mtx"}}
    at = {"position": {"line": 5, "character": 9}}
    wire.call("textDocument/hover", document | at, 11)
    assert wire.until(id=11)["result"] is None
    wire.call("textDocument/completion", document | at, 12)
    assert wire.until(id=12)["result"]["items"] == []
    wire.call("textDocument/formatting", document | {"options": {"tabSize": 2, "insertSpaces": True}}, 13)
    assert wire.until(id=13)["result"] is None


def test_while_somebody_types_only_the_last_text_is_checked(wire: Wire) -> None:
    greet(wire)
    open_text(wire, SKILL)
    document = {"uri": "file:///x/demo/SKILL.mtx", "version": 2}
    for number in range(30):
        text = SKILL.replace("mcl.verbs=find analyze", "mcl.verbs=" + "n" * (number + 5))
        wire.call("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
    told = wire.until(method=SHOWN)["params"]
    assert "'" + "n" * 34 + "'" in told["diagnostics"][0]["message"]
    wire.call("textDocument/hover", {"textDocument": document, "position": {"line": 0, "character": 1}}, 5)
    assert wire.receive()["id"] == 5  # no other state was told of


def test_both_files_of_a_skill_are_told_of(wire: Wire, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "plan.yaml").write_text("version: 1\nplans: 3\n")
    (folder / "SKILL.mtx").write_text(SKILL)
    greet(wire)
    uri = (folder / "SKILL.mtx").as_uri()
    first = open_text(wire, SKILL, uri)
    second = wire.until(method=SHOWN)["params"]
    told = {one["uri"].rsplit("/", 1)[1]: one["diagnostics"] for one in (first, second)}
    assert [one["code"] for one in told["plan.yaml"]] == ["PLAN_INVALID"]
    assert told["plan.yaml"][0]["range"]["start"]["line"] == 1
    assert told["SKILL.mtx"] == []

    plan = (folder / "plan.yaml").as_uri()
    document = {"uri": plan, "languageId": "yaml", "version": 1, "text": "version: 2\nplans: 3\n"}
    wire.call("textDocument/didOpen", {"textDocument": document})
    told = [wire.until(method=SHOWN)["params"] for _ in range(2)]
    wrong = next(one["diagnostics"] for one in told if one["uri"] == plan)
    assert [one["range"]["start"]["line"] for one in wrong] == [0, 1]
    wire.call("textDocument/didClose", {"textDocument": {"uri": uri}})
    told = [wire.until(method=SHOWN)["params"] for _ in range(3)]
    assert told[0] == {"uri": uri, "diagnostics": []}
    assert {one["uri"] for one in told[1:]} == {uri, plan}
    wire.call("textDocument/didClose", {"textDocument": {"uri": plan}})
    told = [wire.until(method=SHOWN)["params"] for _ in range(2)]
    assert {one["uri"]: one["diagnostics"] for one in told} == {uri: [], plan: []}


def test_what_a_plan_names_is_found_in_the_skill_beside_it(wire: Wire, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "SKILL.mtx").write_text(SKILL)
    greet(wire)
    uri = (folder / "plan.yaml").as_uri()
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": 'x: "🙂 ${slot.target}"\n'}
    wire.call("textDocument/didOpen", {"textDocument": document})
    asked = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 16}}
    wire.call("textDocument/definition", asked, 5)
    found = wire.until(id=5)["result"]
    line = SKILL.split("\n").index("slot target: ArtifactRef")
    assert found["uri"] == (folder / "SKILL.mtx").as_uri()
    assert found["range"]["start"] == {"line": line, "character": 5}
