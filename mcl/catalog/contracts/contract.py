"""Reading documents of tools, also those that another program wrote: which tools they name, in which class.

Nothing in them is believed; they may be broken, or meant to mislead.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from executor.core.errors import ManifestError
from executor.tools.manifest import CHANGING, Manifest
from executor.tools.registry import Registry
from mcl.catalog.manifests import hints_of

# ---- The contract of a tool: all that its manifest promises, said in the words that callers ask in.

Contract: TypeAlias = Mapping[str, object]
Resolver: TypeAlias = Literal["none", "workspace", "workspace+allowed", "network"]

_SCHEME: Final = "matrix://tool/"
_EDITORS: Final = ("$VISUAL", "$EDITOR")


def contracts_of(registry: Registry) -> dict[str, Contract]:
    """The contract of each of a registry's own tools, by its short name with the version (``fs/read@1.0.0``),
    in the order of their addresses. Tools of other servers have none: what those say is no promise."""
    return {one.uri.removeprefix(_SCHEME): contract_of(one) for one in registry.own}


def contract_of(manifest: Manifest) -> dict[str, object]:
    """What a tool promises, as one JSON object.

    write: may a call change anything at all, here or on another machine? subprocess: may it start a program?
    side_effects: a sentence for each thing that stays when a call has ended, or that others notice; none for
    a tool that only reads. resolver: what its paths and addresses are held to (docs/tool-contracts.md).
    Times are milliseconds, sizes bytes. hints: as the Model Context Protocol names them.
    """
    one = manifest
    return {
        "name": one.name if one.outside else one.uri.removeprefix(_SCHEME).partition("@")[0],
        "uri": one.uri,
        "class": one.safety,
        "description": one.description,
        "resolver": resolver_of(one),
        "write": writes(one),
        "subprocess": bool(programs_of(one)) or "shell" in one.effects,
        "network": bool({"network", "chain"} & set(one.effects)),
        "side_effects": list(_side_effects(one)),
        "programs": list(programs_of(one)),
        "effects": list(one.effects),
        "operation": one.operation,
        "cases": [case.model_dump(mode="json", exclude_defaults=True) for case in one.when],
        "scope": {"kind": one.scope.kind, "paths": dict(one.scope.paths), "urls": list(one.scope.urls)},
        "idempotent": one.idempotent,
        "retries": one.retries.model_dump(mode="json"),
        "timeout_ms": one.timeout_ms,
        "max_output": one.max_output,
        "cost": one.cost.model_dump(mode="json") if one.cost else None,
        "credentials": list(one.credentials),
        "environment": list(one.environment),
        "command": one.command.model_dump(mode="json") if one.command else None,
        "hints": hints_of(one),
        "pin": one.pin,
        "args": one.args,
        "output": one.output,
        "examples": [example.model_dump(mode="json") for example in one.examples],
    }


def programs_of(manifest: Manifest) -> tuple[str, ...]:
    """The programs that a tool may start, by name: those it declares, or that of its operator's command."""
    if manifest.command is not None:
        return (manifest.command.argv[0], *manifest.programs)
    return tuple(manifest.programs)


def resolver_of(manifest: Manifest) -> Resolver:
    """What the paths and addresses of a tool are held to.

    none: it takes neither. workspace: paths inside it. workspace+allowed: of what it reads also folders
    outside that were granted or allowed. network: addresses on hosts that a person granted.
    """
    if manifest.scope.kind != "workspace":
        return manifest.scope.kind
    outside = manifest.outside_modes & set(manifest.scope.paths.values())
    return "workspace+allowed" if outside else "workspace"


def writes(manifest: Manifest) -> bool:
    """May a call of the tool change anything?"""
    return any(
        operation not in (None, "read")
        for operation in (manifest.operation, *(case.operation for case in manifest.when))
    )


