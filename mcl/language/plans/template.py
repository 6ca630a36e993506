"""plan.yaml: the plans of a skill, with places for what the Intent says.

    version: 1
    plans:                      # the first case whose `when` holds
      - when: {verb: [find, analyze], slot.text: "*"}
        root: {id: n1, kind: tool_call, tool_call: {…, args: {query: "${slot.text}"}}}
        gives: {files: "${n1.output.matches[*].path}"}

`gives`: what a further wish of the goal may be given of it, by names of §OUTPUTS, each one reference.
`when`: each key is `verb` or `slot.<name>`, each value a text or a list of texts, one of which must be equal;
"*" is anything, "" is nothing. Places: `${slot.x}`, `${slot.x.uri}`, `${prose}`, `${verb}`, `${intent.id}`,
`${intent.created_at}`, `${intent.deadline}`.
`${node.output…}` is for the walker; `$${` is a literal `${`. A map entry that is one place which nothing
fills is left out; inside a longer text that is an error. Places stand in texts only (arguments, inputs,
questions, descriptions, sub-intents), never in ids, kinds, tools or side effects: what fills them is data.
An argument may be an object or a list; a place in it is a value (planner.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ir import VERBS, MclError, canonical_bytes
from ir.plan import NO, PAYLOADS, PlanNode
from ir.references import place_in_json, reference_alone
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.files import Cache
from mcl.language.mtx.source import MAX_FINDINGS, MtxFinding, nearest
from mcl.language.plans.document import Steps, YamlFile, read_yaml

# ---- The places of a plan.yaml, `${slot.x}` and the like: what may stand in one, and whose it is.

PLACE = re.compile(r"\$\$\{|\$\{(?P<name>[^{}\n]*)\}|\$\{")
_SLOT = re.compile(r"slot\.(?P<slot>[A-Za-z_][\w-]*)(?P<uri>\.uri)?")
_RUNTIME = re.compile(r"[^\s{}$]+\.output(?:[.\[].*)?")
PLAIN_PLACES = ("prose", "verb", "intent.id", "intent.created_at", "intent.deadline", "output_cardinality")


class SlotLike(Protocol):
    """What is asked of an input: name, an enum's options, and how many entries it takes."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...


class TemplateScope(Protocol):
    """What a template may speak of."""

    @property
    def slots(self) -> Sequence[SlotLike]: ...
    @property
    def verbs(self) -> tuple[str, ...]: ...


def slot_place(name: str) -> tuple[str, bool] | None:
    """`slot.x` as ("x", False), `slot.x.uri` as ("x", True), else None."""
    match = _SLOT.fullmatch(name)
    return (match["slot"], bool(match["uri"])) if match else None


def is_runtime(name: str) -> bool:
    """Whether a place is the walker's: `node.output…`."""
    return _RUNTIME.fullmatch(name) is not None


_CASE_KEYS = ("when", "root", "gives")
_NODE_KEYS = tuple(PlanNode.model_fields)


@dataclass(frozen=True)
class PlanShape:
    """The cases as plain values (only to be used where there are no findings), and where they came from."""

    cases: list[dict[str, Any]]
    findings: tuple[MtxFinding, ...]
    source: YamlFile | None


def read_shape(data: bytes, scope: TemplateScope | None) -> PlanShape:
    """Read a plan.yaml and check its form. Never raises for what is in it.

    scope: the skill whose slots and verbs may be named; None: they are not compared, because nothing
    certain is known of the skill.
    """
    source = read_yaml(data)
    if isinstance(source, MtxFinding):
        return PlanShape([], (source,), None)
    check = _Check(source, scope)
    cases = check.document(source.value)
    return PlanShape(cases, tuple(sorted(set(check.findings))), source)


