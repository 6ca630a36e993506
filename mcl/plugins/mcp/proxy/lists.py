"""The lists of all servers as one: what they offer, in one order, page by page, without what is not fit to
be told.

Only what a person let in is listed: the resources of a server whose ``resources/read`` was approved, the
prompts of one whose ``prompts/get`` was. A server that is dead, slow or not approved leaves its part out,
and is named.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from pydantic import BaseModel, ValidationError

from executor.call import Call, Declaration
from executor.core.hashing import json_size
from executor.gate.decide import foresee
from executor.gate.verdict import Deny
from executor.tools.names import OURSELVES, is_server
from ir import MclError
from ir.results import JsonResult
from mcl.catalog.manifests import GET, READ
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_texts import ToolName
from mcl.plugins.mcp.shelf import shown

if TYPE_CHECKING:
    from executor.sandbox.redaction import Redactor
    from mcl.plugins.mcp.service import Service
    from mcl.plugins.mcp.upstream.answers import Kind


# ---- Names that our clients know other servers' resources and prompts by: ``mcl://server/uri``,
# ``server:prompt``.

SCHEME: Final = "mcl://"
MAX_URI: Final = 8_192  # characters of a server's own address
MAX_NAME: Final = 256  # characters of a prompt's name


def ours(server: str, uri: str) -> str:
    """The address by which our clients know a server's resource, or template of resources."""
    return f"{SCHEME}{server}/{uri}"


def parse_uri(text: str) -> tuple[str, str]:
    """The server that an address of ours names, and that server's own address.

    Raises:
        McpError: BAD_RESOURCE_URI.
    """
    server, slash, own = text.removeprefix(SCHEME).partition("/")
    if not text.startswith(SCHEME) or not slash or not is_server(server) or server == OURSELVES:
        raise _bad_uri(f"{text[:200]!a} names no resource of a server")
    if not is_uri(own):
        raise _bad_uri(f"the address behind mcl://{server}/ has 1 to {MAX_URI} visible characters")
    return server, own


def is_uri(own: str) -> bool:
    """Can a server's resource have this address? Nothing in it may be invisible."""
    return 0 < len(own) <= MAX_URI and own.isprintable() and own == own.strip()


def prompt_name(server: str, name: str) -> str:
    """The name by which our clients know a server's prompt."""
    return f"{server}:{name}"


def parse_prompt(text: str) -> tuple[str, str]:
    """The server that a prompt's name names, and the name that it has there.

    Raises:
        McpError: BAD_PROMPT_NAME.
    """
    server, colon, name = text.partition(":")
    if not colon or not is_server(server) or server == OURSELVES or not is_prompt(name):
        raise McpError(
            "BAD_PROMPT_NAME",
            f"{text[:200]!a} names no prompt of a server",
            place="name",
            fix="write server:prompt, as prompts/list gives it",
            example='name = "notes:greet"',
        )
    return server, name


def is_prompt(name: str) -> bool:
    """Can a server's prompt have this name? Nothing in it may be invisible."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


def linked(server: str, block: Mapping[str, object]) -> dict[str, object]:
    """A block of content whose link or embedded resource is named as our clients can read it."""
    changed = dict(block)
    if block.get("type") == "resource_link" and isinstance(uri := block.get("uri"), str):
        changed["uri"] = ours(server, uri)
    inner = block.get("resource")
    if block.get("type") == "resource" and isinstance(inner, Mapping):
        changed["resource"] = readdressed(server, inner)
    return changed


def readdressed(server: str, contents: Mapping[str, object]) -> dict[str, object]:
    """The contents of a resource under the address by which our clients know it."""
    uri = contents.get("uri")
    return {**contents, "uri": ours(server, uri)} if isinstance(uri, str) else dict(contents)


def _bad_uri(why: str) -> McpError:
    return McpError(
        "BAD_RESOURCE_URI",
        why,
        place="uri",
        fix="write mcl://SERVER/ADDRESS, as resources/list and the templates give it",
        example="mcl://notes/notes://all",
    )


# ---- Where a page of our own lists ended, as a text that only we can read or make.

_MAC: Final = 16  # bytes
_MOST: Final = 32_768  # characters of a cursor that are looked at


class Cursors:
    """Makes and reads cursors. key: bytes that nobody else knows (default: random ones)."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key or secrets.token_bytes(32)

    def after(self, kind: str, server: str, name: str) -> str:
        """The cursor of a page whose last item is this. kind: the list; name: the item's own key in it."""
        said = json.dumps([kind, server, name]).encode()
        return urlsafe_b64encode(self._mac(said) + said).decode().rstrip("=")

    def read(self, kind: str, cursor: str) -> tuple[str, str]:
        """The (server, name) after which the next page begins.

        Raises:
            McpError: BAD_CURSOR, for one of another list, of another process, or made by somebody else.
        """
        try:
            if len(cursor) > _MOST:
                raise ValueError
            whole = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            mac, said = whole[:_MAC], whole[_MAC:]
            if not hmac.compare_digest(mac, self._mac(said)) or self._text(mac + said) != cursor:
                raise ValueError
            its_kind, server, name = json.loads(said)
            if its_kind != kind:
                raise ValueError
        except (ValueError, NotBase64):
            raise McpError(
                "BAD_CURSOR",
                "this cursor is not one that this list gave, or it is from before mcl was started again",
                place="cursor",
                fix="begin again, without a cursor",
            ) from None
        return str(server), str(name)

    def _mac(self, said: bytes) -> bytes:
        return hmac.new(self._key, said, hashlib.sha256).digest()[:_MAC]

    @staticmethod
    def _text(whole: bytes) -> str:
        return urlsafe_b64encode(whole).decode().rstrip("=")


