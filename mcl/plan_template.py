"""plan.yaml: the plans of a skill, with places for what the Intent says.

    version: 1
    plans:                      # the first case whose `when` holds
      - when: {verb: [find, analyze], slot.text: "*"}
        root: {id: n1, kind: tool_call, tool_call: {…, args: {query: "${slot.text}"}}}

`when`: each key is `verb` or `slot.<name>`, each value a text or a list of texts, one of which must be equal;
"*" is anything, "" is nothing. Places: `${slot.x}`, `${slot.x.uri}`, `${prose}`, `${verb}`, `${intent.id}`.
`${node.output…}` is for the walker; `$${` is a literal `${`. A map entry that is one place which nothing
fills is left out; inside a longer text that is an error. Places stand in texts only (arguments, inputs,
questions, descriptions, sub-intents), never in ids, kinds, tools or side effects: what fills them is data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ir import VERBS, canonical_bytes
from mcl.errors import SkillError
from mcl.mtx.cache import Cache
from mcl.mtx.digest import value_digest
from mcl.mtx.finding import nearest

VERSION = 1  # of the form; part of the cache key
PLACE = re.compile(r"\$\$\{|\$\{(?P<name>[^{}\n]*)\}|\$\{")
_SLOT = re.compile(r"slot\.(?P<slot>[A-Za-z_][\w-]*)(?P<uri>\.uri)?")
_RUNTIME = re.compile(r"[^\s{}$]+\.output(?:[.\[].*)?")
_PLAIN = ("prose", "verb", "intent.id")
_NODE_KEYS = ("id", "kind", "description", "children", "step", "tool_call", "sub_dispatch", "gate")
_FREE_TEXT = ("description", "question", "args", "inputs", "sub_intent")


class SlotLike(Protocol):
    """What is asked of an input: name, an enum's options, and how many entries it takes."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...


