"""Naming a field of an Intent or a plan by a short path, and making patches (RFC 6902) of it.

    budget.max_calls                 a field of the Intent
    frame.constraints[0].by          of an element of a list, counted from 0
    frame.preferences[+]             one more element at the end of a list
    plan.budget.max_time             a field of the plan
    plan.search.args.query           of the node `search`, or of its tool call, step, gate or dispatch
    plan.search                      the node itself

A value is read by the type of its field: text as it is, `5` where a number is asked for, `true` or `false`,
JSON where a list or an object is. Nothing is guessed from its looks.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from executor.store.materiality import FIXED_IN_INTENT, FIXED_IN_PLAN
from ir import Document, DocumentError, Intent, PlanNode, PlanTree, as_document, parse_json
from ir.plan import TERMINAL_KINDS
from ir.scalars import FrozenMap
from mcl.core.errors import InputError

Operation = dict[str, Any]
Steps = list[str | int]
_TOKEN: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,6}|\+)\]")
_END: Final = "+"
_KEPT: Final[Mapping[Any, tuple[str, ...]]] = {  # never a person's to change, so not offered
    Intent: (*FIXED_IN_INTENT, "hash"),
    PlanTree: (*FIXED_IN_PLAN, "hash", "root"),
}


def patches_of(
    intent: Intent, plan: PlanTree, changes: Iterable[str], removed: Iterable[str] = ()
) -> list[Operation]:
    """Operations on {"intent": …, "plan": …} that set fields, then take some away.

    changes: `path=value`; removed: paths. Each sees what those before it left. Raises InputError
    PATH_UNKNOWN, PATH_AMBIGUOUS, VALUE_WRONG, with the path in `place`.
    """
    documents: dict[str, Any] = {"intent": plain_document(intent), "plan": plain_document(plan)}
    operations: list[Operation] = []
    for change in changes:
        path, sign, text = change.partition("=")
        if not sign:
            fix = "write --set path=value, such as --set budget.max_calls=5"
            raise InputError("VALUE_WRONG", f"{change!r} has no value", place=path or "path", fix=fix)
        steps, kind = _found(path.strip(), documents)
        operations += _put(documents, steps, _typed(text, kind, path.strip()))
    for path in removed:
        steps, _ = _found(path, documents)
        if not _is_there(documents, steps):
            raise InputError("PATH_UNKNOWN", "there is nothing", place=path, fix="leave it out")
        operations.append({"op": "remove", "path": _pointer(steps)})
        _take(documents, steps)
    return operations


def patches_between(before: object, after: object, pointer: str = "") -> list[Operation]:
    """Operations that make one JSON value another: field by field, lists of another length as a whole; in an
    order that follows from the two."""
    if type(before) is type(after) and before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        found: list[Operation] = []
        for name in sorted(before.keys() | after.keys()):
            place = pointer + _pointer([name])
            if name not in after:
                found.append({"op": "remove", "path": place})
            elif name not in before:
                found.append({"op": "add", "path": place, "value": after[name]})
            else:
                found += patches_between(before[name], after[name], place)
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [
            one
            for place, (old, new) in pairs
            for one in patches_between(old, new, f"{pointer}{_pointer([place])}")
        ]
    return [{"op": "replace", "path": pointer, "value": after}]


def plain_document(document: Document) -> dict[str, Any]:
    """A document as JSON values, without its hash."""
    found = json.loads(json.dumps(as_document(document)))
    found.pop("hash", None)
    return dict(found)


# ---- paths ----


def _found(path: str, documents: Mapping[str, Any]) -> tuple[Steps, Any]:
    """Where a path leads in the documents, and the type that belongs there."""
    tokens = _tokens(path)
    if tokens[0] != "plan":
        return _typed_steps(["intent"], Intent, documents["intent"], tokens, path)
    plan = documents["plan"]
    nodes = {str(node.get("id", "")): (node, steps) for node, steps in _nodes(plan.get("root", {}))}
    after = path[len("plan") :].removeprefix(".")
    named = [id for id in nodes if id and (after == id or after.startswith((f"{id}.", f"{id}[")))]
    if not named:
        return _typed_steps(["plan"], PlanTree, plan, tokens[1:], path, also=nodes)
    if tokens[1:] and tokens[1] in ("budget",) and "budget" in named:
        fix = "use --patch for it"
        raise InputError(
            "PATH_AMBIGUOUS", "the plan has a budget and a node of this name", place=path, fix=fix
        )
    id = max(named, key=len)
    node, steps = nodes[id]
    rest = _tokens(after[len(id) :].removeprefix(".")) if after != id else []
    start: Steps = ["plan", *steps]
    if not rest:
        return start, PlanNode
    if rest[0] not in PlanNode.model_fields or rest[0] in TERMINAL_KINDS:
        payload = next((kind for kind in TERMINAL_KINDS if kind in node), "")
        if rest[0] != payload:
            rest = [payload, *rest] if payload else rest
    return _typed_steps(start, PlanNode, node, rest, path)


def _tokens(path: str) -> list[str | int]:
    found: list[str | int] = []
    at = 0
    while at < len(path) and (match := _TOKEN.match(path, at)):
        name, place = match.groups()
        found.append(name if name is not None else _END if place == _END else int(place))
        at = match.end()
    if at < len(path) or not found:
        fix = "such as budget.max_calls, frame.constraints[0].by or plan.search.args.query"
        raise InputError("PATH_UNKNOWN", f"{path!r} is no path", place=path or "path", fix=fix)
    return found


def _nodes(root: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Steps]]:
    waiting: list[tuple[Mapping[str, Any], Steps]] = [(root, ["root"])]
    while waiting:
        node, steps = waiting.pop()
        yield node, steps
        children = node.get("children", [])
        waiting += [(child, [*steps, "children", place]) for place, child in enumerate(children)]


def _typed_steps(
    start: Steps, kind: Any, value: Any, tokens: Iterable[str | int], path: str, also: Iterable[str] = ()
) -> tuple[Steps, Any]:
    """Follow tokens through the types of a document, with its value beside it."""
    steps = list(start)
    for token in tokens:
        kind = _bare(kind, value)
        if isinstance(kind, type) and issubclass(kind, FrozenMap):
            known: Iterable[str] = (value or {}).keys()
            if not isinstance(token, str):
                raise _unknown(path, token, known)
            kind = str
        elif isinstance(kind, type) and issubclass(kind, Document):
            fields = kind.model_fields
            if token not in fields:
                raise _unknown(path, token, [*also, *(n for n in fields if n not in _KEPT.get(kind, ()))])
            kind = fields[str(token)].annotation
        elif get_origin(kind) is tuple:
            count = len(value or ())
            if token != _END and not (isinstance(token, int) and token < count):
                raise _unknown(path, token, [f"[{place}]" for place in range(count)] + ["[+]"])
            kind = get_args(kind)[0]
        else:
            raise _unknown(path, token, ())
        steps.append(token)
        value = _inside(value, token)
        also = ()
    return steps, _bare(kind, value)


def _bare(kind: Any, value: Any) -> Any:
    """A type without annotations and None; of several documents the one that the value says it is."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) not in (Union, UnionType):
        return kind
    members = [_bare(one, value) for one in get_args(kind) if one is not NoneType]
    if len(members) == 1:
        return members[0]
    if all(isinstance(one, type) and issubclass(one, Document) for one in members):
        said = value.get("type", "") if isinstance(value, dict) else ""
        fitting = [one for one in members if one.model_fields["type"].default == said]
        return fitting[0] if fitting else members[-1]  # an extension, or a new one
    return str  # an amount, kept as it is written


