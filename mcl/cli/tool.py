"""`mcl tool`: the tools that there are, and what each may do."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from mcl.cli import tool_call
from mcl.cli.arguments import AsJson, ToolName, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import DIM, STRONG, commands, joined, listing, plain, rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from executor.store.home import Home
    from executor.tools.manifest import Manifest
    from mcl.usecases.tools import KnownTool

tools = noun("tool", "Tools: what a plan may call.", "mcl tool list", "mcl tool show fs/read")


STYLES = {
    "new": "dim",
    "approved": "",
    "changed": "red",
    "quarantined": "red",
    "rejected": "red",
    "gone": "dim",
    "closed": "red",
}


# ---- `mcl tool list` and `show`: the tools that there are.


_NARROW = 84  # columns


@verb(tools, "list")
def list_tools(
    server: Annotated[str, option("--server NAME", "Only this server's; mcl is mcl itself.")] = "",
    waiting: Annotated[bool, option("--waiting", "Only those that wait for an approval.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tools, with what each may do at most.

    Those of other servers are called server:tool, and are refused until you approve them.

    The class is A (reads in the workspace), B (reads elsewhere), C (writes in the workspace), D (runs a fixed
    command), E (acts on the world).
    """
    from executor.tools.names import OURSELVES
    from mcl.cli.views.plan import EFFECT_STYLES
    from mcl.usecases.policy import unverified_note
    from mcl.usecases.tools import broken_tools
    from mcl.usecases.tools import list as all_tools

    home, out = use_home(), Output(as_json)
    found = [
        one
        for one in all_tools(home=home)
        if (not server or server == (one.outside.server if one.outside else OURSELVES))
        and (one.waits or not waiting)
    ]
    if server and not found and server != OURSELVES:
        from mcl.catalog.servers import Servers

        Servers(home).require(server)
    broken = broken_tools(home=home) if server in ("", OURSELVES) else ()
    out.document({"tools": [_document(tool) for tool in found], "broken": broken})
    for problem in broken:
        note(f"{problem.code}: {problem.place}: {problem.message}")
    if said := unverified_note(home=home):
        note(said)
    if not found:
        note((server and nothing_known(server, home)) or "no tool waits for an approval")
    if as_json or not found:
        return
    lines: list[tuple[tuple[str, str], ...]] = []
    for tool in found:
        one, standing = tool.manifest, "closed" if tool.closed else tool.standing
        effects, styles = " ".join(tool.effects), [EFFECT_STYLES[name] for name in tool.effects]
        lines.append(
            (
                (tool.name, ""),
                ("" if one.outside else one.uri.partition("@")[2], DIM),
                (effects, max(styles, key=("", "yellow", "red").index)),
                (tool.operation, "red" if tool.operation == "destructive" else ""),
                (one.safety, ""),
                (one.scope.kind, DIM),
                ("again" if one.idempotent else "once", DIM),
                (_words(tool, standing), STYLES[standing]),
            )
        )
    heads: tuple[str, ...] = ("tool", "version", "effects", "operation", "class", "scope", "run", "")
    if out.people.width < _NARROW:  # what is dispensable goes, before names are cut
        places = [heads.index(head) for head in ("tool", "effects", "operation", "class", "")]
        heads = tuple(heads[at] for at in places)
        lines = [tuple(line[at] for at in places) for line in lines]
    out.tell([listing(heads, lines)])


def nothing_known(server: str, home: "Home") -> str:
    """What to do where nothing is known of a server's tools, as nobody connected to it yet; else ""."""
    from mcl.catalog.tools.foreign import outside_tools

    if any(one.manifest.outside and one.manifest.outside.server == server for one in outside_tools(home)):
        return ""
    return f"nothing is known of its tools yet; mcl server check {server} connects to it and sees"