class _Check:
    """Turns a YAML document into plain cases and notes what is wrong."""

    def __init__(self, source: YamlFile, scope: TemplateScope | None) -> None:
        self.source = source
        self.scope = scope
        self.slots = {slot.name: slot for slot in scope.slots} if scope else {}
        self.findings: list[MtxFinding] = []

    def wrong(
        self, steps: Steps, message: str, *, hint: str = "", text: str = "", key: bool = False,
        code: str = "PLAN_INVALID",
    ) -> None:  # fmt: skip
        if len(self.findings) >= MAX_FINDINGS:
            return
        line, column = self.source.at(steps, key=key)
        self.findings.append(MtxFinding(line, column, code, message, text[:200], hint))

    def document(self, document: Any) -> list[dict[str, Any]]:
        if not isinstance(document, dict) or set(document) != {"version", "plans"}:
            self.wrong((), "a plan.yaml has just the keys version and plans")
            return []
        if document["version"] != 1 or isinstance(document["version"], bool):
            self.wrong(("version",), f"version is 1, not {document['version']!r}")
        plans = document["plans"]
        if not isinstance(plans, list) or not plans:
            self.wrong(("plans",), "plans is a list with at least one case")
            return []
        return [self.case(case, ("plans", index)) for index, case in enumerate(plans)]

    def case(self, case: Any, steps: Steps) -> dict[str, Any]:
        if not isinstance(case, dict) or "root" not in case:
            self.wrong(steps, "a case has the keys when and root")
            return {"when": {}, "root": {}}
        for key in case:
            if key not in _CASE_KEYS:
                hint, message = nearest(str(key), _CASE_KEYS), "a case has the keys when, root and gives"
                self.wrong((*steps, key), message, hint=hint, text=str(key), key=True)
        when = case.get("when") or {}
        if not isinstance(when, dict):
            self.wrong((*steps, "when"), "when is a map")
            when = {}
        tests = {str(key): self.values(key, value, (*steps, "when", key)) for key, value in when.items()}
        plain = {"when": tests, "root": self.node(case["root"], (*steps, "root"))}
        return {**plain, "gives": self.gives(case["gives"], (*steps, "gives"))} if "gives" in case else plain

    def gives(self, gives: Any, steps: Steps) -> dict[str, str]:
        """What the plan gives to whoever dispatches it: each by its name, one reference."""
        if not isinstance(gives, dict) or not gives:
            self.wrong(steps, "gives is a map of names and references")
            return {}
        for name, text in gives.items():
            if not isinstance(text, str) or reference_alone(text) is None:
                hint = "such as ${search.output.text}"
                self.wrong((*steps, name), "what is given is one reference", hint=hint, text=str(text)[:80])
        return {str(name): str(text) for name, text in gives.items()}

    def values(self, key: Any, value: Any, steps: Steps) -> list[str]:
        """What a test of `when` compares with."""
        texts = [_scalar(item) for item in (value if isinstance(value, list) else [value])]
        known = [text for text in texts if text is not None]
        if len(known) != len(texts) or not known:
            self.wrong(steps, "the value is a text or a list of texts")
        legal = self.legal(key, known)
        if legal is None:
            hint = nearest(str(key), ["verb", *(f"slot.{name}" for name in self.slots)])
            self.wrong(
                steps,
                f"when knows verb and the skill's slots, not {key!r}",
                hint=hint,
                text=str(key),
                key=True,
            )
            return known
        for place, text in enumerate(known):
            if text not in legal:
                where = (*steps, place) if isinstance(value, list) else steps
                message = f"{key} is never {text!r} in this skill"
                self.wrong(where, message, hint=nearest(text, legal), text=text)
        return known

    def legal(self, key: Any, known: list[str]) -> Sequence[str] | None:
        """The values that a key of `when` may have; None where there is no such key."""
        if key == "verb":
            return known if self.scope is None else self.scope.verbs or VERBS
        path = slot_place(str(key))
        if path is None or path[1] or (self.scope is not None and path[0] not in self.slots):
            return None
        options = self.slots[path[0]].options if path[0] in self.slots else ()
        return (*options, "*", "") if options else known

    def node(self, node: Any, steps: Steps) -> dict[str, Any]:
        if not isinstance(node, dict):
            self.wrong(steps, "a node is a map")
            return {}
        for key in node:
            if key not in _NODE_KEYS:
                hint = nearest(str(key), _NODE_KEYS)
                self.wrong((*steps, key), f"a node has no {key!r}", hint=hint, text=str(key), key=True)
        plain: dict[str, Any] = {}
        for key, value in node.items():
            if key == "children" and isinstance(value, list):
                plain[key] = [self.node(child, (*steps, key, index)) for index, child in enumerate(value)]
            elif key == "gate" and isinstance(value, dict):
                plain[key] = self.gate(value, steps)
            elif key == "tool_call" and isinstance(value, dict) and isinstance(value.get("args"), dict):
                place = (*steps, key, "args")
                args = {str(name): self.argument(one, (*place, name)) for name, one in value["args"].items()}
                plain[key] = {**self.payload(key, {**value, "args": {}}, steps), "args": args}
            elif key in PAYLOADS and isinstance(value, dict):
                plain[key] = self.payload(key, value, steps)
            else:
                plain[str(key)] = self.value(value, (*steps, key), free=key in ("description", "when"))
        return plain

    def payload(self, kind: str, value: dict[Any, Any], steps: Steps) -> dict[str, Any]:
        """What a terminal node says: places may stand where a reference may."""
        free = PAYLOADS[kind].referring
        return {
            str(key): self.value(item, (*steps, kind, key), free=key in free) for key, item in value.items()
        }

    def gate(self, gate: dict[Any, Any], node: Steps) -> dict[str, Any]:
        """A question: of options that say what they do, their names, and which of them refuse."""
        steps = (*node, "gate")
        if "refuses" in gate:
            hint = "options: [{name: …, continues: false}]"
            self.wrong((*steps, "refuses"), "an option says itself that it refuses", hint=hint, key=True)
        options, names, refuses = gate.get("options"), [], []
        for place, option in enumerate(options if isinstance(options, list) else ()):
            name, goes_on = option, None
            if isinstance(option, dict):
                name, goes_on = option.get("name"), option.get("continues", True)
                if set(option) - {"name", "continues"} or not isinstance(goes_on, bool):
                    message = "an option is a text, or has the keys name and continues (true or false)"
                    self.wrong((*steps, "options", place), message)
            if goes_on and name in NO:
                message = f"the option {name!r} is a word for no, and cannot go on"
                self.wrong((*steps, "options", place), message, hint="give it another name", text=str(name))
            names.append(name)
            if goes_on is False:
                refuses.append(name)
        plain = self.payload("gate", {**gate, "options": names} if names else gate, node)
        return {**plain, "refuses": [str(name) for name in refuses]} if refuses else plain

    def argument(self, value: Any, steps: Steps, *, inside: bool = False) -> Any:
        """An argument of a call: a text, or an object or a list, whose values stay what they are."""
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str) or "${" in key:
                    hint = "the names of an object are texts without places"
                    self.wrong((*steps, key), f"{key!r} is no name", hint=hint, text=str(key), key=True)
            return {str(key): self.argument(item, (*steps, key), inside=True) for key, item in value.items()}
        if isinstance(value, list):
            return [self.argument(item, (*steps, place), inside=True) for place, item in enumerate(value)]
        if inside and value is None:
            return None
        text = self.value(value, steps, free=True)
        if isinstance(value, str):
            self.json(text, steps, "write the argument as an object or a list, without quotes around it")
        return value if inside and text else text

    def json(self, text: str, steps: Steps, hint: str) -> None:
        """Say that a place stands in a text of JSON."""
        pieces: list[str | None] = []
        end = 0
        for match in PLACE.finditer(text):
            pieces += [text[end : match.start()], None if match["name"] else "${"]
            end = match.end()
        if place_in_json([*pieces, text[end:]]):
            message = "a place in a text of JSON: what fills it could become more than one value"
            self.wrong(steps, message, hint=hint, text=text, code="PLACE_IN_JSON")

    def value(self, value: Any, steps: Steps, *, free: bool) -> Any:
        """Any value below a node: maps and lists as they are, leaves checked for places.

        `free`: places may stand here. Numbers stay numbers (timeout_ms) but in free maps, which hold texts.
        """
        if isinstance(value, dict):
            return {str(key): self.value(item, (*steps, key), free=free) for key, item in value.items()}
        if isinstance(value, list):
            return [self.value(item, (*steps, index), free=free) for index, item in enumerate(value)]
        text = _scalar(value)
        if text is None:
            self.wrong(steps, f"{value!r} is no text and no number", hint="put it in quotes")
            return ""
        if not isinstance(value, str):
            return text if free else value
        for place, message, hint in self.places(text, free=free):
            self.wrong(steps, message, hint=hint, text=place)
        # What a sub-skill is given becomes arguments of its own plan, one level further down.
        if "sub_intent" in steps:
            self.json(text, steps, "hand each value over as an input of its own")
        return text

    def places(self, text: str, *, free: bool) -> Iterator[tuple[str, str, str]]:
        """What is wrong with the places in a text: the place, what is wrong, a hint."""
        end = -1  # where the last slot place ended
        for match in PLACE.finditer(text):
            name, whole = match["name"], match.group()
            if whole == "$${":
                continue
            if name is None:
                yield whole, "a ${ that is not closed", "write $${ for a literal one"
            elif not free:
                yield whole, f"{whole} cannot stand here: what fills a place is data", ""
            elif is_runtime(name):
                # Data of a slot that ends in `$` would turn the reference behind it into an escaped one.
                if match.start() == end:
                    hint = f"put a blank or a word before {whole}"
                    yield whole, f"the text before {whole} could hide it", hint
            elif name not in PLAIN_PLACES and self.unknown_slot(name):
                hint = nearest(name, [*PLAIN_PLACES, *(f"slot.{slot}" for slot in self.slots)])
                yield whole, f"nothing is called {whole}", hint
            else:
                end = match.end()

    def unknown_slot(self, name: str) -> bool:
        path = slot_place(name)
        return path is None or (self.scope is not None and path[0] not in self.slots)


