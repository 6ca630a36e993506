"""Trees and texts for the tests of the language: any tree, and any layout of it."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from mcl.language.mtx.ast import (
    AnyUnknown,
    Argument,
    ClarifyNode,
    ConfidenceIs,
    FailureNode,
    File,
    Items,
    On,
    PromptNode,
    Property,
    ReferenceNode,
    Resolve,
    Section,
    Setting,
    Slot,
    SlotIs,
    SlotPath,
    SlotType,
    Text,
    UnknownNode,
    VerbIs,
)
from mcl.language.mtx.layout import quoted

EXAMPLE = """§SKILL
id=find-flights
version=1.0.0
display="Find flights"
author=did:key:z6Mk...
description="Searches flights and compares prices"
mcl.verbs=find acquire
determinism=seedable
seed_policy=per_intent

§INPUTS
slot target: ArtifactRef
  required
  hint="What to look for"
slot cabin: enum<economy|premium|business>
  optional
  default=economy
slot tags: string[]
  optional
  max=5

§CORTEX
reads=Fact Goal Preference
tags=travel

§TOOLS
matrix://tool/http/get@1.0.0

§SUB_SKILLS
none

§PROCEDURE
on verb=find
  kind="summarize"
  output_cardinality=3
  prompt
    system="..."
    user="Goal: {prose}\\nTarget: {slot.target}"
  end
  resolve slot.target <- cortex.find(type=Fact, near=slot.target.prose, limit=5)
  unknown slot.target
    severity=blocking
    reason="No target was named"
  end
end
on confidence<0.75
  clarify slot.target
    prompt="Which one do you mean?"
    type=ArtifactRef
    required=true
    options=[a b]
  end
end

§OUTPUTS
slot result: ArtifactRef
  required

§FAILURE_MODES
budget_exceeded
  suggest=raise_budget
tool_missing
  action=fail
  reason=tool_failure

