"""The plan of a chat model: the prompt and the grammar rules of one request, and reading what was answered.

    [{"id":"n1","tool":"matrix://…","args":{"path":{"from":"slot.folder"}}},
     {"id":"n2","step":"summarize","inputs":["n1.text"],"outputs":["text"]}]

A list in the list runs at the same time. Ids are given by place, so that a rule knows which nodes are
earlier.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from mcl.model.answers import place_of, shown
from mcl.model.protocol import (
    From,
    PlanArgument,
    PlanForm,
    PlanTool,
    Value,
    WrittenNode,
    WrittenPlan,
    literal,
)

LONGEST_LIST: Final = 4
MOST_INPUTS: Final = 3
_SPANS: Final = (240, 120, 60, 30)  # characters of a span; the longest that fits is taken
_NUMBER: Final = 18  # bytes of the longest number
_MARKS: Final = 96  # bytes of a node's own keys and marks
GOAL: Final = "goal"


def plan_sizes(form: PlanForm, room: int, bytes_each: int) -> tuple[int, int] | None:
    """How many nodes a plan may have and how many characters a span, so that the longest plan has at most
    `room` bytes; None where there is no room for one node."""
    for nodes in range(form.nodes, 0, -1):
        for longest in _SPANS:
            if 2 + nodes * (_largest(form, nodes, longest * bytes_each) + 4) <= room:
                return nodes, longest
    return None


def _largest(form: PlanForm, nodes: int, span: int) -> int:
    source = max(map(_size, _sources(form, nodes))) + 12

    def value(argument: PlanArgument) -> int:
        written = {"string": span + 2, "integer": _NUMBER, "number": _NUMBER, "boolean": 5}
        one = max(map(_size, argument.options), default=written.get(argument.items or argument.kind, 0))
        return max(source, (one + 2) * (LONGEST_LIST if argument.kind == "array" else 1) + 2)

    calls = (
        _size(tool.uri) + sum(_size(one.name) + 8 + value(one) for one in tool.arguments)
        for tool in form.tools
    )
    prompts = max(map(_size, form.prompts), default=0)
    step = prompts + MOST_INPUTS * source + sum(_size(name) + 4 for name in form.outputs)
    return _MARKS + max((step, *calls))


def _size(text: str) -> int:
    return len(json.dumps(text).encode())


def plan_rules(form: PlanForm, nodes: int) -> str:
    """What a request adds to plan_tree@1, but for SPAN, COMMA and COLON. nodes: how many there may be."""
    return (
        "\n".join(['start: "[" item_1 "]"', *_order(nodes), *_sourced(form, nodes), *_nodes(form, nodes)])
        + "\n"
    )


def _order(nodes: int) -> Iterator[str]:
    """One node after the other, some of them at the same time; no more than there may be."""
    for at in range(1, nodes + 1):
        more, further = f"(COMMA item_{at + 1})?", f"COMMA inner_{at + 1}"
        if at == nodes:
            yield f"item_{at}: node_{at}"
            yield f'inner_{at}: node_{at} "]"'
        else:
            yield f'item_{at}: node_{at} {more} | "[" node_{at} {further}'
            yield f'inner_{at}: node_{at} ({further} | "]" {more})'


def _sources(form: PlanForm, at: int) -> list[str]:
    """What the node at a place (from 1) may refer to."""
    fields = _fields(form)
    names = [GOAL, *(f"slot.{name}" for name, _ in form.slots)]
    for earlier in range(1, at):
        names += [f"n{earlier}", *(f"n{earlier}.{field}" for field in fields)]
    return names


def _fields(form: PlanForm) -> list[str]:
    return list(dict.fromkeys([*(name for tool in form.tools for name in tool.outputs), *form.outputs]))


def _sourced(form: PlanForm, nodes: int) -> Iterator[str]:
    fields = _fields(form)
    yield f"source_1: {_any(map(_inside, _sources(form, 1)))}"
    if fields:
        yield f"field: {_any(map(_inside, fields))}"
    for at in range(2, nodes + 1):
        below = ' ("." field)?' if fields else ""
        yield f'source_{at}: source_{at - 1} | "n{at - 1}"{below}'
    for at in range(1, nodes + 1):
        yield f'from_{at}: "{{\\"from\\"" COLON "\\"" source_{at} "\\"}}"'
        yield f'input_{at}: "\\"" source_{at} "\\""'


def _nodes(form: PlanForm, nodes: int) -> Iterator[str]:
    output, more = _any(map(_quoted, form.outputs)), len(form.outputs) - 1
    outputs = f"({output})" + (f" (COMMA ({output})){{0,{more}}}" if more else "")
    prompts = f' (COMMA "\\"prompt\\"" COLON ({_any(map(_quoted, form.prompts))}))?' if form.prompts else ""
    for at in range(1, nodes + 1):
        kinds = [f"call_{tool}_{at}" for tool in range(len(form.tools))] + [f"step_{at}"]
        yield f'node_{at}: "{{\\"id\\"" COLON "\\"n{at}\\"" COMMA ({" | ".join(kinds)}) "}}"'
        yield (
            f'step_{at}: "\\"step\\"" COLON kind{prompts} COMMA "\\"inputs\\"" COLON "[" input_{at}'
            f' (COMMA input_{at}){{0,{MOST_INPUTS - 1}}} "]" COMMA "\\"outputs\\"" COLON "[" {outputs} "]"'
        )
        for number, tool in enumerate(form.tools):
            yield from _call(tool, f"call_{number}_{at}", at)


def _call(tool: PlanTool, name: str, at: int) -> Iterator[str]:
    """The rules of one tool at one place: arguments in the tool's order, those that it needs first."""
    # Sorting is stable, so that arguments keep the tool's own order within both halves.
    ordered = sorted(tool.arguments, key=lambda one: not one.required)
    needed = sum(one.required for one in ordered)
    pairs = [f"{literal(_quoted(one.name))} COLON ({_value(one, at)})" for one in ordered]

    def after(place: int, comma: str) -> str:
        """What may follow the arguments before a place: one of those that are left, and what follows it."""
        ways = [
            f"{comma}{pair}" + (f" {name}_{further}" if further < len(pairs) else "")
            for further, pair in enumerate(pairs[place:], place + 1)
        ]
        return f"({' | '.join(ways)})?" if ways else ""

    first = " COMMA ".join(pairs[:needed]) + (f" {name}_{needed}" if needed < len(pairs) else "")
    args = first if needed else after(0, "")
    uri = literal(_quoted(tool.uri))
    yield f'{name}: "\\"tool\\"" COLON {uri} COMMA "\\"args\\"" COLON "{{" {args} "}}"'
    for place in range(max(1, needed), len(pairs)):
        yield f"{name}_{place}: {after(place, 'COMMA ')}"


