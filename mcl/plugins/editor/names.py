"""What can be named in a skill, what the name at a place names, and what is told about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ir import STEP_KINDS, VERBS
from ir.intent import SEVERITIES
from mcl.core.words import FAILURE_REASONS, MEMORY_TYPES
from mcl.language.mtx.ast import SCALAR_TYPES, File, Items, Slot
from mcl.language.mtx.procedure_checks import PLAIN_NAMES, slot_of
from mcl.plugins.editor import words
from mcl.plugins.editor.document import EditorSpan, Problem
from mcl.plugins.editor.outline import Token, here, tokens

if TYPE_CHECKING:
    from executor import Manifest


# ---- The tools and skills that a skill can name, read when they are first asked for.


@dataclass(frozen=True)
class NameOffer:
    """Something with an address that a skill can name.

    summary: what it does, in a sentence. more: Markdown lines with the rest. path: where it is written (None:
    nowhere that a person would go to).
    """

    uri: str
    summary: str
    more: tuple[str, ...] = ()
    path: Path | None = None


class NameCatalogue(Protocol):
    """What can be named, by address."""

    def tools(self) -> Mapping[str, NameOffer]: ...
    def skills(self) -> Mapping[str, NameOffer]: ...


class Installed:
    """The tools of the package and the skills that are found here.

    home: the home's folder. here: the folder whose ./skills are found too.
    """

    def __init__(self, home: Path, here: Path) -> None:
        self._home = home
        self._here = here
        self._tools: Mapping[str, NameOffer] | None = None
        self._skills: Mapping[str, NameOffer] | None = None

    def forget_skills(self) -> None:
        """Look for skills anew when they are next asked for."""
        self._skills = None

    def tools(self) -> Mapping[str, NameOffer]:
        if self._tools is None:
            from mcl.catalog.tools import registry

            self._tools = {manifest.uri: _tool(manifest) for manifest in registry().manifests}
        return self._tools

    def skills(self) -> Mapping[str, NameOffer]:
        if self._skills is None:
            from mcl.usecases.installed import installed

            found = installed(self._home, here=self._here)
            self._skills = {
                skill.ref: NameOffer(
                    skill.ref,
                    skill.description,
                    (f"verbs: {' '.join(skill.verbs)}",),
                    (skill.path / "SKILL.mtx").absolute(),
                )
                for skill in found
            }
        return self._skills


def _tool(manifest: Manifest) -> NameOffer:
    required = manifest.args.get("required")
    needed = required if isinstance(required, list) else []
    more = [f"effects: {' '.join(manifest.effects)} · class {manifest.safety}"]
    for name, schema in manifest.properties.items():
        kind, says = schema.get("type", ""), schema.get("description", "")
        must = ", required" if name in needed else ""
        more.append(f"- `{name}` ({kind}{must}){f': {says}' if says else ''}")
    return NameOffer(manifest.uri, manifest.description, tuple(more))


# ---- The values that a key or a word takes at a place: words to choose from, each with what it means.

LISTS = ("mcl.verbs", "reads", "writes")  # several words in one value
_BOOL = {"true": "", "false": ""}


def values(file: File, section: str, block: str, owner: str, key: str) -> Mapping[str, str]:
    """What may stand behind `key=`.

    block: the word of the innermost block, or "". owner: the slot that the key belongs to or speaks of.
    """
    if section == "SKILL" and key == "mcl.verbs":
        return verbs()
    if section == "CORTEX" and key in ("reads", "writes"):
        return dict.fromkeys(MEMORY_TYPES, "a type of memory")
    if section == "HASH":
        return {"v": {"1": ""}, "algo": {"sha256_ast": ""}}.get(key, {})
    if section == "FAILURE_MODES":
        known = {"reason": dict.fromkeys(FAILURE_REASONS, "a reason"), "action": words.ACTIONS}
        return known.get(key, {})
    if key == "default":
        slot = slot_named(file, owner, "OUTPUTS" if section == "OUTPUTS" else "INPUTS")
        return of_slot(slot) if slot else {}
    if key == "kind" and block in ("", "on"):
        return dict.fromkeys(STEP_KINDS, "a kind of step")
    if block in ("unknown", "clarify"):
        return {
            "severity": {word: words.SEVERITIES[word] for word in SEVERITIES},
            "type": types(),
            "required": _BOOL,
        }.get(key, {})
    return {}


def verbs() -> Mapping[str, str]:
    """The ten verbs."""
    return {verb: words.VERBS[verb] for verb in VERBS}


def types() -> Mapping[str, str]:
    """The types that a slot can have."""
    return {name: words.TYPES[name] for name in SCALAR_TYPES}


def of_slot(slot: Slot) -> Mapping[str, str]:
    """The values of a slot whose type names them."""
    if slot.type.name == "bool":
        return _BOOL
    return dict.fromkeys(slot.type.members, f"a member of {slot.name}")


def paths(file: File, *, prose: bool = False) -> Mapping[str, str]:
    """`slot.x` of each input; with `prose` also the words that were said for it."""
    found = {}
    for slot in file.slots():
        found[f"slot.{slot.name}"] = slot.hint.value if slot.hint else str(slot.type)
        if prose:
            found[f"slot.{slot.name}.prose"] = f"the goal's own words for {slot.name}"
    return found


def places(file: File) -> Mapping[str, str]:
    """What can stand in the braces of a prompt."""
    return {**{name: words.PLACES[name] for name in PLAIN_NAMES}, **paths(file, prose=True)}


def slot_named(file: File, name: str, section: str = "INPUTS") -> Slot | None:
    """The slot of this name, or None."""
    return next((slot for slot in file.slots(section) if slot.name == name), None)


# ---- The name at a place: what it is called and what kind of thing it names.

_PLACE = re.compile(r"\{\{|\{([^{}\n]*)\}")
_WORD = re.compile(r"[^\s\",\[\]]+")
_PATHS = ("SLOT_PATH", "ARGUMENT", "ITEM", "BARE")


class Name(NamedTuple):
    """A name in a text.

    kind: "slot" (`text` is the slot's name), "place" (of a prompt), "setting", "value" (`key` takes it),
    "type", "verb", "call", "argument", "reference", "section", or the terminal of a word of the language.
    """

    kind: str
    text: str
    span: EditorSpan
    key: str = ""


def name_at(lines: Sequence[str], line: int, column: int) -> Name | None:
    """The name at a place (line and column from 1), also where the place is right behind it."""
    found = tokens(lines, line)
    token = next((token for token in found if token.column <= column < token.stop), None)
    token = token or next((token for token in found if token.stop == column), None)
    if token is None:
        return None
    key = _key(found, token)
    if token.kind == "STRING":
        return _in_string(token, line, column, key)
    span = EditorSpan(line, token.column, token.stop)
    if token.kind in _PATHS and (path := slot_of(token.text)):
        return Name("slot", path[0], span)
    kinds = {"KEY": "setting", "REFERENCE": "reference", "TYPE_NAME": "type", "VERB_NAME": "verb"}
    kinds |= {"CORTEX_CALL": "call", "ARGUMENT_KEY": "argument", "_ENUM": "type"}
    if token.kind in kinds:
        return Name(kinds[token.kind], token.text, span)
    if token.kind == "NAME":
        return Name("slot", token.text, span, here(lines, line, column).around.section)
    if token.kind.startswith("S_"):
        return Name("section", token.text.removeprefix("§"), span)
    if token.kind in ("BARE", "ITEM", "ARGUMENT"):
        return _word(token, line, column, key)
    return Name(token.kind, token.text, span)


def _key(found: Sequence[Token], token: Token) -> str:
    """The key whose value a token is."""
    before = [one for one in found if one.column < token.column]
    return next((one.text for one in reversed(before) if one.kind.endswith("KEY")), "")


def _in_string(token: Token, line: int, column: int, key: str) -> Name | None:
    for match in _PLACE.finditer(token.text):
        start, stop = token.column + match.start(), token.column + match.end()
        if match[1] is not None and start <= column < stop:
            path = slot_of(match[1])
            span = EditorSpan(line, start + 1, stop - 1)
            return Name("slot", path[0], span) if path else Name("place", match[1], span)
    return _word(token, line, column, key)


def _word(token: Token, line: int, column: int, key: str) -> Name | None:
    for match in _WORD.finditer(token.text):
        start, stop = token.column + match.start(), token.column + match.end()
        if start <= column <= stop:
            return Name("value", match.group(), EditorSpan(line, start, stop), key)
    return None


# ---- What is told about the name at a place.


class Hover(NamedTuple):
    """Markdown about a part of a line."""

    text: str
    span: EditorSpan


def hover(
    lines: Sequence[str],
    file: File,
    catalogue: NameCatalogue,
    problems: Iterable[Problem],
    line: int,
    column: int,
) -> Hover | None:
    """What is told at a place (line and column from 1): what the name there means, and how to mend what is
    wrong there. None where there is nothing to tell.
    """
    name = name_at(lines, line, column)
    told = _meaning(name, lines, file, catalogue) if name else ""
    parts, span = ([told], name.span) if told and name else ([], None)
    for problem in problems:
        if problem.span.line == line and problem.span.start <= column <= problem.span.stop and problem.hint:
            parts.append(f"{problem.code}: {problem.hint}")
            span = span or problem.span
    return Hover("\n\n".join(parts), span) if span else None


def _meaning(name: Name, lines: Sequence[str], file: File, catalogue: NameCatalogue) -> str:
    kind, text = name.kind, name.text
    if kind == "slot":
        slot = slot_named(file, text, name.key or "INPUTS")
        return about_slot(slot) if slot else ""
    if kind == "reference":
        offer = (catalogue.skills() if text.startswith("matrix://skill/") else catalogue.tools()).get(text)
        return "\n\n".join((f"`{offer.uri}`", offer.summary, "\n".join(offer.more))) if offer else ""
    around = here(lines, name.span.line, name.span.start).around
    told = {
        "section": lambda: words.SECTIONS.get(text, ""),
        "place": lambda: words.PLACES.get(text, ""),
        "setting": lambda: words.setting(around.section, text),
        "type": lambda: words.TYPES.get(text, ""),
        "verb": lambda: words.VERBS.get(text, ""),
        "call": lambda: words.CALLS.get(text.removeprefix("cortex."), ""),
        "argument": lambda: words.ARGUMENTS.get(text, ""),
        "value": lambda: values(
            file, around.section, around.blocks[-1] if around.blocks else "", around.item, name.key
        ).get(text, ""),
    }.get(kind, lambda: words.TERMINALS.get(kind, ""))()
    label = f"§{text}" if kind == "section" else text
    return f"**{label}**: {told}" if told else ""


def about_slot(slot: Slot) -> str:
    """A slot's type, hint, default and bound, as Markdown."""
    need = "optional" if slot.optional else "required"
    lines = [f"**slot {slot.name}**: `{slot.type}`, {need}"]
    if slot.hint is not None and slot.hint.value:
        lines.append(slot.hint.value)
    if slot.default is not None:
        texts = slot.default.items if isinstance(slot.default, Items) else (slot.default,)
        lines.append(f"default: `{' '.join(text.value for text in texts)}`")
    if slot.max is not None:
        lines.append(f"at most {slot.max.value} entries")
    return "\n\n".join(lines)