def _document(tool: "KnownTool") -> dict[str, object]:
    """What is told of a tool among many. What is suspicious takes a while to find: of those that wait."""
    one = tool.manifest
    said: dict[str, object] = {
        "uri": one.uri,
        "name": tool.name,
        "pin": one.pin,
        "standing": tool.standing,
        "closed": tool.closed,
        "effects": tool.effects,
        "operation": tool.operation,
        "class": one.safety,
        "idempotent": one.idempotent,
        "scope": one.scope.kind,
    }
    if tool.outside is not None:
        said["server"] = tool.outside.server
        if tool.waits:
            said["suspicions"] = tool.suspicions
    return said


def _words(tool: "KnownTool", standing: str) -> str:
    """How a tool stands, where that is worth a word."""
    from mcl.catalog.extras import needs_extra

    if lacking := "" if tool.outside else needs_extra([tool.name]):
        return lacking
    if standing == "approved" or (standing == "new" and not tool.outside):
        return ""
    warnings = len([one for one in tool.suspicions if one.level == "warning"]) if tool.waits else 0
    return f"{standing}, {warnings} warning{'s' * (warnings > 1)}" if warnings else standing


# ---- `mcl tool show`: all that is said of one tool, with an example call.

# Of a tool without examples: a value for an argument of this name; else what its schema suggests.
_EXAMPLES: Mapping[str, object] = {
    "path": "notes/monday.md",
    "out": "chart.svg",
    "from": "notes/monday.md",
    "title": "Call Ada",
    "start": "2026-12-01T09:00:00Z",
    "since": "2026-11-01",
    "assignee": "ada",
    "task": "Write the report",
    "content": "a line of text",
    "old": "colour",
    "new": "color",
    "query": "invoice",
    "pattern": "TODO",
    "url": "https://example.org/",
}

_DOES: Mapping[str, str] = {"read": "reads", "write": "writes", "destructive": "destroys"}


@verb(tools, "show")
def describe_tool(tool: ToolName, as_json: AsJson = False) -> None:
    """Describe one tool, with an example call.

    What it does, what it takes and gives, and what it may do.
    """
    from mcl.usecases.tools import contract
    from mcl.usecases.tools import show as find_tool

    found, out = find_tool(tool, home=use_home()), Output(as_json)
    call = example_call(found.manifest)
    out.show(
        {**contract(found), "example": {"args": call, "command": _command(found, call)}}, _view(found, call)
    )


def example_call(manifest: "Manifest") -> dict[str, object]:
    """The arguments of the tool's first example; without one those that a call must have, with values to
    try."""
    if manifest.examples:
        return dict(manifest.examples[0].args)
    names = manifest.required
    return {name: _value(name, manifest.properties.get(name, {})) for name in names}


def _value(name: str, schema: Mapping[str, Any]) -> object:
    options = schema.get("enum")
    if isinstance(options, list) and options:
        return options[0]
    if name in _EXAMPLES and schema.get("type") == "string":
        return _EXAMPLES[name]
    plain: Mapping[str, object] = {
        "string": "text",
        "integer": schema.get("minimum", 1),
        "number": schema.get("minimum", 1),
        "boolean": True,
        "array": [],
        "object": {},
    }
    return plain.get(str(schema.get("type")), None)


def _command(tool: "KnownTool", args: Mapping[str, object]) -> str:
    texts = (value if isinstance(value, str) else json.dumps(value) for value in args.values())
    given = [f"{name}={text}" for name, text in zip(args, texts, strict=True)]
    return shlex.join(["mcl", "tool", "call", tool.name, *given])


