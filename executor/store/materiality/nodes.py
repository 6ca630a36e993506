"""What changed in one node, and what a new one brings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from executor.store.materiality.rules import Change, changed
from executor.store.materiality.shape import Shape, has_effect, is_leaf, well_formed
from executor.store.materiality.values import plain
from ir import PlanNode
from ir.plan import Gate, ToolCall

# Arguments of calls that read which say what is looked for, not where, by their names in the built-in tools.
WORDS: Final = frozenset(
    {"query", "pattern", "text", "regex", "word", "whole_word", "ignore_case", "language", "context"}
    | {"since", "until", "from", "to", "columns", "header", "staged", "seconds"}
)
MOST: Final = frozenset({"limit", "count", "max_bytes", "max_results"})  # how much at most: fewer is narrower
_PAYLOADS: Final = frozenset({"step", "tool_call", "gate", "sub_dispatch"})


def added(node: PlanNode, before: Shape) -> Iterator[Change]:
    """What a node brings that the plan did not have."""
    place = f"plan.{node.id}"
    if not well_formed(node):
        yield changed("FIELD_CHANGED", place, None, plain(node), "no rule speaks of such a node")
    elif not is_leaf(node):
        yield changed("NODE_ADDED", place, None, node.kind)
    elif node.gate is not None:
        yield changed("GATE_ADDED", place, None, plain(node.gate))
    elif node.step is not None:
        yield changed("NODE_ADDED", place, None, plain(node.step))
    elif node.tool_call is None:
        yield changed("SUB_AGENT_ADDED", place, None, plain(node.sub_dispatch))
    elif has_effect(node):
        yield changed("EFFECT_ADDED", place, None, plain(node.tool_call))
    else:
        call = node.tool_call
        alike = [one for one in _reads(before) if one.tool_ref == call.tool_ref]
        code = "TOOL_ADDED" if not alike else "SCOPE_WIDER"
        if any(_within(one.args, call.args) for one in alike):
            code = "NODE_ADDED"
        yield changed(code, place, None, plain(call))


def changes_of(old: PlanNode, new: PlanNode, before: Shape, *, used: bool) -> Iterator[Change]:
    """Every difference between a node and its successor, but for where it stands.

    used: whether some effect is made from its output.
    """
    place = f"plan.{old.id}"
    if old.description != new.description:
        yield changed("TEXT_CHANGED", f"{place}.description", plain(old.description), plain(new.description))
    branches = not is_leaf(old) and not is_leaf(new)
    if old.kind != new.kind and not branches:
        yield changed("NODE_KIND_CHANGED", f"{place}.kind", old.kind, new.kind)
        return
    if old.kind != new.kind:
        yield changed("NODE_MOVED", f"{place}.kind", old.kind, new.kind)
    for name in PlanNode.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if name in ("id", "kind", "description", "children") or was == now_is:
            continue
        if name not in _PAYLOADS or was is None or now_is is None:
            yield changed("FIELD_CHANGED", f"{place}.{name}", plain(was), plain(now_is))
        elif name == "tool_call":
            yield from _calls(was, now_is, place, before, used=used)
        elif name == "gate":
            yield from _gates(was, now_is, place)
        elif name == "step":
            yield changed("ARGS_CHANGED" if used else "STEP_CHANGED", place, plain(was), plain(now_is))
        else:
            yield changed("SUB_AGENT_CHANGED", place, plain(was), plain(now_is))


def _calls(old: ToolCall, new: ToolCall, place: str, before: Shape, *, used: bool) -> Iterator[Change]:
    reads = old.side_effect_class == new.side_effect_class == "read"
    for name in ToolCall.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        where = f"{place}.{name}"
        if name == "tool_ref":
            same = was.rpartition("@")[0] == now_is.rpartition("@")[0] != ""
            yield changed("TOOL_PIN_CHANGED" if same else "TOOL_CHANGED", where, plain(was), plain(now_is))
        elif name == "side_effect_class":
            yield changed("EFFECT_CLASS_CHANGED", where, plain(was), plain(now_is))
        elif name == "timeout_ms":
            yield changed("READ_CHANGED" if reads else "TIMEOUT_CHANGED", where, plain(was), plain(now_is))
        elif name != "args":
            yield changed("FIELD_CHANGED", where, plain(was), plain(now_is))
        elif not reads:
            yield from _args(was, now_is, where)
        else:
            known = [old.args, *(one.args for one in _reads(before) if one.tool_ref == new.tool_ref)]
            yield from _read_args(was, now_is, where, known, used=used)


def _args(old: Mapping[str, str], new: Mapping[str, str], place: str) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield changed("ARGS_CHANGED", f"{place}.{name}", old.get(name), new.get(name))


def _read_args(
    old: Mapping[str, str],
    new: Mapping[str, str],
    place: str,
    known: Sequence[Mapping[str, str]],
    *,
    used: bool,
) -> Iterator[Change]:
    """known: arguments of calls of this tool that were accepted."""
    elsewhere = not any(_within(one, new) for one in known)
    for name in sorted(old.keys() | new.keys()):
        was, now_is = old.get(name), new.get(name)
        if was == now_is:
            continue
        if _narrower(name, was, now_is):
            code = "ARGS_NARROWED"
        elif name not in WORDS and elsewhere:
            code = "SCOPE_WIDER"
        else:
            code = "ARGS_CHANGED" if used else "READ_CHANGED"
        yield changed(code, f"{place}.{name}", was, now_is)


def _within(accepted: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Does a call that reads stay where an accepted one of the same tool was?"""
    return all(
        accepted.get(name) == wanted.get(name) or _narrower(name, accepted.get(name), wanted.get(name))
        for name in (accepted.keys() | wanted.keys()) - WORDS
    )


def _narrower(name: str, old: str | None, new: str | None) -> bool:
    """A path below the old one, or a smaller number of what is read at most."""
    if old is None or new is None or "$" in old + new:
        return False
    if name in MOST:
        whole = old.isascii() and old.isdigit() and new.isascii() and new.isdigit()
        return whole and 0 < int(new[:18]) < int(old[:18]) and len(old) <= 18
    parts = new.split("/")
    below = name not in WORDS and "://" not in old + new and not {"", ".", ".."} & set(parts)
    return below and old != "" and new.startswith(old.rstrip("/") + "/")


def _gates(old: Gate, new: Gate, place: str) -> Iterator[Change]:
    for name in Gate.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        if name == "refuses":
            code = "GATE_OPTIONS_NARROWER" if set(was) <= set(now_is) else "GATE_OPTIONS_WIDER"
        elif name == "options":
            code = _options(set(was), set(now_is))
        elif name in ("question", "rule_ref"):
            code = "GATE_CHANGED"
        else:
            code = "GATE_TIMEOUT_CHANGED" if name == "timeout_ms" else "FIELD_CHANGED"
        yield changed(code, f"{place}.{name}", plain(was), plain(now_is))


def _options(old: set[str], new: set[str]) -> str:
    """No options: free text, which is not fewer answers than any list."""
    if old == new:
        return "SAME_VALUE"
    return "GATE_OPTIONS_NARROWER" if new and new < old else "GATE_OPTIONS_WIDER"


def _reads(shape: Shape) -> list[ToolCall]:
    return [node.tool_call for node in shape.order if node.tool_call is not None and not has_effect(node)]