class Scope(Protocol):
    """What a template may speak of."""

    @property
    def slots(self) -> Sequence[SlotLike]: ...
    @property
    def verbs(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Case:
    """One plan and when it is taken; `root` is the node as plain JSON values with texts for leaves."""

    when: Mapping[str, tuple[str, ...]]
    root: Mapping[str, Any]


@dataclass(frozen=True)
class PlanTemplate:
    """The cases in order, and the digest (hex sha256) of what they say."""

    path: Path
    cases: tuple[Case, ...]
    digest: str


def slot_place(name: str) -> tuple[str, bool] | None:
    """`slot.x` as ("x", False), `slot.x.uri` as ("x", True), else None."""
    match = _SLOT.fullmatch(name)
    return (match["slot"], bool(match["uri"])) if match else None


def is_runtime(name: str) -> bool:
    """Whether a place is the walker's: `node.output…`."""
    return _RUNTIME.fullmatch(name) is not None


def read_template(path: Path, data: bytes, *, skill_digest: str, scope: Scope, store: Cache) -> PlanTemplate:
    """Read and check a plan.yaml against its skill.

    Raises SkillError PLAN_INVALID with everything that is wrong (`data["errors"]`: code, place and
    message each).
    """

    def template(document: Any) -> PlanTemplate:
        cases = tuple(
            Case({key: tuple(values) for key, values in case["when"].items()}, {**case["root"]})
            for case in document
        )
        if not cases:
            raise ValueError("a template has a case")
        return PlanTemplate(path, cases, value_digest(document))

    return store.get(
        f"plan {skill_digest}", str(VERSION), data, lambda: _checked(path, data, scope), template
    )


def _checked(path: Path, data: bytes, scope: Scope) -> list[dict[str, Any]]:
    import yaml  # here, because a cached template needs none of it

    try:
        document = yaml.load(data, Loader=_loader(yaml))  # noqa: S506  # a SafeLoader
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        message = f"not YAML: {getattr(error, 'problem', None) or error}"
        raise SkillError("PLAN_INVALID", message, place=place, fix="see the README of skills") from error
    check = _Check(scope)
    cases = check.document(document)
    if check.errors:
        where, message = check.errors[0]
        errors = [
            {"code": "PLAN_INVALID", "place": f"{path.name}: {where}", "message": message}
            for where, message in check.errors
        ]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise SkillError("PLAN_INVALID", message + more, place=f"{path}: {where}", data={"errors": errors})
    return cases


def _loader(yaml: Any) -> Any:
    """YAML's safe loader without aliases (they grow without end) and without doubled keys."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # loaded late (C: asks no hooks)
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                event = self.peek_event()
                raise yaml.composer.ComposerError(None, None, "aliases are not used here", event.start_mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value]
            double = next((key for key, _ in node.value if names.count(key.value) > 1), None)
            if double is not None:
                problem = f"a second {double.value!r} in this map"
                raise yaml.constructor.ConstructorError(None, None, problem, double.start_mark)
            return super().construct_mapping(node, deep)

    return Loader


class _Check:
    """Turns a YAML document into plain cases and notes what is wrong."""

    def __init__(self, scope: Scope) -> None:
        self.slots = {slot.name: slot for slot in scope.slots}
        self.verbs = scope.verbs
        self.errors: list[tuple[str, str]] = []

    def document(self, document: Any) -> list[dict[str, Any]]:
        if not isinstance(document, dict) or set(document) != {"version", "plans"}:
            self.errors.append(("$", "a plan.yaml has just the keys version and plans"))
            return []
        if document["version"] != 1:
            self.errors.append(("version", f"version is 1, not {document['version']!r}"))
        plans = document["plans"]
        if not isinstance(plans, list) or not plans:
            self.errors.append(("plans", "plans is a list with at least one case"))
            return []
        return [self.case(case, f"plans[{index}]") for index, case in enumerate(plans)]

    def case(self, case: Any, place: str) -> dict[str, Any]:
        if not isinstance(case, dict) or "root" not in case or set(case) - {"when", "root"}:
            self.errors.append((place, "a case has the keys when and root"))
            return {"when": {}, "root": {}}
        when = case.get("when") or {}
        if not isinstance(when, dict):
            self.errors.append((f"{place}.when", "when is a map"))
            when = {}
        tests = {str(key): self.values(key, value, f"{place}.when.{key}") for key, value in when.items()}
        return {"when": tests, "root": self.node(case["root"], f"{place}.root")}

    def values(self, key: Any, value: Any, place: str) -> list[str]:
        texts = [_scalar(item) for item in (value if isinstance(value, list) else [value])]
        known = [text for text in texts if text is not None]
        if len(known) != len(texts) or not known:
            self.errors.append((place, "the value is a text or a list of texts"))
        path = slot_place(str(key))
        if key == "verb":
            legal: Sequence[str] = self.verbs or VERBS
        elif path is not None and not path[1] and path[0] in self.slots:
            options = self.slots[path[0]].options
            legal = (*options, "*", "") if options else known
        else:
            hint = nearest(str(key), ["verb", *(f"slot.{name}" for name in self.slots)])
            self.errors.append((place, f"when knows verb and the skill's slots, not {key!r}; {hint}"))
            return known
        for text in known:
            if text not in legal:
                self.errors.append((place, f"{key} is never {text!r} in this skill; {nearest(text, legal)}"))
        return known

    def node(self, node: Any, place: str) -> dict[str, Any]:
        if not isinstance(node, dict):
            self.errors.append((place, "a node is a map"))
            return {}
        for key in node:
            if key not in _NODE_KEYS:
                message = f"a node has no {key!r}; {nearest(str(key), _NODE_KEYS)}"
                self.errors.append((f"{place}.{key}", message))
        plain: dict[str, Any] = {}
        for key, value in node.items():
            if key == "children" and isinstance(value, list):
                plain[key] = [self.node(child, f"{place}.children[{i}]") for i, child in enumerate(value)]
            else:
                plain[key] = self.value(value, f"{place}.{key}", free=key in _FREE_TEXT)
        return plain

    def value(self, value: Any, place: str, *, free: bool) -> Any:
        """Any value below a node: maps and lists as they are, leaves checked for places.

        `free`: places may stand here. Numbers stay numbers (timeout_ms) but in free maps, which hold texts.
        """
        if isinstance(value, dict):
            return {
                str(key): self.value(item, f"{place}.{key}", free=free or key in _FREE_TEXT)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.value(item, f"{place}[{i}]", free=free) for i, item in enumerate(value)]
        text = _scalar(value)
        if text is None:
            self.errors.append((place, f"{value!r} is no text and no number; put it in quotes"))
            return ""
        if not isinstance(value, str):
            return text if free else value
        self.errors += ((place, message) for message in self.places(text, free=free))
        return text

    def places(self, text: str, *, free: bool) -> Iterator[str]:
        end = -1  # where the last slot place ended
        for match in PLACE.finditer(text):
            name = match["name"]
            if match.group() == "$${":
                continue
            if name is None:
                yield "a ${ that is not closed; write $${ for a literal one"
            elif not free:
                yield f"{match.group()} cannot stand here: what fills a place is data"
            elif is_runtime(name):
                if match.start() == end:
                    yield f"put a blank or a word before {match.group()}: the text before it could hide it"
            elif name not in _PLAIN and ((path := slot_place(name)) is None or path[0] not in self.slots):
                hint = nearest(name, [*_PLAIN, *(f"slot.{slot}" for slot in self.slots)])
                yield f"nothing is called {match.group()}; {hint}"
            else:
                end = match.end()


def _scalar(value: Any) -> str | None:
    """A YAML leaf as text; None for what has no plain text (dates, null, lists)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return canonical_bytes(value).decode() if isinstance(value, int | float) else None
