"""The typed tree of a MatrixScript file.

Every node carries `at`, its place in the text, which takes no part in equality: two files that mean the same
have equal trees. What has no order in the language (modifiers, the fields of a block) is a field here; what
has one (settings, slots, entries, failures) is a tuple in the order of declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias


class Position(NamedTuple):
    """A place in a file: line and column, both from 1, column in characters."""

    line: int
    column: int


NOWHERE = Position(0, 0)


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """Anything with a place.

    Equality, hash and repr are written once here: generated for each kind they double the time that importing
    this module takes.
    """

    at: Position = field(default=NOWHERE, kw_only=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and tuple(self._parts()) == tuple(other._parts())

    def __hash__(self) -> int:
        return hash(tuple(self._parts()))

    def __repr__(self) -> str:
        done: list[str] = []
        waiting: list[object] = [self]
        while waiting:
            match waiting.pop():
                case Node() as node:
                    fields = [(name, value) for name, value in node.__dict__.items() if name != "at"]
                    waiting.append(_Mark(")"))
                    for name, value in reversed(fields):
                        waiting += [value, _Mark((", " if name != fields[0][0] else "") + f"{name}=")]
                    waiting.append(_Mark(f"{type(node).__name__}("))
                case tuple() as items:
                    waiting.append(_Mark(",)" if len(items) == 1 else ")"))
                    for index, value in reversed(list(enumerate(items))):
                        waiting += [value, _Mark(", " if index else "")]
                    waiting.append(_Mark("("))
                case _Mark() as mark:
                    done.append(mark)
                case value:
                    done.append(repr(value))
        return "".join(done)

    def _parts(self) -> Iterator[object]:
        """Kind and fields, less the place; not recursive, as blocks nest a thousand deep."""
        waiting: list[object] = [self]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Node):
                yield type(value)
                waiting += [part for name, part in value.__dict__.items() if name != "at"]
            elif isinstance(value, tuple):
                yield len(value)
                waiting += value
            else:
                yield value


class _Mark(str):
    """What stands between the values in a repr."""


@dataclass(frozen=True, eq=False, repr=False)
class Text(Node):
    """A value as written, less quotes and escapes."""

    value: str


@dataclass(frozen=True, eq=False, repr=False)
class Items(Node):
    """A value written as a list in brackets."""

    items: tuple[Text, ...]


@dataclass(frozen=True, eq=False, repr=False)
class SlotPath(Node):
    """A value that is read from a slot when it is used: `slot.target` or `slot.target.prose`."""

    slot: str
    prose: bool = False


Value: TypeAlias = Text | Items


@dataclass(frozen=True, eq=False, repr=False)
class Setting(Node):
    """`key.path=value`."""

    key: str
    value: Text


@dataclass(frozen=True, eq=False, repr=False)
class ReferenceNode(Node):
    """A bare `matrix://` reference in §TOOLS or §SUB_SKILLS."""

    uri: str


@dataclass(frozen=True, eq=False, repr=False)
class SlotType(Node):
    """`string`, `enum<a|b>` (name "enum" with its members), each also as a list: `string[]`."""

    name: str
    members: tuple[str, ...] = ()
    many: bool = False

    def __str__(self) -> str:
        name = f"enum<{'|'.join(self.members)}>" if self.name == "enum" else self.name
        return name + "[]" * self.many


@dataclass(frozen=True, eq=False, repr=False)
class Slot(Node):
    """An input or output: required unless `optional`; `max` is the text of `max=`."""

    name: str
    type: SlotType
    optional: bool = False
    default: Value | None = None
    hint: Text | None = None
    max: Text | None = None


@dataclass(frozen=True, eq=False, repr=False)
class VerbIs(Node):
    """`on verb=find`."""

    verb: str


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceIs(Node):
    """`on confidence<0.75`; `number` as written."""

    comparison: str
    number: str


@dataclass(frozen=True, eq=False, repr=False)
class SlotIs(Node):
    """`on slot.cabin=economy`."""

    slot: str
    value: Text


@dataclass(frozen=True, eq=False, repr=False)
class AnyUnknown(Node):
    """`on unknown`: anything is still unknown."""


Condition: TypeAlias = VerbIs | ConfidenceIs | SlotIs | AnyUnknown


@dataclass(frozen=True, eq=False, repr=False)
class Property(Node):
    """`kind=` or `output_cardinality=` of a block."""

    key: str
    value: Text


@dataclass(frozen=True, eq=False, repr=False)
class PromptNode(Node):
    """`prompt … end`."""

    system: Text | None = None
    user: Text | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Argument(Node):
    """One named argument of a resolve line."""

    key: str
    value: Text | Items | SlotPath


@dataclass(frozen=True, eq=False, repr=False)
class Resolve(Node):
    """`resolve slot.x <- cortex.find(type=Fact, limit=5)`; `call` is the word after the dot."""

    slot: str
    call: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class UnknownNode(Node):
    """`unknown slot.x … end`: what to say when the slot stays empty."""

    slot: str
    severity: Text | None = None
    reason: Text | None = None
    type: Text | None = None
    options: Items | None = None
    default: Value | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ClarifyNode(Node):
    """`clarify slot.x … end`: a question to the person."""

    slot: str
    prompt: Text | None = None
    type: Text | None = None
    required: Text | None = None
    options: Items | None = None
    default: Value | None = None


@dataclass(frozen=True, eq=False, repr=False)
class On(Node):
    """`on CONDITION … end`."""

    condition: Condition
    body: tuple[Entry, ...] = ()


Entry: TypeAlias = Property | On | PromptNode | Resolve | UnknownNode | ClarifyNode


@dataclass(frozen=True, eq=False, repr=False)
class FailureNode(Node):
    """A failure mode: its name and what to do."""

    name: str
    suggest: Text | None = None
    action: Text | None = None
    reason: Text | None = None
    message: Text | None = None
    retry: Text | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Section(Node):
    """One section; what its entries are depends on `name` (SKILL, INPUTS, …)."""

    name: str
    entries: tuple[Setting | Slot | ReferenceNode | Entry | FailureNode, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class File(Node):
    """A whole file: its sections in the order of the text."""

    sections: tuple[Section, ...] = ()

    def section(self, name: str) -> Section | None:
        """The section of this name, or None."""
        return next((section for section in self.sections if section.name == name), None)

    def settings(self, name: str = "SKILL") -> dict[str, str]:
        """The settings of a section, later ones winning (a checked file has no doubles)."""
        return {entry.key: entry.value.value for entry in self._entries(name) if isinstance(entry, Setting)}

    def slots(self, name: str = "INPUTS") -> tuple[Slot, ...]:
        """The slots of §INPUTS or §OUTPUTS."""
        return tuple(entry for entry in self._entries(name) if isinstance(entry, Slot))

    def references(self, name: str) -> tuple[ReferenceNode, ...]:
        """The references of §TOOLS or §SUB_SKILLS."""
        return tuple(entry for entry in self._entries(name) if isinstance(entry, ReferenceNode))

    @property
    def procedure(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self._entries("PROCEDURE") if isinstance(entry, ENTRY_TYPES))

    @property
    def failures(self) -> tuple[FailureNode, ...]:
        return tuple(entry for entry in self._entries("FAILURE_MODES") if isinstance(entry, FailureNode))

    def _entries(self, name: str) -> tuple[object, ...]:
        section = self.section(name)
        return section.entries if section else ()


ENTRY_TYPES = (Property, On, PromptNode, Resolve, UnknownNode, ClarifyNode)
SECTIONS = (
    "SKILL", "INPUTS", "CORTEX", "TOOLS", "SUB_SKILLS", "PROCEDURE", "OUTPUTS", "FAILURE_MODES", "HASH",
)  # fmt: skip
SCALAR_TYPES = (
    "string", "uint", "float", "bool", "ulid", "iso8601", "did", "sha256", "ArtifactRef", "Constraint",
    "Predicate", "Unknown", "PlanDraft", "SkillRef", "ToolRef", "CortexRef", "SlotPath", "AssetAmount",
    "AgentRef", "UserRef",
    "Identity", "Fact", "Preference", "Belief", "Event", "Goal", "Capability", "Pattern",
)  # fmt: skip


# ---- The names under which a skill's prompts can be called.


def prompt_names(file: File) -> tuple[str, ...]:
    """The verbs of the blocks that hold a prompt (`x:` ones: for steps alone), in order."""
    names: dict[str, None] = {}
    waiting = [(entry, "") for entry in reversed(file.procedure)]
    while waiting:
        entry, verb = waiting.pop()
        if isinstance(entry, PromptNode) and verb:
            names[verb] = None
        elif isinstance(entry, On):
            below = entry.condition.verb if isinstance(entry.condition, VerbIs) else verb
            waiting += [(inner, below) for inner in reversed(entry.body)]
    return tuple(names)