PAGE: Final = 100  # items
PAGE_BYTES: Final = 512 << 10  # of their JSON; a page has one item at least
_MAX_TEXT: Final = 4_000  # characters of a description
_MAX_ITEM: Final = 64 << 10  # bytes of JSON
_WAIT_S: Final = 10.0  # for a server that is starting; when it is up clients hear that lists changed
_AGAIN_S: Final = 0.2  # for one that a list waited for in vain a moment ago
_PATIENCE_S: Final = 60.0  # until it is waited for as long again


@dataclass(frozen=True, slots=True)
class LeftOutServer(JsonResult):
    """A server whose part of a list is missing, and why."""

    server: str
    code: str
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list. items: as the protocol has them; cursor: of the next page, "" where there is
    none."""

    items: tuple[dict[str, Any], ...]
    cursor: str
    left_out: tuple[LeftOutServer, ...]


@dataclass(frozen=True, slots=True)
class _List:
    """How one kind is merged. tool: what has to be approved; key: the field that names an item; named: how
    our clients call it; fits: can it be named so; fields: all that is passed on."""

    tool: str
    model: type[BaseModel]
    key: str
    named: Callable[[str, str], str]
    fits: Callable[[str], bool]
    fields: tuple[str, ...]


_SAMPLES: Final[Mapping[str, dict[str, object]]] = {READ: {"uri": "any"}, GET: {"name": "any"}}
_ABOUT: Final = ("name", "title", "description", "mimeType", "annotations")
_LISTS: Final[Mapping[str, _List]] = {
    "resources": _List(READ, types.Resource, "uri", ours, is_uri, ("uri", *_ABOUT, "size")),
    "templates": _List(READ, types.ResourceTemplate, "uriTemplate", ours, is_uri, ("uriTemplate", *_ABOUT)),
    "prompts": _List(
        GET, types.Prompt, "name", prompt_name, is_prompt, ("name", "title", "description", "arguments")
    ),
}


class Merged:
    """The lists of a session's servers. wait_s: seconds that a list waits for one of them, once a minute."""

    def __init__(self, session: Service, *, wait_s: float = _WAIT_S) -> None:
        self._session, self._wait_s = session, wait_s
        self._cursors = Cursors()
        self._late: dict[str, float] = {}  # servers that kept a list waiting, and until when they are late

    async def page(self, kind: Kind, cursor: str = "") -> Page:
        """The items after a cursor ("": from the beginning), in the order of servers and names.

        Raises:
            McpError: BAD_CURSOR.
        """
        after = self._cursors.read(kind, cursor) if cursor else ("", "")
        parts, left_out = await self._parts(kind)
        items = [
            (server, name, item)
            for server in sorted(parts)
            for name, item in sorted(parts[server].items())
            if (server, name) > after
        ]
        page: list[tuple[str, str, dict[str, Any]]] = []
        size = 0
        for server, name, item in items[:PAGE]:
            size += json_size(item) or 0
            if page and size > PAGE_BYTES:
                break
            page.append((server, name, item))
        more = len(page) < len(items)
        end = self._cursors.after(kind, *page[-1][:2]) if more and page else ""
        return Page(tuple(item for _, _, item in page), end, tuple(left_out))

    async def _parts(self, kind: Kind) -> tuple[dict[str, dict[str, dict[str, Any]]], list[LeftOutServer]]:
        """What each server offers, by its own names; all servers are asked at once."""
        parts: dict[str, dict[str, dict[str, Any]]] = {}
        left_out: dict[str, LeftOutServer] = {}

        async def ask(server: str, *, known: bool) -> None:
            late = monotonic() < self._late.get(server, 0.0)
            wait = min(_AGAIN_S, self._wait_s) if late else self._wait_s
            try:
                if known:  # nor to list what may not be read
                    self.require(server, _LISTS[kind].tool, asking=True)
                listed = await self._session.upstreams.listing(server, kind, timeout_s=wait)
                if listed:
                    self.require(server, _LISTS[kind].tool, asking=True)
                parts[server], broken = fitting(server, kind, listed, self._session.redactor)
            except MclError as problem:
                if problem.code == "SERVER_SLOW" and not late:  # it harms no other list by being so
                    self._late[server] = monotonic() + _PATIENCE_S
                left_out[server] = LeftOutServer(server, problem.code, problem.message, problem.fix)
                return
            if broken:
                why = f"{broken} of its {kind} are broken, or twice there"
                left_out[server] = LeftOutServer(server, "BAD_LISTING", why)

        async with anyio.create_task_group() as group:
            for one in self._session.upstreams.status():
                # One that is not running is not started to say that it has none.
                offers = self._session.definitions.offers(one.server, _LISTS[kind].tool)
                if one.state != "idle" or offers is not False:
                    known = one.state == "idle" and offers is not None
                    group.start_soon(partial(ask, one.server, known=known))
        return parts, [left_out[server] for server in sorted(left_out)]

    def declared(self, name: ToolName) -> Declaration:
        """What is declared of reading or getting: what it counts as. Of a server that is not trusted that
        is the worst, and a person is asked about each."""
        found = self._session.shelves.now(self._session).find(str(name))
        return Declaration(found.operation if found else "read", "unknown", name=str(name))

    def require(self, server: str, tool: str, *, asking: bool = False) -> None:
        """Would the gate let what this tool gives be read now? asking: also where a person would be asked
        first.

        Raises:
            McpError: with the gate's code, TOOL_QUARANTINED before all.
        """
        name = ToolName(server, tool)
        call = Call(self._session.address(name), _SAMPLES[tool], "", declaration=self.declared(name))
        verdict = foresee(call, self._session.context)
        if isinstance(verdict, Deny):
            raise McpError(
                verdict.code, verdict.reason, place=str(name), fix=verdict.fix, example=verdict.example
            )
        if verdict is not None and not asking:
            raise McpError(
                "GATE_PENDING", f"a person is asked about each call of {name}", place=str(name), fix="read it"
            )