def _inside(value: Any, token: str | int) -> Any:
    if isinstance(value, dict):
        return value.get(token)
    if isinstance(value, list) and isinstance(token, int):
        return value[token]
    return None


def _unknown(path: str, token: str | int, known: Iterable[str]) -> InputError:
    names = sorted(known)
    fix = f"one of: {', '.join(names[:30])}" if names else "it has no parts"
    return InputError("PATH_UNKNOWN", f"there is no {token!r}", place=path, fix=fix)


# ---- values ----


def _typed(text: str, kind: Any, path: str) -> Any:
    if kind is int:
        if not re.fullmatch(r"[+-]?\d{1,16}", text, re.ASCII):
            raise InputError("VALUE_WRONG", f"{text!r} is no whole number", place=path, fix="such as 5")
        return int(text)
    if kind is bool:
        if text not in ("true", "false"):
            raise InputError(
                "VALUE_WRONG", f"{text!r} is neither true nor false", place=path, fix="true or false"
            )
        return text == "true"
    as_json = kind is float or get_origin(kind) is tuple
    if as_json or (isinstance(kind, type) and issubclass(kind, Document | FrozenMap)):
        try:
            return parse_json(text, max_nesting=PlanTree.max_nesting)
        except DocumentError as error:
            fix = "give it as JSON" if kind is not float else "such as 0.5"
            raise InputError("VALUE_WRONG", error.message, place=path, fix=fix) from error
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            "VALUE_WRONG", "this is no UTF-8 text", place=path, fix="write it as UTF-8"
        ) from error
    return text


# ---- patches ----


def _put(documents: dict[str, Any], steps: Steps, value: Any) -> list[Operation]:
    """Set a value; what leads to it is made where it is not there yet."""
    above: Any = documents
    for place, step in enumerate(steps[:-1]):
        below = _inside(above, step)
        if below is None:
            for later in reversed(steps[place + 1 :]):
                value = [value] if later == _END else {later: value}
            return _put(documents, steps[: place + 1], value)
        above = below
    last = steps[-1]
    if isinstance(above, list):
        if last == _END:
            above.append(value)
            return [{"op": "add", "path": _pointer([*steps[:-1], "-"]), "value": value}]
        above[int(last)] = value
        return [{"op": "replace", "path": _pointer(steps), "value": value}]
    above[last] = value
    return [{"op": "add", "path": _pointer(steps), "value": value}]


def _is_there(documents: Any, steps: Steps) -> bool:
    for step in steps:
        documents = _inside(documents, step)
        if documents is None:
            return False
    return True


def _take(documents: Any, steps: Steps) -> None:
    for step in steps[:-1]:
        documents = documents[step]
    del documents[steps[-1]]


def _pointer(steps: Steps) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