def _scalar(value: Any) -> str | None:
    """A YAML leaf as text; None for what has no plain text (null, lists, numbers too large)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return None
    try:
        return canonical_bytes(value).decode()
    except MclError:
        return None


VERSION = 4  # of the form; part of the cache key


@dataclass(frozen=True)
class PlanCase:
    """One plan and when it is taken; `root` is the node as plain JSON values with texts for leaves; `gives`:
    what it gives, by name, each one reference."""

    when: Mapping[str, tuple[str, ...]]
    root: Mapping[str, Any]
    gives: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlanTemplate:
    """The cases in order, and the digest (hex sha256) of what they say."""

    path: Path
    cases: tuple[PlanCase, ...]
    digest: str


def is_kept(data: bytes, *, skill_digest: str, store: Cache) -> bool:
    """Whether a plan.yaml was read and found good before, with this skill."""
    return store.has(f"plan {skill_digest}", str(VERSION), data)


def read_template(
    path: Path, data: bytes, *, skill_digest: str, scope: TemplateScope, store: Cache
) -> PlanTemplate:
    """Read and check a plan.yaml against its skill.

    Raises SkillError PLAN_INVALID with everything that is wrong with its form (`data["errors"]`: code, line,
    column and message each); mcl.language.plans.checks compares it with the skill and the tools.
    """

    def template(document: Any) -> PlanTemplate:
        cases = tuple(
            PlanCase(
                {key: tuple(values) for key, values in case["when"].items()},
                {**case["root"]},
                case.get("gives", {}),
            )
            for case in document
        )
        if not cases:
            raise ValueError("a template has a case")
        return PlanTemplate(path, cases, value_digest(document))

    return store.get(
        f"plan {skill_digest}", str(VERSION), data, lambda: _checked(path, data, scope), template
    )


def _checked(path: Path, data: bytes, scope: TemplateScope) -> list[dict[str, Any]]:
    shape = read_shape(data, scope)
    if shape.findings:
        first, more = shape.findings[0], len(shape.findings) - 1
        raise SkillError(
            "PLAN_INVALID",
            "; ".join(filter(None, (first.message, first.hint))) + (f" (and {more} more)" if more else ""),
            place=first.place(str(path)),
            fix=f"mcl skill check {path.parent}",
            data={"path": str(path), "errors": [finding.to_json() for finding in shape.findings]},
        )
    return shape.cases