def _view(tool: "KnownTool", args: Mapping[str, object]) -> "Iterator[RenderableType]":
    one, standing = tool.manifest, "closed" if tool.closed else tool.standing
    yield joined(((tool.name if tool.outside else one.uri, STRONG), (standing, STYLES[standing])))
    if tool.outside is not None:
        yield from _said(tool)
        yield ""
    else:
        yield plain(one.description)
        yield ""
    said = [("effects", f"{' '.join(tool.effects)}: {_DOES[tool.operation]}; class {one.safety}")]
    said += [("", "an operator says so (mcl tool unclassify takes it back)")] if tool.classified else []
    said += [("but", text) for text in _cases(one)]
    said += [("scope", " ".join([one.scope.kind, *(f"{n}: {mode}" for n, mode in one.scope.paths.items())]))]
    again = "may be run again" if one.idempotent else "once: after an interruption a person is asked"
    retries = f", tried again {one.retries.max} times" if one.retries.max else ""
    said += [("run", f"{again}{retries}; at most {one.timeout_ms / 1000:g} s, {one.max_output:,} bytes")]
    if one.cost:
        said.append(("cost", f"{one.cost.amount} {one.cost.asset} a call"))
    if one.credentials:
        said.append(("secrets", f"{', '.join(one.credentials)}: named as $env:NAME"))
    if one.environment:
        said.append(("variables", ", ".join(one.environment)))
    if one.command:
        said.append(("command", shlex.join(one.command.argv)))
    if one.programs:
        said.append(("starts", " or ".join(one.programs)))
    from mcl.catalog.extras import missing_of

    if tool.outside is None and (missing := missing_of([tool.name])):
        said.append(("extra", f"{missing.message}: {missing.fix}"))
    if tool.outside is not None:
        said.append(("address", one.uri))
        yield rows(said)
        yield commands(_next(tool, args))
        return
    yield rows([*((label, plain(text)) for label, text in said), ("pin", plain(one.pin, DIM))])
    for head, schema in (("argument", one.args), ("gives", one.output)):
        yield ""
        yield listing((head, "type", ""), list(_fields(schema)))
    calls = [(_command(tool, example.args), example.note) for example in one.examples]
    yield commands(calls or [(_command(tool, args), "an example")])


def _said(tool: "KnownTool") -> "Iterator[RenderableType]":
    """What its server says of a tool, what of it changed, and what is suspicious in it."""
    from mcl.cli.views.definition import change_view, definition_view, findings_view

    yield from definition_view(tool)
    if tool.standing == "changed":
        yield plain("  changed since it was approved", STRONG)
        yield from change_view(tool.changes)
    yield from findings_view(tool.suspicions)


def _next(tool: "KnownTool", args: Mapping[str, object]) -> list[tuple[str, str]]:
    """What a person may do with a tool of another server."""
    name = shlex.quote(tool.name)
    if tool.standing == "approved":
        return [(_command(tool, args), "an example"), (f"mcl tool quarantine {name}", "closes it")]
    if tool.standing == "gone":
        return [(f"mcl server check {tool.name.partition(':')[0]}", "asks its server again")]
    return [(f"mcl tool approve {name}", "lets it be called"), (f"mcl tool reject {name}", "keeps it closed")]


def _cases(manifest: "Manifest") -> Iterator[str]:
    """The exceptions to the effects, in words."""
    for case in manifest.when:
        when = [f"without {name}" for name in case.absent]
        when += [f"with {name} = {json.dumps(value)}" for name, value in case.equals.items()]
        when += [f"where {case.exists} exists"] if case.exists else []
        what = [" ".join(case.effects), _DOES[case.operation] if case.operation else ""]
        yield f"{' and '.join(when)}: {': '.join(part for part in what if part)}"


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    required = schema.get("required", [])
    for name, one in schema.get("properties", {}).items():
        kind = str(one.get("type") or " ".join(map(str, one.get("enum", []))))
        limits = [f"{key} {one[key]}" for key in ("minimum", "maximum", "maxLength", "default") if key in one]
        limits += [f"one of {' '.join(map(str, one['enum']))}"] if one.get("enum") and "type" in one else []
        said = "; ".join(part for part in (str(one.get("description", "")).rstrip("."), *limits) if part)
        yield (name, STRONG if name in required else ""), (kind, DIM), (said, "")


tools.add_typer(tool_call.verbs)
GROUPS: Final = (tools,)
