"""The language server: the protocol's requests answered by a session, over standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from mcl.plugins.editor.completion import Completion
from mcl.plugins.editor.document import EditorSpan, Encoding, OpenDocument, Problem
from mcl.plugins.editor.names import Installed
from mcl.plugins.editor.session import EditorSession, Open, Symbol, sibling

DEBOUNCE = 0.15  # seconds without typing before a text is checked
SOURCE = "mcl"
_ITEMS = {
    "section": types.CompletionItemKind.Module,
    "keyword": types.CompletionItemKind.Keyword,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "type": types.CompletionItemKind.TypeParameter,
    "slot": types.CompletionItemKind.Variable,
    "reference": types.CompletionItemKind.Reference,
    "call": types.CompletionItemKind.Function,
}
_SYMBOLS = {
    "section": types.SymbolKind.Namespace,
    "slot": types.SymbolKind.Variable,
    "reference": types.SymbolKind.Package,
    "setting": types.SymbolKind.Property,
    "block": types.SymbolKind.Object,
    "failure": types.SymbolKind.Event,
}
_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class SkillServer(LanguageServer):
    """One editor's server. left_politely: whether `shutdown` came before the end."""

    def __init__(self, version: str, catalogue: Installed, debounce: float = DEBOUNCE) -> None:
        # whole texts, because pygls splits lines at more characters than the protocol when it patches one
        super().__init__("mcl", version, types.TextDocumentSyncKind.Full)
        self.session = EditorSession(catalogue)
        self.catalogue = catalogue
        self.debounce = debounce
        self.left_politely = False
        self.waiting: dict[str, asyncio.Task[None]] = {}

    def take(self, uri: str) -> None:
        """Take the state of a text that the client just sent."""
        known = self.workspace.position_encoding
        self.session.encoding = _ENCODINGS.get(str(getattr(known, "value", known)), "utf-16")
        self.session.put(uri, self.workspace.get_text_document(uri).source, _path(uri))

    def check_soon(self, uri: str, delay: float) -> None:
        """Check a text after a moment without typing; what was waiting for it is dropped."""
        if (waiting := self.waiting.pop(uri, None)) is not None:
            waiting.cancel()
        self.waiting[uri] = asyncio.get_running_loop().create_task(self._check(uri, delay))

    async def _check(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        one = self.session.texts.get(uri)
        if one is None:
            return
        found = await asyncio.to_thread(lambda: list(self.session.problems(one)))
        if self.session.texts.get(uri) is not one:
            return  # typed on meanwhile: the newer text is checked by itself
        for other, problems in found:
            if other.path is not None and other is not one:
                self.publish(self.address(other.path), other.document, problems)
            else:
                self.publish(uri, other.document, problems)

    def address(self, path: Path) -> str:
        """The address of a file, as the client wrote it where it is open."""
        for uri, known in self.session.texts.items():
            if known.path == path:
                return uri
        return from_fs_path(str(path)) or ""

    def clear(self, uri: str) -> None:
        """Take back what was said of a text."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def publish(self, uri: str, document: OpenDocument, problems: Sequence[Problem]) -> None:
        """Send what is wrong with a text."""
        diagnostics = [diagnostic(problem, document) for problem in problems]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))


def serve(
    version: str, home: Path, here: Path, *, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None
) -> int:
    """Serve one editor until it leaves or closes the stream.

    home, here: where skills are found. Gives 0, or 1 where the editor left without `shutdown`. What anything
    prints goes to standard error, so that only the protocol is on standard output.
    """
    stdin = stdin or (sys.stdin.buffer if sys.stdin else None)
    if stdin is None:
        return 1  # nobody can say anything
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="mcl: %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would wait for the next line of standard input
    server = build(version, Installed(home, here))
    server.start_io(stdin, stdout or _own_stdout())
    return 0 if server.left_politely else 1


def _own_stdout() -> BinaryIO:
    sys.stdout.flush()
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return own


def build(version: str, catalogue: Installed, debounce: float = DEBOUNCE) -> SkillServer:
    """A server with all that it can do."""
    server = SkillServer(version, catalogue, debounce)
    _documents(server)
    _questions(server)
    _changes(server)
    return server


def _documents(server: SkillServer) -> None:
    """Opening, typing, saving, closing, leaving."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.take(params.text_document.uri)
        server.check_soon(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.take(params.text_document.uri)
        server.check_soon(params.text_document.uri, server.debounce)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.catalogue.forget_skills()
        if params.text_document.uri in server.session.texts:
            server.check_soon(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        one = server.session.texts.get(uri)
        server.session.drop(uri)
        if (waiting := server.waiting.pop(uri, None)) is not None:
            waiting.cancel()
        server.clear(uri)
        if one is not None and (path := sibling(one)) is not None:
            other = server.address(path)
            if other in server.session.texts:
                server.check_soon(other, 0)
            else:
                server.clear(other)

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.left_politely = True


def _questions(server: SkillServer) -> None:
    """What an editor asks about a place or a text."""
    session = server.session

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=["§", "=", ".", "{", "/", " ", ":", "("]),
    )
    def completion(params: types.CompletionParams) -> types.CompletionList:
        one = session.texts.get(params.text_document.uri)
        at = params.position
        found = session.complete(one, at.line, at.character) if one else []
        snippets = _takes_snippets(server.client_capabilities)
        items = [
            item(each, one.document, number, snippets=snippets) for number, each in enumerate(found) if one
        ]
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        one = session.texts.get(params.text_document.uri)
        found = session.hover(one, params.position.line, params.position.character) if one else None
        if one is None or found is None:
            return None
        text = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(text, span_range(found.span, one.document))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        one = session.texts.get(params.text_document.uri)
        found = session.define(one, params.position.line, params.position.character) if one else None
        if found is None:
            return None
        there, target = found
        if target.path is not None:
            start = types.Position(0, 0)
            return types.Location(from_fs_path(str(target.path)) or "", types.Range(start, start))
        away = there is not one and there.path is not None
        uri = server.address(there.path) if away and there.path else params.text_document.uri
        return types.Location(uri, span_range(target.span, there.document))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        one = session.texts.get(params.text_document.uri)
        return [symbol(each, one.document) for each in session.symbols(one)] if one else []


def _changes(server: SkillServer) -> None:
    """What a server changes in a text."""
    session = server.session

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        one = session.texts.get(params.text_document.uri)
        if one is None:
            return None
        try:
            edit = session.layout(one)
        except ValueError:
            server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, _unformatted(one)))
            return None
        if edit is None:
            return []
        range = types.Range(types.Position(*edit.start), types.Position(*edit.end))
        return [types.TextEdit(range, edit.text)]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        one = session.texts.get(uri)
        if one is None:
            return []
        found = session.fixes(one, params.range.start.line, params.range.end.line)
        return [
            types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(fix.problem, one.document)],
                is_preferred=True,
                edit=types.WorkspaceEdit(
                    changes={uri: [types.TextEdit(span_range(fix.span, one.document), fix.text)]}
                ),
            )
            for fix in found
        ]