def _side_effects(manifest: Manifest) -> Iterator[str]:
    effects, places = set(manifest.effects), manifest.scope.paths
    operations = {manifest.operation, *(case.operation for case in manifest.when if case.operation)}
    if "write" in effects:
        named = [name for name, mode in places.items() if mode in CHANGING] or list(places)
        where = f"below {', '.join(named)}" if named else "what mcl keeps in its home"
        yield f"changes files of the workspace: {where}" if named else f"changes {where}"
    if "network" in effects:
        yield "asks granted hosts" if operations == {"read"} else "may change something on granted hosts"
    if "chain" in effects:
        yield "sends what cannot be taken back"
    if manifest.command is not None:
        yield f"starts {shlex.join(manifest.command.argv)}, which an operator declared"
    elif manifest.programs:
        named = [f"the editor in {name}" if name in _EDITORS else name for name in manifest.programs]
        yield f"starts {' or '.join(named)}"
    elif "shell" in effects:
        yield "starts a program"
    if "destructive" in operations:
        yield "may destroy what is there, once a person approved just that call"


# ---- The two documents that tell the contracts: JSON for programs, Markdown for people.

JSON_FILE: Final = "tool_contracts.json"
SAFETY_FILE: Final = "TOOL_SAFETY.md"
FORM: Final = "mcl.tool-contracts.v1"  # what both documents call themselves

_CLASSES: Final = {
    "A": "reads, in the workspace",
    "B": "reads elsewhere: the machine, granted hosts",
    "C": "writes, in its declared scope",
    "D": "starts a declared program",
    "E": "acts on the world",
}
_HEADS: Final = ("tool", "class", "paths", "writes", "starts", "network", "side effects")


def json_document(contracts: Mapping[str, Contract]) -> str:
    """tool_contracts.json: every contract whole, in the order given, and how many there are."""
    tools = list(contracts.values())
    document = {"v": FORM, "count": len(tools), "tools": tools}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def safety_document(contracts: Mapping[str, Contract]) -> str:
    """TOOL_SAFETY.md: a row a tool, after what the columns mean."""
    return "\n".join(_lines(contracts)) + "\n"


def _lines(contracts: Mapping[str, Contract]) -> Iterator[str]:
    yield f"<!-- {FORM}: made by `mcl tool contracts --out`; edit the manifests, not this file -->"
    yield "# Safety of tools"
    yield ""
    yield f"{len(contracts)} tools. `mcl tool check` compares this page with the manifests, the code, and"
    yield f"what each tool was seen to do. All that is promised of a tool: [{JSON_FILE}]({JSON_FILE})."
    yield ""
    yield from _table(("class", "what it is", "tools"), _classes(contracts))
    yield ""
    yield "*paths*: what paths are held to. *workspace*: inside it. *workspace+allowed*: what is read may"
    yield "also lie in a folder that was granted or allowed. *network*: hosts that a person granted."
    yield "*none*: it takes no path."
    yield "A tool that neither writes nor starts a program leaves nothing behind but its answer."
    yield ""
    yield from _table(_HEADS, (_row(name, one) for name, one in contracts.items()))


def _classes(contracts: Mapping[str, Contract]) -> Iterator[tuple[str, ...]]:
    classes = [str(one["class"]) for one in contracts.values()]
    for name, said in _CLASSES.items():
        yield name, said, str(classes.count(name))


def _row(name: str, one: Contract) -> tuple[str, ...]:
    programs, effects = cast(list[str], one["programs"]), cast(list[str], one["side_effects"])
    starts = ", ".join(f"`{program}`" for program in programs) or ("a program" if one["subprocess"] else "no")
    return (
        f"`{name}`",
        str(one["class"]),
        str(one["resolver"]),
        "yes" if one["write"] else "no",
        starts,
        "yes" if one["network"] else "no",
        "; ".join(effects).replace("|", "\\|") or "none",
    )


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