def fitting(
    server: str, kind: Kind, listed: Iterable[Mapping[str, Any]], redactor: Redactor
) -> tuple[dict[str, dict[str, Any]], int]:
    """What can be told of a server's list, by its own names, and how much of it cannot.

    Whatever the server says: each item is one of the protocol, named as our clients can ask for it, not
    large, without secrets, and nothing in it can hide from who reads it.
    """
    form, told, broken = _LISTS[kind], dict[str, dict[str, Any]](), 0
    for item in listed:
        own = item.get(form.key)
        if not isinstance(own, str) or not form.fits(own) or own in told or redactor.text(own) != own:
            broken += 1
            continue
        said = {name: item[name] for name in form.fields if item.get(name) is not None}
        said = {**_short(redactor.value(shown(said))), form.key: form.named(server, own)}
        if (json_size(said) or _MAX_ITEM + 1) > _MAX_ITEM or not _is(form.model, said):
            broken += 1
            continue
        told[own] = said
    return told, broken


def _is(model: type[BaseModel], value: object) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True


def _short(value: object) -> dict[str, Any]:
    """An item whose descriptions are no longer than they need be."""
    assert isinstance(value, dict), "an object stays one"
    short = {name: text[:_MAX_TEXT] if isinstance(text, str) else text for name, text in value.items()}
    if isinstance(arguments := short.get("arguments"), list):
        short["arguments"] = [_short(one) if isinstance(one, dict) else one for one in arguments]
    return short