def diagnostic(problem: Problem, document: OpenDocument) -> types.Diagnostic:
    """A problem in the protocol's words; the hint is told behind the message."""
    error = problem.severity == "error"
    return types.Diagnostic(
        range=span_range(problem.span, document),
        message="; ".join(filter(None, (problem.message, problem.hint))),
        severity=types.DiagnosticSeverity.Error if error else types.DiagnosticSeverity.Warning,
        code=problem.code,
        source=SOURCE,
    )


def item(found: Completion, document: OpenDocument, number: int, *, snippets: bool) -> types.CompletionItem:
    """A completion in the protocol's words, in the order of `number`."""
    snippet = found.snippet if snippets else ""
    return types.CompletionItem(
        label=found.text,
        kind=_ITEMS[found.kind],
        detail=found.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, found.says) if found.says else None,
        sort_text=f"{number:04}",
        filter_text=found.text,
        text_edit=types.TextEdit(span_range(found.span, document), snippet or found.text),
        insert_text_format=types.InsertTextFormat.Snippet if snippet else types.InsertTextFormat.PlainText,
    )


def symbol(found: Symbol, document: OpenDocument) -> types.DocumentSymbol:
    """An entry of the outline in the protocol's words."""
    selection = span_range(found.span, document)
    end = document.point(found.last, len(document.line(found.last)) + 1)
    return types.DocumentSymbol(
        name=found.name or "?",
        kind=_SYMBOLS[found.kind],
        range=types.Range(types.Position(selection.start.line, 0), types.Position(*end)),
        selection_range=selection,
        detail=found.detail or None,
        children=[symbol(part, document) for part in found.parts],
    )


def span_range(span: EditorSpan, document: OpenDocument) -> types.Range:
    """A span in the editor's count."""
    start, stop = document.point(span.line, span.start), document.point(span.line, span.stop)
    return types.Range(types.Position(*start), types.Position(*stop))


def _unformatted(one: Open) -> str:
    findings = one.reading.parsed.findings
    first = findings[0]
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"not formatted: line {first.line}: {first.message}{more}"


def _takes_snippets(client: types.ClientCapabilities) -> bool:
    document = client.text_document
    completion = document.completion if document else None
    return bool(completion and completion.completion_item and completion.completion_item.snippet_support)


def _path(uri: str) -> Path | None:
    if not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return Path(path) if path else None