MOST: Final = 16 << 20  # bytes of a document that is read at all
_MOST_TOOLS: Final = 10_000
_LONGEST: Final = 200  # characters of a name
_CELL: Final = re.compile(r"(?<!\\)\|")
_NAME: Final = re.compile(r"`([A-Za-z0-9_][A-Za-z0-9_./:@-]{0,199})(?:\(\))?`")
_CLASS: Final = re.compile(r"\*{0,2}(?:[Cc]lass )?([A-Ea-e])\*{0,2}")


@dataclass(frozen=True)
class Documented:
    """What a document tells of tools.

    ours: did `mcl tool contracts` write it? tools: by name, the class ("" where none is told). count: how
    many it says there are; None where it does not say. twice: names that it tells more than once.
    contracts: of our own JSON, all that is told of each tool.
    """

    ours: bool
    tools: Mapping[str, str]
    count: int | None = None
    twice: tuple[str, ...] = ()
    contracts: Mapping[str, Mapping[str, Any]] | None = None


def read_contracts(text: str, place: str = "tool_contracts.json") -> Documented:
    """Read tool_contracts.json: a list of tools, or an object of them by name, at the top or under "tools".

    Raises:
        ManifestError: BAD_CONTRACTS.
    """
    if len(text) > MOST:
        raise _bad(place, f"it is longer than {MOST >> 20} MiB")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _bad(place, f"no JSON: {problem}") from problem
    held = document.get("tools", document) if isinstance(document, dict) else document
    if isinstance(held, dict):
        held = [{"name": name, **one} for name, one in held.items() if isinstance(one, dict)]
    if not isinstance(held, list):
        raise _bad(place, "it tells of no tools")
    if len(held) > _MOST_TOOLS:
        raise _bad(place, f"it tells of more than {_MOST_TOOLS:,} tools")
    ours = isinstance(document, dict) and document.get("v") == FORM
    tools, twice, contracts = dict[str, str](), list[str](), dict[str, Mapping[str, Any]]()
    for number, one in enumerate(held):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not one["name"]:
            raise _bad(place, f"tools[{number}] has no name")
        if len(one["name"]) > _LONGEST:
            raise _bad(place, f"tools[{number}] has a name of more than {_LONGEST} characters")
        name = _with_version(one["name"], one.get("uri")) if ours else one["name"]
        said = one.get("class", one.get("safety_class", ""))
        if name in tools:
            twice.append(name)
        tools[name] = said.upper() if isinstance(said, str) else ""
        contracts[name] = one
    count = document.get("count", document.get("tool_count")) if isinstance(document, dict) else None
    known = count if type(count) is int else None
    return Documented(ours, tools, known, tuple(twice), contracts if ours else None)


def read_safety(text: str, place: str = "TOOL_SAFETY.md") -> Documented:
    """Read TOOL_SAFETY.md: rows of tables that begin with names in backticks, each of them a tool; a cell
    that is one of A to E is the class.

    Raises:
        ManifestError: BAD_CONTRACTS.
    """
    if len(text) > MOST:
        raise _bad(place, f"it is longer than {MOST >> 20} MiB")
    tools, twice = dict[str, str](), list[str]()
    for name, said in _rows(text):
        if name in tools:
            twice.append(name)
        tools[name] = said
    return Documented(text.startswith(f"<!-- {FORM}:"), tools, twice=tuple(twice))


def _rows(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            continue
        first, *rest = [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]
        classes = [found[1].upper() for cell in rest if (found := _CLASS.fullmatch(cell))]
        for name in _NAME.findall(first):
            yield name, classes[0] if classes else ""


def _with_version(name: str, uri: object) -> str:
    version = uri.rpartition("@")[2] if isinstance(uri, str) and "@" in uri else ""
    return f"{name}@{version}" if version else name


def _bad(place: str, why: str) -> ManifestError:
    return ManifestError(
        "BAD_CONTRACTS", why, place=place, fix="write it again: mcl tool contracts --out FOLDER"
    )
