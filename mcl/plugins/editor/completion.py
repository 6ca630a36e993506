"""What can be written at a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcl.core.words import CORTEX_CALLS, MEMORY_TYPES
from mcl.language.mtx.ast import SECTIONS, File
from mcl.language.mtx.lexer import legal_word
from mcl.plugins.editor import words
from mcl.plugins.editor.document import EditorSpan
from mcl.plugins.editor.names import (
    LISTS,
    NameCatalogue,
    of_slot,
    paths,
    places,
    slot_named,
    types,
    values,
    verbs,
)
from mcl.plugins.editor.outline import Here, here, outline, walk

Kind: TypeAlias = Literal["section", "keyword", "key", "value", "type", "slot", "reference", "call"]
_COMPARISONS = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least", "==": "exactly"}
_SNIPPETS = {
    "ON": "on ${1:verb=find}\n  $0\nend",
    "PROMPT": 'prompt\n  system="$1"\n  user="${2:Goal: {prose\\}}"\nend',
    "UNKNOWN": 'unknown ${1:slot.}\n  severity=${2|blocking,preferred,optional|}\n  reason="$3"\nend',
    "CLARIFY": 'clarify ${1:slot.}\n  prompt="$2"\nend',
    "SLOT": 'slot ${1:name}: ${2:string}\n  ${3|required,optional|}\n  hint="$4"',
}


@dataclass(frozen=True)
class Completion:
    """One thing to write instead of `span`. snippet: the same with stops to fill in, where there is one."""

    text: str
    kind: Kind
    span: EditorSpan
    says: str = ""
    detail: str = ""
    snippet: str = ""


def complete(
    lines: Sequence[str], file: File, catalogue: NameCatalogue, line: int, column: int
) -> list[Completion]:
    """What can be written at a place (line and column from 1), each thing once, in a useful order.

    file: the tree of the text as far as it can be read.
    """
    line = min(max(line, 1), len(lines))
    at = here(lines, line, column)
    span = EditorSpan(line, at.start, at.stop)
    if at.in_comment:
        return []
    if at.in_string:
        return list(_in_string(at, file, span))
    if at.key:
        return list(_value(at, lines, file, span))
    found = []
    if not at.word.startswith("§"):
        found = [*_keywords(at, lines, span), *_names(at, file, catalogue, span)]
    if at.start == 1:
        found += _sections(lines, span)
    return list({item.text: item for item in reversed(found)}.values())[::-1]


def _in_string(at: Here, file: File, span: EditorSpan) -> Iterator[Completion]:
    prompts = at.key in ("system", "user") or (at.key == "prompt" and at.around.blocks[-1:] == ("clarify",))
    if at.opened and prompts:
        for name, says in places(file).items():
            yield Completion(name, "slot", span, says)
    elif at.key and not at.value:
        yield from _items(values(file, *_owner(at), at.key), "value", span)


def _value(at: Here, lines: Sequence[str], file: File, span: EditorSpan) -> Iterator[Completion]:
    said = re.findall(r"[^\s,\[\]]+", at.value)
    if said and at.key not in LISTS and not at.value.startswith("["):
        return
    section, block, owner = _owner(at)
    for word, says in values(file, section, block, owner or _slot_of_block(lines, span.line), at.key).items():
        if word not in said:
            yield Completion(word, "value", span, says)


def _owner(at: Here) -> tuple[str, str, str]:
    return at.around.section, at.around.blocks[-1] if at.around.blocks else "", at.around.item


def _slot_of_block(lines: Sequence[str], line: int) -> str:
    """The slot that the innermost block around a line speaks of."""
    name = ""
    for part in walk(outline(lines)):
        if part.kind == "block" and part.line < line <= part.last and part.detail.startswith("slot."):
            name = part.detail.removeprefix("slot.").split()[0]
    return name


def _sections(lines: Sequence[str], span: EditorSpan) -> Iterator[Completion]:
    there = {line.split()[0] for line in lines if line.startswith("§")}
    for name in SECTIONS:
        if f"§{name}" not in there:
            yield Completion(f"§{name}", "section", span, words.SECTIONS[name])


def _keywords(at: Here, lines: Sequence[str], span: EditorSpan) -> Iterator[Completion]:
    """The words of the language that the grammar takes here."""
    said, filled = _around(at, lines, span.line)
    said |= {"required", "optional"} if said & {"required", "optional"} else set()
    for terminal in sorted(at.accepts, key=_rank):
        word = legal_word(terminal)
        if terminal == "ANY_UNKNOWN":
            word = "unknown"
        if not word or terminal.startswith(("S_", "$")) or (terminal == "NONE" and filled):
            continue
        is_key = terminal.endswith("_KEY")
        if word in said and (is_key or terminal in ("REQUIRED", "OPTIONAL")):
            continue
        says = words.TERMINALS.get(terminal, "")
        text = f"{word}=" if is_key else word
        yield Completion(text, "key" if is_key else "keyword", span, says, "", _SNIPPETS.get(terminal, ""))


def _rank(terminal: str) -> tuple[bool, bool, str]:
    """Words that a block is made of before what closes it and what begins anew."""
    return (terminal in ("_END", "NONE"), not terminal.endswith("_KEY"), terminal)


def _around(at: Here, lines: Sequence[str], line: int) -> tuple[set[str], bool]:
    """What is said, also further down, in the slot, block or failure that a line is in, and whether its
    section has another entry.
    """
    said, filled = set(at.around.said), at.around.filled
    for part in walk(outline(lines)):
        if part.line < line <= part.last:
            said = set(part.said)
            filled |= part.kind == "section" and any(one.line != line for one in part.parts)
    return said, filled


def _names(at: Here, file: File, catalogue: NameCatalogue, span: EditorSpan) -> Iterator[Completion]:
    """What stands for many words: keys, types, verbs, slots, calls, references."""
    accepts, before = at.accepts, [token.kind for token in at.before]
    if "KEY" in accepts:
        for key, says in words.SETTINGS.get(at.around.section, {}).items():
            family, _, number = key.partition(".")
            name = _next_of(family, at) if number == "1" else key
            if name not in at.around.said:
                yield Completion(f"{name}=", "key", span, says)
    if "REFERENCE" in accepts:
        offers = catalogue.tools() if at.around.section == "TOOLS" else catalogue.skills()
        for offer in offers.values():
            more = "\n".join(offer.more)
            yield Completion(offer.uri, "reference", span, f"{offer.summary}\n\n{more}", offer.summary)
    if "TYPE_NAME" in accepts:
        yield from _items(types(), "type", span)
        yield Completion("enum", "type", span, words.TYPES["enum"], "", "enum<${1:a|b}>")
    if "MANY" in accepts:
        yield Completion("[]", "type", span, "A list of these.")
    if "VERB_NAME" in accepts:
        yield from _items(verbs(), "value", span)
    if "SLOT_PATH" in accepts:
        yield from _items(paths(file), "slot", span)
    if "COMPARISON" in accepts:
        yield from _items(_COMPARISONS, "keyword", span)
    if "_ARROW" in accepts:
        yield Completion(
            "<- cortex.find()", "call", span, words.TERMINALS["RESOLVE"], "", "<- cortex.find($0)"
        )
    if "CORTEX_CALL" in accepts:
        for call, says in words.CALLS.items():
            yield Completion(f"cortex.{call}", "call", span, says)
    if "ARGUMENT_KEY" in accepts:
        yield from _arguments(at, span)
    if before[:1] == ["RESOLVE"] and "ARGUMENT" in accepts:
        key = next((token.text for token in reversed(at.before) if token.kind == "ARGUMENT_KEY"), "")
        if key == "type":
            yield from _items(dict.fromkeys(MEMORY_TYPES, "a type of memory"), "value", span)
        else:
            yield from _items(paths(file, prose=True), "slot", span)
    if before[:2] == ["ON", "SLOT_PATH"] and "BARE" in accepts:
        slot = slot_named(file, at.before[1].text.removeprefix("slot."))
        yield from _items(of_slot(slot) if slot else {}, "value", span)


def _arguments(at: Here, span: EditorSpan) -> Iterator[Completion]:
    call = next((token.text for token in at.before if token.kind == "CORTEX_CALL"), "")
    said = {token.text for token in at.before if token.kind == "ARGUMENT_KEY"}
    for key in CORTEX_CALLS.get(call.removeprefix("cortex."), ()):
        if key not in said:
            yield Completion(f"{key}=", "key", span, words.ARGUMENTS.get(key, ""))


def _next_of(family: str, at: Here) -> str:
    """The next line of a family that is numbered: `example.3` behind `example.2`."""
    said = (re.fullmatch(rf"{family}\.(\d{{1,6}})", word) for word in at.around.said)
    return f"{family}.{max((int(one[1]) for one in said if one), default=0) + 1}"


def _items(found: Mapping[str, str], kind: Kind, span: EditorSpan) -> Iterator[Completion]:
    for word, says in found.items():
        yield Completion(word, kind, span, says)