def _value(argument: PlanArgument, at: int) -> str:
    ways = [f"from_{at}"]
    one = _written(argument)
    if one and argument.kind == "array":
        ways.insert(0, f'"[" {one} (COMMA {one}){{0,{LONGEST_LIST - 1}}} "]"')
    elif one:
        ways.insert(0, one)
    return " | ".join(ways)


def _written(argument: PlanArgument) -> str:
    """One value that is written out; "" where none can be."""
    if argument.options:
        return "(" + " | ".join(map(literal, argument.options)) + ")"
    kind = argument.items if argument.kind == "array" else argument.kind
    if kind == "integer" and argument.kind != "array":
        return f'%json {{"type":"integer","minimum":{argument.least},"maximum":{argument.most}}}'
    return {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}.get(kind, "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _inside(text: str) -> str:
    """A text as it stands between the quotes of JSON."""
    return _quoted(text)[1:-1]


def _any(texts: Iterable[str]) -> str:
    return " | ".join(map(literal, texts))


def read_plan(text: str, prose: str, form: PlanForm) -> WrittenPlan:
    """The nodes of an answer to `plan_rules`; texts as they stand in the prose itself."""
    tools = {tool.uri: {one.name: one for one in tool.arguments} for tool in form.tools}
    twin = shown(prose)

    def word(value: Any, listed: bool) -> Any:
        if not isinstance(value, str) or listed:
            return value
        start = place_of(twin, value)
        return prose[start : start + len(value)]

    def value(said: Any, argument: PlanArgument) -> Value:
        listed = bool(argument.options)
        if isinstance(said, Mapping):
            return From(said["from"])
        if isinstance(said, list):
            return tuple(word(one, listed) for one in said)
        return word(said, listed)  # type: ignore[no-any-return]

    def node(said: Mapping[str, Any]) -> WrittenNode:
        if "tool" in said:
            known = tools[said["tool"]]
            args = {name: value(one, known[name]) for name, one in said["args"].items()}
            return WrittenNode(said["id"], tool=said["tool"], args=args)
        inputs = tuple(From(one) for one in dict.fromkeys(said["inputs"]))
        return WrittenNode(
            said["id"],
            kind=said["step"],
            prompt=said.get("prompt", ""),
            inputs=inputs,
            outputs=tuple(dict.fromkeys(said["outputs"])),
        )

    items = json.loads(text)
    groups = tuple(tuple(map(node, item)) if isinstance(item, list) else (node(item),) for item in items)
    return WrittenPlan(text, groups)


SYSTEM: Final = (
    "You are given a goal and the tools that may be used for it. Write the plan: a JSON list of nodes that "
    "run one after the other; a list in the list runs at the same time. A node is a call, "
    '{"id":"n1","tool":"…","args":{…}}, or a step in which text is written, '
    '{"id":"n2","step":"summarize","inputs":["n1.text"],"outputs":["…"]}. The value of an argument is '
    'written out, in words of the goal, or taken from elsewhere: {"from":"slot.<name>"}, '
    '{"from":"n1.<field of its answer>"}. Use as few nodes as the goal needs. Answer in JSON.'
)


def plan_prompt(prose: str, form: PlanForm) -> tuple[str, str]:
    """(what is the same for every goal of a skill and verb, what is this goal's)."""
    fixed = "\n".join([form.description, "Tools:", *map(_told, form.tools), "", "Goal: "])
    said = [shown(prose), f"Verb: {form.verb}", *(f"slot.{name} = {value}" for name, value in form.slots)]
    for text, flaws in form.earlier:
        said += [f"You wrote: {text}", "That does not hold:", *(f"- {flaw}" for flaw in flaws)]
        said.append("Write another plan.")
    return fixed, "\n".join(said)


def _told(tool: PlanTool) -> str:
    lines = [f"- {tool.uri}: {tool.description}"]
    for one in tool.arguments:
        limits = [
            one.kind,
            *(["needed"] if one.required else []),
            *(["one of " + ", ".join(one.options)] * bool(one.options)),
        ]
        lines.append(f"  {one.name} ({'; '.join(limits)}) {one.hint}".rstrip())
    lines.append(f"  answers: {', '.join(tool.outputs)}")
    return "\n".join(lines)
