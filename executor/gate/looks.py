"""The calls that look at what an Intent promises once its plan has run: through the gate, like any call.

| promise | the call | holds where |
|---|---|---|
| `external` | a GET of its address | its check does (`executor.gate.page`) |
| `command` | its tool with its arguments | the command exits with status 0 |
| `x:SPACE.NAME` | the tool SPACE/NAME that `schema` pins, `data` its arguments | the answer says `holds` |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from executor.gate.effects import over_ceiling
from ir import (
    CommandPredicate,
    DocumentError,
    ExtensionConstraint,
    ExtensionPredicate,
    ExternalPredicate,
    ToolCall,
    parse_json,
)
from ir.scalars import FrozenMap

if TYPE_CHECKING:  # a compile asks for standings too, and has no use for manifests
    from executor.tools.manifest import Manifest

Extension: TypeAlias = ExtensionConstraint | ExtensionPredicate

_REQUEST: Final = "matrix://tool/http/request@1.0.0"
_TOOL: Final = re.compile(r"matrix://tool/([a-z][a-z0-9_-]*/[a-z][a-z0-9_-]*)@\d+\.\d+\.\d+", re.ASCII)
_KIND: Final = re.compile(r"x:([a-z][a-z0-9_-]*)\.([a-z][a-z0-9_-]*)", re.ASCII)


def look_for(item: object) -> ToolCall | None:
    """The call that looks at a promise; None where no call does, or it does not say which."""
    match item:
        case ExternalPredicate(url=url) if url:
            args = FrozenMap({"method": "GET", "url": url})
            return ToolCall(tool_ref=_REQUEST, args=args, side_effect_class="network")
        case CommandPredicate(tool_ref=tool, args=args) if tool:
            return ToolCall(tool_ref=tool, args=args, side_effect_class="shell")
        case ExtensionConstraint() | ExtensionPredicate():
            data = _arguments(item.data)
            if data is not None and _TOOL.fullmatch(item.schema):
                return ToolCall(tool_ref=item.schema, args=data, side_effect_class="read")
    return None


def flaw_of(item: CommandPredicate | Extension, answer: Mapping[str, Any]) -> str:
    """Why a promise does not hold, by what its call answered; "" where it does."""
    if isinstance(item, CommandPredicate):
        status = answer.get("status")
        return "" if status == 0 and type(status) is int else f"it ended with status {status}"
    if answer.get("holds") is True:
        return ""
    return str(answer.get("reason") or f"{kind_of_tool(item.type)} says that it does not hold")


def kind_of_tool(kind: str) -> str:
    """`namespace/name` of the tool that looks at promises of a kind, "" where the kind names none."""
    found = _KIND.fullmatch(kind)
    return f"{found[1]}/{found[2]}" if found else ""


def unfit_command(item: CommandPredicate, verb: str, manifest: Manifest | None) -> str:
    """Why a command can never be looked at under a goal with this verb; "" where it can."""
    if not item.tool_ref:
        return "it names no command"
    if manifest is None:
        return f"there is no tool {item.tool_ref} here (mcl tool list)"
    if manifest.outside is not None or "shell" not in manifest.effects:
        return f"{item.tool_ref} runs no command of this machine"
    if any(name.startswith("$") for name in manifest.programs):
        return f"{item.tool_ref} runs whatever program somebody has set, and no fixed command"
    if _type_in(manifest, "status") != "integer":
        return f"{item.tool_ref} does not say with which status its command ended"
    if over_ceiling(verb, "shell", manifest.operation):
        return f"a goal to {verb or 'do nothing'} may not run {item.tool_ref}"
    if referring := next((name for name, text in item.args.items() if "${" in text.replace("$${", "")), ""):
        return f"its argument {referring} is not fixed: it refers to the output of a node"
    return _unfit_arguments(manifest, item.args)


def unfit_extension(item: Extension, manifest: Manifest | None) -> str:
    """Why a promise of somebody else's making can never be looked at; "" where it can."""
    tool, data = kind_of_tool(item.type), _arguments(item.data)
    if not tool:
        return "nothing here knows how to look at it"
    if not item.schema:
        return f"it names no tool that looks at it (schema: matrix://tool/{tool}@…)"
    named = _TOOL.fullmatch(item.schema)
    if named is None or named[1] != tool:
        return f"only the tool {tool}, pinned to a version, looks at {item.type}"
    if manifest is None:
        return f"there is no tool {item.schema} here: the plug-in that looks at {item.type} is not installed"
    if manifest.outside is not None or set(manifest.effects) != {"read"} or manifest.operation != "read":
        return f"{item.schema} does more than look"
    if _type_in(manifest, "holds") != "boolean" or "holds" not in _required(manifest.output):
        return f"{item.schema} does not say whether it holds"
    if data is None:
        return "its data is no JSON object"
    return _unfit_arguments(manifest, data)


def _unfit_arguments(manifest: Manifest, given: Collection[str]) -> str:
    missing = [name for name in manifest.required if name not in given]
    unknown = [name for name in given if name not in manifest.properties]
    if missing:
        return f"{manifest.uri} needs the argument {missing[0]}"
    return f"{manifest.uri} has no argument {unknown[0][:100]}" if unknown else ""


def _type_in(manifest: Manifest, name: str) -> object:
    fields = manifest.output.get("properties")
    one = fields.get(name) if isinstance(fields, dict) else None
    return one.get("type") if isinstance(one, dict) else None


def _required(schema: Mapping[str, object]) -> list[object]:
    names = schema.get("required")
    return names if isinstance(names, list) else []


@lru_cache(maxsize=256)
def _arguments(data: str) -> FrozenMap | None:
    """The arguments that data holds, as a plan writes them: no text of it refers to anything."""
    from executor.gate.references import as_text

    try:
        value = parse_json(data) if data else {}
    except DocumentError:
        return None
    if not isinstance(value, dict):
        return None
    return FrozenMap({name: as_text(one).replace("${", "$${") for name, one in value.items()})
