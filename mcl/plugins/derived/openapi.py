"""An OpenAPI document as operations that can be called: of each the tool that it makes, and how a call of
it becomes a request. The document is data of a stranger: bounded, never fetched from, and what it lacks
is not made up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcl.core.errors import InputError
from mcl.core.yaml import plain_value, read_tree
from mcl.plugins.derived.saying import first_sentence, words_of

MAX_DOCUMENT: Final = 8 << 20  # bytes of JSON
_MAX_YAML: Final = 2 << 20
MOST_OPERATIONS: Final = 500
_DEPTH: Final = 6  # schemas in one another
_NODES: Final = 2_000  # parts of one operation's schema
_DOCUMENT_DEPTH: Final = 100
# What each method does to what is there, by RFC 9110; a person may say otherwise (mcl tool classify).
_METHODS: Final[Mapping[str, Mapping[str, bool]]] = {
    "get": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    "head": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    "post": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
    "put": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
    "patch": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
    "delete": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
}
_NOT_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")
_JSON: Final = re.compile(r"application/(?:[\w.+-]+\+)?json")
_KEPT: Final = (
    *(
        "type",
        "description",
        "enum",
        "const",
        "format",
        "default",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
    ),
    *("pattern", "minItems", "maxItems", "title", "nullable", "example", "uniqueItems"),
)
_NEVER: Final = frozenset({"authorization", "cookie", "host", "content-length", "content-type", "accept"})


@dataclass(frozen=True)
class Operation:
    """One operation. tool: as tools/list gives it. method, path: of its request; places: of each argument
    where it goes (path, query, header, body) and what it is called there; body: whether there is one, and
    it is one whole argument."""

    tool: Mapping[str, Any]
    method: str
    path: str
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    body: str = ""

    def to_json(self) -> dict[str, Any]:
        """As the bridge reads it."""
        places = {name: list(place) for name, place in self.places.items()}
        return {
            "tool": self.tool,
            "method": self.method,
            "path": self.path,
            "places": places,
            "body": self.body,
        }


@dataclass(frozen=True)
class OpenApi:
    """A document. base: the address that its operations lie below, "" where it names none. left:
    operations that cannot be called, with the reason."""

    title: str
    base: str
    operations: tuple[Operation, ...]
    left: Mapping[str, str]

    def __str__(self) -> str:
        """For a line that tells what was entered."""
        more = f"; {len(self.left)} cannot be called" if self.left else ""
        count = len(self.operations)
        return f"{count} operations of {self.title or 'a service'} at {self.base or 'no address'}{more}"


def read_openapi(path: Path) -> OpenApi:
    """Read a document, JSON or YAML. Raises InputError OPENAPI_UNREADABLE."""
    try:
        document = _document(path)
        if not isinstance(document, Mapping):
            raise ValueError("it is no object")
        if not str(document.get("openapi", "")).startswith("3."):
            raise ValueError("it does not say openapi: 3.x")
        return _Reader(document).read()
    except (OSError, ValueError, RecursionError) as problem:
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        fix = "name an OpenAPI 3 document, JSON or YAML"
        message = f"it cannot be read as one: {said}"[:500]
        raise InputError("OPENAPI_UNREADABLE", message, place=str(path), fix=fix) from problem


def _document(path: Path) -> object:
    if not path.is_file():
        raise ValueError("there is no such file")
    with path.open("rb") as file:
        data = file.read(MAX_DOCUMENT + 1)
    if len(data) > MAX_DOCUMENT:
        raise ValueError(f"it has more than {MAX_DOCUMENT:,} bytes")
    text = data.decode("utf-8-sig")
    if path.suffix == ".json" or text.lstrip()[:1] == "{":
        return json.loads(text)
    if len(data) > _MAX_YAML:
        raise ValueError(f"as YAML it has more than {_MAX_YAML:,} bytes: give it as JSON")
    root, flaws = read_tree(text, depth=_DOCUMENT_DEPTH)
    if root is None or flaws:
        raise ValueError(flaws[0].message if flaws else "it is empty")
    return plain_value(root)


class _Reader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._left: dict[str, str] = {}
        self._nodes = 0

    def read(self) -> OpenApi:
        made: dict[str, Operation] = {}
        for method, path, said, shared in self._operations():
            if len(made) >= MOST_OPERATIONS:
                self._left[f"{method.upper()} {path}"[:200]] = f"there are more than {MOST_OPERATIONS}"
                continue
            try:
                operation = self._operation(method, path, said, shared)
            except ValueError as problem:
                self._left[f"{method.upper()} {path}"[:200]] = str(problem)
                continue
            name, number = operation.tool["name"], 2
            while operation.tool["name"] in made:
                operation.tool["name"] = f"{name}_{number}"  # type: ignore[index]  # made here
                number += 1
            made[operation.tool["name"]] = operation
        info = _object(self._document.get("info"))
        return OpenApi(
            first_sentence(str(info.get("title", "")), 80), self._base(), tuple(made.values()), self._left
        )

    def _base(self) -> str:
        servers = self._document.get("servers")
        first = _object(servers[0]) if isinstance(servers, list) and servers else {}
        url = str(first.get("url", ""))
        for name, said in _object(first.get("variables")).items():
            url = url.replace(f"{{{name}}}", str(_object(said).get("default", "")))
        return url if url.startswith(("http://", "https://")) else ""

    def _operations(self) -> Iterator[tuple[str, str, Mapping[str, Any], list[Any]]]:
        for path, item in _object(self._document.get("paths")).items():
            item = self._resolved(item)
            shared = item.get("parameters")
            for method in _METHODS:
                if isinstance(item.get(method), Mapping):
                    yield method, str(path), item[method], shared if isinstance(shared, list) else []

    def _operation(self, method: str, path: str, said: Mapping[str, Any], shared: list[Any]) -> Operation:
        self._nodes = 0
        if not path.startswith("/") or re.search(r"[\s?#\\]|//|/\.{1,2}(?:/|$)", path) or len(path) > 500:
            raise ValueError("its path is none below an address")
        properties: dict[str, Any] = {}
        required: list[str] = []
        places: dict[str, tuple[str, str]] = {}

        def take(name: str, where: str, schema: Mapping[str, Any], *, needed: bool) -> None:
            key, number = name, 2
            while key in properties:
                key, number = f"{name}_{number}", number + 1
            properties[key], places[key] = schema, (where, name)
            if needed:
                required.append(key)

        own = said.get("parameters")
        parameters = {}
        for one in [*shared, *(own if isinstance(own, list) else [])]:
            parameter = self._resolved(one)
            parameters[str(parameter.get("in")), str(parameter.get("name"))] = parameter
        for (where, name), parameter in parameters.items():
            needed = parameter.get("required") is True or where == "path"
            if where not in ("path", "query", "header") or (where == "header" and name.lower() in _NEVER):
                if needed and where not in ("header", "cookie"):
                    raise ValueError(f"its parameter {name[:40]} stands where none is sent")
                continue
            schema = self._schema(parameter.get("schema", {"type": "string"}), 0)
            if (text := parameter.get("description")) and isinstance(text, str):
                schema = {**schema, "description": text}
            take(name, where, schema, needed=needed)
        missing = set(re.findall(r"\{([^}]*)\}", path)) - {
            name for where, name in places.values() if where == "path"
        }
        if missing:
            raise ValueError(f"it does not say what {', '.join(sorted(missing))} of its path is")
        body = self._body(said.get("requestBody"), take)
        summary = str(said.get("summary") or said.get("description") or "")
        name = (
            _NOT_NAME.sub("_", str(said.get("operationId") or f"{method}_{path}")).strip("_")[:100] or method
        )
        told = f"{first_sentence(summary, 300).rstrip('.') or words_of(name)} ({method.upper()} {path})."
        schema = {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
        hints = {**_METHODS[method], "openWorldHint": True}
        tool = {"name": name, "description": told, "inputSchema": schema, "annotations": hints}
        return Operation(tool, method.upper(), path, places, body)

    def _body(self, said: object, take: Any) -> str:
        """Take the parts of a JSON body as arguments; where it is no object, all of it as one."""
        body = self._resolved(said)
        content = _object(body.get("content"))
        if not content:
            return ""
        kind = next((one for one in content if _JSON.fullmatch(one.partition(";")[0].strip())), None)
        needed = body.get("required") is True
        if kind is None:
            if needed:
                raise ValueError(f"it takes a body of {next(iter(content))[:60]}, and none of JSON")
            return ""
        schema = self._schema(_object(content[kind]).get("schema", {}), 0)
        properties = schema.get("properties")
        if schema.get("type", "object") == "object" and isinstance(properties, Mapping) and properties:
            for name, one in properties.items():
                take(name, "body", one, needed=needed and name in schema.get("required", []))
            return "parts"
        take("body", "body", schema, needed=needed)
        return "whole"

    def _schema(self, said: object, depth: int) -> dict[str, Any]:
        """A schema with everything that it refers to written out, as deep as a call may need."""
        self._nodes += 1
        schema = self._resolved(said)
        if depth > _DEPTH or self._nodes > _NODES:
            return {}
        made = {name: schema[name] for name in _KEPT if name in schema}
        if made.pop("nullable", False) is True and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        parts = [self._schema(one, depth + 1) for one in _list(schema.get("allOf"))]
        properties = {k: v for one in parts for k, v in one.get("properties", {}).items()}
        properties |= {
            str(k): self._schema(v, depth + 1)
            for k, v in _object(schema.get("properties")).items()
            if not (isinstance(v, Mapping) and v.get("readOnly") is True)
        }
        needed = [*(n for one in parts for n in one.get("required", [])), *_list(schema.get("required"))]
        if properties:
            made |= {"type": made.get("type", "object"), "properties": properties}
            made["required"] = [name for name in dict.fromkeys(map(str, needed)) if name in properties]
        elif parts and "type" not in made:
            made = {**parts[0], **made}
        for word in ("anyOf", "oneOf"):
            if branches := _list(schema.get(word)):
                made[word] = [self._schema(one, depth + 1) for one in branches[:20]]
        if isinstance(schema.get("items"), Mapping):
            made["items"] = self._schema(schema["items"], depth + 1)
        return made

    def _resolved(self, said: object) -> Mapping[str, Any]:
        for _ in range(10):
            if not isinstance(said, Mapping):
                return {}
            reference = said.get("$ref")
            if not isinstance(reference, str):
                return said
            found: object = self._document if reference.startswith("#/") else None
            for part in reference.removeprefix("#/").split("/"):
                part = part.replace("~1", "/").replace("~0", "~")
                found = found.get(part) if isinstance(found, Mapping) else None
            said = found
        return {}


def _object(said: object) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}


def _list(said: object) -> list[Any]:
    return said if isinstance(said, list) else []