§HASH
v=1
algo=sha256_ast
digest=
"""

_name = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,7}", fullmatch=True)
# what survives reading unchanged: no control characters but \n and \t, no lone surrogates, NFC
_prose = st.text(
    st.characters(codec="ascii", exclude_categories=("Cc",)) | st.sampled_from("\n\t§åπ…🙂"), max_size=20
)
_text = st.builds(Text, _prose)
_some_text = st.none() | _text
_items = st.builds(Items, st.lists(_text, max_size=3).map(tuple))
_value = _text | _items
_type = st.builds(
    SlotType, st.sampled_from(["string", "uint", "ArtifactRef"]), st.just(()), st.booleans()
) | st.builds(
    SlotType, st.just("enum"), st.lists(_name, min_size=1, max_size=3, unique=True).map(tuple), st.booleans()
)
_slot = st.builds(Slot, _name, _type, st.booleans(), st.none() | _value, _some_text, _some_text)
_condition = st.one_of(
    st.builds(VerbIs, st.sampled_from(["find", "build", "x:dance"])),
    st.builds(
        ConfidenceIs, st.sampled_from(["<", "<=", ">", ">=", "=="]), st.sampled_from(["0", "0.5", "1"])
    ),
    st.builds(SlotIs, _name, _text),
    st.just(AnyUnknown()),
)
_argument = st.builds(
    Argument,
    st.from_regex(r"[a-z_]{1,6}", fullmatch=True),
    _value | st.builds(SlotPath, _name, st.booleans()),
)
_leaf = st.one_of(
    st.builds(PromptNode, _some_text, _some_text),
    st.builds(
        Resolve,
        _name,
        st.sampled_from(["find", "resolve", "context"]),
        st.lists(_argument, max_size=3, unique_by=lambda argument: argument.key).map(tuple),
    ),
    st.builds(UnknownNode, _name, _some_text, _some_text, _some_text, st.none() | _items, st.none() | _value),
    st.builds(ClarifyNode, _name, _some_text, _some_text, _some_text, st.none() | _items, st.none() | _value),
    st.builds(Property, st.sampled_from(["kind", "output_cardinality"]), _text),
)


def _siblings(entry: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(entry, max_size=3, unique_by=_identity).map(tuple)


def _identity(entry: Any) -> object:
    """What may stand once among siblings; anything else is told apart by itself."""
    if isinstance(entry, Property):
        return entry.key
    return PromptNode if isinstance(entry, PromptNode) else id(entry)


_entry = st.recursive(_leaf, lambda inner: st.builds(On, _condition, _siblings(inner)), max_leaves=6)
_key = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,5}(\.[A-Za-z0-9_-]{1,5}){0,2}", fullmatch=True)
_settings = st.lists(st.builds(Setting, _key, _text), max_size=3, unique_by=lambda setting: setting.key).map(
    tuple
)
_reference = st.builds(ReferenceNode, st.from_regex(r"matrix://tool/[a-z/]{1,8}@1\.[0-9]\.0", fullmatch=True))
_failure_name = _name.filter(lambda name: name not in ("none",))
_failures = st.lists(
    st.builds(FailureNode, _failure_name, _some_text, _some_text, _some_text, _some_text, _some_text),
    max_size=3,
    unique_by=lambda failure: failure.name,
).map(tuple)
_slots = st.lists(_slot, max_size=3).map(tuple)


@st.composite
def files(draw: st.DrawFn) -> File:
    """Any well-formed tree; what it says need not make sense."""
    entries = {
        "SKILL": _settings,
        "INPUTS": _slots,
        "CORTEX": _settings,
        "TOOLS": st.lists(_reference, max_size=2).map(tuple),
        "SUB_SKILLS": st.just(()),
        "PROCEDURE": _siblings(_entry),
        "OUTPUTS": _slots,
        "FAILURE_MODES": _failures,
    }
    return File(tuple(Section(name, draw(strategy)) for name, strategy in entries.items()))


class Writer:
    """Writes a tree as text; with a `random`, in a layout of its own."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self.chance = chance
        self.lines: list[str] = []

    def write(self, file: File) -> str:
        """The whole text."""
        sections = list(file.sections)
        if self.chance:
            self.chance.shuffle(sections)
        for section in sections:
            self.line(0, f"§{section.name}")
            if not section.entries and section.name not in ("SKILL", "HASH") and self.maybe("none"):
                self.line(0, "none")
            for entry in section.entries:
                self.entry(entry, 0)
        end = "\r\n" if self.chance and self.chance.random() < 0.3 else "\n"
        return end.join(self.lines) + (end if not self.chance or self.chance.random() < 0.5 else "")

    def line(self, depth: int, text: str) -> None:
        indent = "  " * depth
        if self.chance:
            while self.chance.random() < 0.2:
                self.lines.append(self.chance.choice(["", "   ", "# §SKILL", "     # end", "#"]))
            indent = " " * (depth * 3 + (depth > 0) * self.chance.randrange(3))
            text += self.chance.choice(["", "", "  ", ' # end " [', " #"])
        self.lines.append(indent + text)

    def entry(self, entry: Any, depth: int) -> None:
        match entry:
            case Setting() | Property():
                self.line(depth, f"{entry.key}{self.equals()}{self.value(entry.value)}")
            case ReferenceNode():
                self.line(depth, entry.uri)
            case Slot():
                self.line(depth, f"slot {entry.name}{self.space()}:{self.space()}{entry.type}")
                modifiers = ["optional"] if entry.optional else self.maybe("required")
                modifiers += self.fields(entry, "default", "hint", "max")
                self.block(modifiers, depth)
            case FailureNode():
                self.line(depth, entry.name)
                self.block(self.fields(entry, "suggest", "action", "reason", "message", "retry"), depth)
            case On():
                self.line(depth, f"on {self.condition(entry.condition)}")
                for inner in entry.body:
                    self.entry(inner, depth + 1)
                self.line(depth, "end")
            case PromptNode():
                self.closed("prompt", self.fields(entry, "system", "user"), depth)
            case UnknownNode():
                fields = self.fields(entry, "severity", "reason", "type", "options", "default")
                self.closed(f"unknown slot.{entry.slot}", fields, depth)
            case ClarifyNode():
                fields = self.fields(entry, "prompt", "type", "required", "options", "default")
                self.closed(f"clarify slot.{entry.slot}", fields, depth)
            case Resolve():
                given = [f"{one.key}{self.equals()}{self.value(one.value)}" for one in entry.arguments]
                arguments = f"{self.space()},{self.space()}".join(given)
                self.line(depth, f"resolve slot.{entry.slot} <- cortex.{entry.call}({arguments})")

    def closed(self, head: str, fields: list[str], depth: int) -> None:
        self.line(depth, head)
        self.block(fields, depth)
        self.line(depth, "end")

    def block(self, lines: list[str], depth: int) -> None:
        if self.chance:
            self.chance.shuffle(lines)
        for line in lines:
            self.line(depth + 1, line)

    def fields(self, node: Any, *names: str) -> list[str]:
        given = [(name, getattr(node, name)) for name in names]
        return [f"{name}{self.equals()}{self.value(value)}" for name, value in given if value is not None]

    def condition(self, condition: Any) -> str:
        match condition:
            case VerbIs():
                return f"verb{self.equals()}{condition.verb}"
            case ConfidenceIs():
                return f"confidence{self.space()}{condition.comparison}{self.space()}{condition.number}"
            case SlotIs():
                return f"slot.{condition.slot}{self.equals()}{self.value(condition.value)}"
            case _:
                return "unknown"

    def value(self, value: Any) -> str:
        match value:
            case Items():
                between = self.chance.choice([" ", ", ", "  ,"]) if self.chance else " "
                return f"[{between.join(self.value(item) for item in value.items)}{self.space()}]"
            case SlotPath():
                return f"slot.{value.slot}" + ".prose" * value.prose
        plain = value.value.isascii() and value.value.isalnum()
        return value.value if plain and self.chance and self.chance.random() < 0.7 else quoted(value.value)

    def maybe(self, word: str) -> list[str]:
        return [word] if self.chance is None or self.chance.random() < 0.5 else []

    def space(self) -> str:
        return self.chance.choice(["", "", " ", "  "]) if self.chance else ""

    def equals(self) -> str:
        return f"{self.space()}={self.space()}"
