"""All rules over one definition. Pure: the same definition among the same tools gives the same findings."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any, Final

from executor.core.tables import table_beside
from executor.tools.names import OURSELVES
from mcl.catalog.suspicion.rules import Mark, Suspicion, marks_of_content, rules
from mcl.catalog.suspicion.texts import PlacedText, PlainText, excerpt, read, revealed, texts

# ---- What else there is: a name can only look like one that is known.

_BETWEEN: Final = re.compile(r"[-_./ ]")
# What looks alike in plain letters too.
_PLAIN_ALIKE: Final = (("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("rn", "m"), ("vv", "w"), ("cl", "d"))


@dataclass(frozen=True)
class Neighbours:
    """The tools that there are.

    tools: of each server of others its tools' names. own: those of mcl's tools (fs/read).
    """

    tools: Mapping[str, Iterable[str]] = field(default_factory=dict)
    own: Iterable[str] = ()

    @cached_property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Server and tool, in order; mcl is ourselves."""
        own = [(OURSELVES, tool) for tool in self.own]
        return tuple(
            sorted({*own, *((server, tool) for server, tools in self.tools.items() for tool in tools)})
        )

    def spelled(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those whose names differ at most in capitals and in what stands between words."""
        return self._by_spelling.get(spelled(name), ())

    def looking(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those whose names look the same."""
        return self._by_look.get(looks(name), ())

    def near(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those that one change makes the same: a letter more, less, other, or two that changed places."""
        found = {one for shorter in _shorter(name.lower()) for one in self._by_shorter.get(shorter, ())}
        return tuple(sorted(one for one in found if one_apart(name.lower(), one[1].lower())))

    def named(self, said: str) -> tuple[str, ...]:
        """The servers that have a tool of this name, in small letters."""
        return self._by_name.get(said, ())

    @cached_property
    def servers(self) -> frozenset[str]:
        """The servers of others."""
        return frozenset(self.tools)

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for server, tool in self.all:
            found[tool.lower()] += (server,)
        return dict(found)

    @cached_property
    def _by_spelling(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: {spelled(tool)})

    @cached_property
    def _by_look(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: {looks(tool)})

    @cached_property
    def _by_shorter(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: _shorter(tool.lower()))

    def _index(self, keys: Callable[[str], Iterable[str]]) -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in self.all:
            for key in keys(one[1]):
                found[key].append(one)
        return {key: tuple(ones) for key, ones in found.items()}


def spelled(name: str) -> str:
    """A name without what two authors write differently: capitals, and what stands between words."""
    return _BETWEEN.sub("", name).lower()


def looks(name: str) -> str:
    """A name as it looks."""
    text = name.lower()
    if not name.isascii():
        text = unicodedata.normalize("NFKD", read(name, alike=True).text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    text = _BETWEEN.sub("", text)
    for alike, plain in _PLAIN_ALIKE:
        text = text.replace(alike, plain)
    return text


def one_apart(one: str, two: str) -> bool:
    """Does one change make a name the other?"""
    if len(one) > len(two):
        one, two = two, one
    if len(two) - len(one) > 1 or one == two:
        return False
    at = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))
    if len(one) < len(two):
        return one[at:] == two[at + 1 :]
    swapped = one[at : at + 2] == two[at : at + 2][::-1]
    return one[at + 1 :] == two[at + 1 :] or (swapped and one[at + 2 :] == two[at + 2 :])


def _shorter(name: str) -> set[str]:
    """A name and what is left of it without one letter: names one change apart share one of these."""
    return {name, *(name[:place] + name[place + 1 :] for place in range(len(name)))}


# ---- Rules about words: what a text says to the model that reads it.

_LEAST: Final = 4  # characters of a text that can say anything
_BLANKS: Final = re.compile(r"[ \t\v\f\x1c-\x1f]+")
_LINES: Final = re.compile(r" ?[\n\r][\n\r ]*")


def marks_of_words(one: PlacedText) -> Iterator[Mark]:
    """Each rule that one of its patterns fits, once a text."""
    for rule, start, end in _found(one.text):
        yield Mark(rule, one.place, excerpt(one.text, start, end))


@lru_cache(maxsize=2048)  # "type", "string", "path": most texts of schemas stand in all of them
def _found(text: str) -> tuple[tuple[str, int, int], ...]:
    if len(text) < _LEAST:
        return ()
    quick = _quick(text) if text.isascii() else None
    ways: list[PlainText] = []
    found: list[tuple[str, int, int]] = []
    for rule in rules().values():
        if quick is not None and not any(pattern.search(quick) for pattern in rule.patterns):
            continue
        if rule.patterns and not ways:
            ways = [read(text, alike=alike) for alike in ((False,) if quick is not None else (False, True))]
        hit = next((hit for pattern in rule.patterns for way in ways if (hit := _place(pattern, way))), None)
        if hit is not None:
            found.append((rule.id, *hit))
    return tuple(found)


def _quick(text: str) -> str:
    """A plain text as `read` gives it, without the places."""
    return _LINES.sub("\n", _BLANKS.sub(" ", text.lower()))


def _place(pattern: re.Pattern[str], way: PlainText) -> tuple[int, int] | None:
    """Where a pattern fits, as places of the text as it was written."""
    hit = pattern.search(way.text)
    if hit is None or hit.start() == hit.end():
        return None
    return way.places[hit.start()], way.places[hit.end() - 1] + 1


# ---- Rules about what a tool seems to be: names that look like others, and hints that its name denies.

_IDENTITY_LEAST: Final = 5  # characters of a name for which one more or less is a likeness
_TELLING: Final = 8  # characters of a name that says which tool is meant, without its server
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SPOKEN: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}:[A-Za-z][\w./-]{0,127}|[A-Za-z][\w./-]{2,127}")

# Arguments that hold a secret, and words that make them something else (next_page_token, max_tokens).
_SECRETS: Final = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|pwd|secret|secrets|api_?key|apikey|access_?key|private_?key|ssh_?key"
    r"|encryption_?key|credentials?|auth_?token|access_?token|bearer|session_?(?:token|cookie|key)|cookies?|token|otp|totp"
    r"|mfa_code|pin_code|mnemonic|seed_phrase|recovery_phrase|cvv|card_number|credit_card|ssn|authorization)$"
)
_NO_SECRETS: Final = re.compile(
    r"(?:^|_)(?:page|next|prev|previous|continuation|sync|cursor|start|end|max|min|stop|count|num|total|per|of|token_type"
    r"|lock|resume|pagination|reset|hash|public|primary|foreign|sort|partition|idempotency|row|cache)(?:_|$)"
)
_CONTEXTS: Final = re.compile(
    r"(?:^|_)(?:system_?prompt|developer_message|conversation(?:_history|_log|_context)?|chat_(?:history|log|context)"
    r"|full_context|previous_(?:messages|conversation|results)|chain_of_thought|model_(?:instructions|context)"
    r"|available_tools|tool_?list|tools_available|other_tools|all_messages|message_history|side_?note)$"
)


def of_name(server: str, name: str, near: Neighbours) -> Iterator[Mark]:
    """What is suspicious about a tool's name."""
    if _mixed(name):
        yield Mark("mixed-scripts", "name", revealed(name))
    for rule, (other, tool) in _alike(server, name, near):
        yield Mark(rule, "name", f"{revealed(name)}, as {other}:{revealed(tool)}")
        return


def of_server(server: str, near: Neighbours) -> Iterator[Mark]:
    """What is suspicious about a server's name."""
    for other in sorted({*near.servers, OURSELVES} - {server}):
        close = min(len(server), len(other)) >= _IDENTITY_LEAST and one_apart(server, other)
        if looks(server) == looks(other) or (close and not _counted(server, other)):
            yield Mark("looks-like-server", "server", f"{revealed(server)}, as {other}")
            return


def of_shadowing(server: str, one: PlacedText, near: Neighbours) -> Iterator[Mark]:
    """Does a text speak of a tool that another server has, or that is mcl's own?"""
    for found in _SPOKEN.finditer(one.text):
        said = found[0].rstrip("./-").lower()
        head, colon, tail = said.partition(":")
        if colon:
            shadows = head != server and head in near.named(tail)
        else:
            having = near.named(said) if _tells(said) else ()
            shadows = bool(having) and server not in having
        if shadows:
            yield Mark("shadows-tool", one.place, excerpt(one.text, found.start(), found.end()))
            return


def of_hints(name: str, hints: Mapping[str, Any], title: str) -> Iterator[Mark]:
    """Do a tool's annotations say less than its name?"""
    reads, destroys = hints.get("readOnlyHint"), hints.get("destructiveHint")
    if reads is True and destroys is True:
        yield Mark("contradicts-itself", "annotations", "readOnlyHint = true, destructiveHint = true")
    does = _does(name)
    if does in ("writes", "destroys") and reads is True:
        yield Mark("contradicts-name", "annotations.readOnlyHint", f"{revealed(name)}, readOnlyHint = true")
    elif does == "destroys" and destroys is False:
        yield Mark(
            "contradicts-name", "annotations.destructiveHint", f"{revealed(name)}, destructiveHint = false"
        )
    if does == "destroys" and _does(title) == "looks":
        yield Mark("contradicts-name", "title", f"{revealed(name)}, {revealed(title)!r}")


def of_arguments(schema: object) -> Iterator[Mark]:
    """Does a tool take what no tool should be given? Of nested arguments too."""
    waiting: list[tuple[str, object]] = [("inputSchema", schema)]
    while waiting:
        place, one = waiting.pop()
        if isinstance(one, list):
            waiting += reversed([(f"{place}[{index}]", item) for index, item in enumerate(one)])
        if not isinstance(one, Mapping):
            continue
        waiting += reversed([(f"{place}.{name}", item) for name, item in one.items()])
        properties = one.get("properties")
        for name in properties if isinstance(properties, Mapping) else ():
            snake = "_".join(
                _words(read(str(name), alike=True).text if not str(name).isascii() else str(name))
            )
            if _CONTEXTS.search(snake):
                yield Mark("context-argument", f"{place}.properties", revealed(str(name)))
            elif _SECRETS.search(snake) and not _NO_SECRETS.search(snake):
                yield Mark("secret-argument", f"{place}.properties", revealed(str(name)))


def _alike(server: str, name: str, near: Neighbours) -> Iterator[tuple[str, tuple[str, str]]]:
    """The tools that a name could be taken for, the gravest first, each with the rule. Of its own server only
    those that nobody could tell apart."""
    for one in near.looking(name):
        plain = name.isascii() and one[1].isascii()
        if one[1] != name and (not plain or (one[0] != server and spelled(name) != spelled(one[1]))):
            yield "looks-like-tool", one
    same = [one for one in near.spelled(name) if one[0] != server]
    close = [
        one
        for one in (near.near(name) if len(name) >= _IDENTITY_LEAST else ())
        if one[0] != server
        and len(one[1]) >= _IDENTITY_LEAST
        and not _counted(name, one[1])
        and one not in same
    ]
    many = [one for one in close if _plural(spelled(name), spelled(one[1]))]
    for one in close:
        if one not in many and not same:
            yield "looks-like-tool", one
    for one in (*same, *many):
        yield "same-name", one


def _plural(one: str, two: str) -> bool:
    return one == f"{two}s" or two == f"{one}s"


def _counted(one: str, two: str) -> bool:
    """Do two names differ by a number only? Then they are a series."""
    return re.sub(r"\d+", "", one).rstrip("-_") == re.sub(r"\d+", "", two).rstrip("-_")


def _mixed(name: str) -> bool:
    """Are letters of several scripts in one word? Japanese and Korean mix them always."""
    for word in re.split(r"[\W_]+", name):
        scripts = {_script(char) for char in word if char.isalpha()}
        if len(scripts - {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}) > 1:
            return True
    return False


def _script(char: str) -> str:
    return "LATIN" if char.isascii() else unicodedata.name(char, "?").split()[0].removesuffix("-")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _does(name: str) -> str:
    """What a name says that is done: looks, writes or destroys; "" where it says nothing."""
    words = _words(name)[:2]  # the first may be what it is done to: git_reset
    return next((_verbs()[word] for word in words if word in _verbs()), "")


@cache
def _verbs() -> dict[str, str]:
    """For each verb what it does."""
    table = table_beside(__file__, "verbs")["does"]
    return {verb: does for does, verbs in table.items() for verb in verbs.split()}


def _tells(said: str) -> bool:
    """Is a word the name of a tool, and not a word that may stand anywhere?"""
    return len(said) >= _TELLING - 2 * ("/" in said) and any(char in said for char in "_/-")


MOST_FINDINGS: Final = 50
_NOBODY: Final = Neighbours()


def examine(server: str, definition: object, near: Neighbours = _NOBODY) -> tuple[Suspicion, ...]:
    """What is suspicious in the definition of a server's tool, warnings first.

    Args:
        definition: the tool as the server gave it: name, title, description, schemas, annotations, as JSON.
            Any JSON value will do. near: the other tools there are.
    """
    tool = definition if isinstance(definition, Mapping) else {"": definition}
    name, title, hints = (tool.get(part) for part in ("name", "title", "annotations"))
    hints = hints if isinstance(hints, Mapping) else {}
    title = title or hints.get("title")

    def found() -> Iterator[Mark]:
        if isinstance(name, str):
            yield from of_name(server, name, near)
            yield from of_hints(name, hints, title if isinstance(title, str) else "")
        yield from of_server(server, near)
        yield from of_arguments(tool.get("inputSchema"))
        yield from _of_texts(server, texts(dict(tool)), near)

    return _told(found())


def examine_server(server: str, instructions: str = "", near: Neighbours = _NOBODY) -> tuple[Suspicion, ...]:
    """The same of a server itself: its name, and the instructions that it gives to models."""

    def found() -> Iterator[Mark]:
        yield from of_server(server, near)
        yield from _of_texts(server, [PlacedText("instructions", instructions)], near)

    return _told(found())


def _of_texts(server: str, said: Iterable[PlacedText], near: Neighbours) -> Iterator[Mark]:
    for one in said:
        yield from marks_of_content(one)
        yield from marks_of_words(one)
        if one.place != "name":
            yield from of_shadowing(server, one, near)


def _told(found: Iterable[Mark]) -> tuple[Suspicion, ...]:
    table = rules()
    order = {rule: place for place, rule in enumerate(table)}
    once = dict.fromkeys(found)
    ordered = sorted(once, key=lambda mark: (table[mark.rule].level != "warning", order[mark.rule]))
    return tuple(
        Suspicion(mark.rule, table[mark.rule].level, table[mark.rule].reason, mark.place, mark.excerpt)
        for mark in ordered[:MOST_FINDINGS]
    )
