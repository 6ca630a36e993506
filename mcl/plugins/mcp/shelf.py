"""The tools that can be found and described: each with what it counts as, its standing, and what is told of
it; and which of them fit a question in plain words.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from executor.call import Operation
from executor.gate.context import Context
from executor.tools.manifest import Manifest
from executor.tools.names import OURSELVES
from mcl.catalog.manifests import call_with, hints_of
from mcl.catalog.suspicion.texts import revealed
from mcl.language.bm25 import Bm25, stems
from mcl.plugins.mcp.call_texts import parse_name

if TYPE_CHECKING:
    from mcl.catalog.definitions import Definitions, DescribedTool
    from mcl.plugins.mcp.session import Session


APPROVED: Final = "approved"
# An agent cannot call it, whatever it says: only what sends a signed envelope can.
_NOT_CALLED: Final = frozenset({"mcl:agent/dispatch"})


@dataclass(frozen=True)
class Shelved:
    """One tool.

    operation: what it counts as at most. standing: approved; or new, changed, quarantined, rejected: not
    called until a person approves it. known: of another server's tool all that is known of it.
    """

    manifest: Manifest
    operation: Operation
    standing: str
    known: DescribedTool | None = None

    @property
    def name(self) -> str:
        """``server:tool``."""
        return self.manifest.name

    @property
    def server(self) -> str:
        return self.manifest.outside.server if self.manifest.outside else OURSELVES

    @property
    def call_with(self) -> str:
        """The variant that it is called by."""
        return call_with(self.operation)

    @property
    def usable(self) -> bool:
        """Was it approved as it is?"""
        return self.standing == APPROVED

    @property
    def suspicions(self) -> list[dict[str, object]]:
        """What is suspicious in what its server says, as JSON; looked for when asked."""
        return [one.to_json() for one in self.known.suspicions] if self.known else []

    @property
    def definition(self) -> Mapping[str, object]:
        """What is said of it, as the protocol has it; of another server's tool what that server says, and
        nothing in it can hide from who reads it."""
        one = self.manifest
        if one.outside is not None:
            return cast("dict[str, object]", shown(one.outside.definition))
        return {
            "name": one.name.partition(":")[2],
            "description": one.description,
            "inputSchema": one.args,
            "outputSchema": one.output,
            "annotations": hints_of(one),
        }


class Shelf:
    """All tools of a session at one moment, and the index over them.

    before: an earlier one, whose index serves where the tools are the same and only stand otherwise.
    """

    def __init__(self, tools: Sequence[Shelved], before: Shelf | None = None) -> None:
        self.tools = tuple(sorted(tools, key=lambda tool: tool.name))
        self._named = {tool.name: tool for tool in self.tools}
        self._told = [(tool.name, tool.manifest.pin) for tool in self.tools]
        same = before is not None and before._told == self._told
        self._index: ToolIndex | None = before._index if same and before is not None else None

    @property
    def index(self) -> ToolIndex:
        """What they are found by; made when it is first asked for."""
        if self._index is None:
            self._index = ToolIndex([entry_of(tool.name, tool.definition) for tool in self.tools])
        return self._index

    def find(self, name: str) -> Shelved | None:
        """The tool of this name, also with a version of ours; None where there is none.

        Raises:
            McpError: BAD_TOOL_NAME.
        """
        parsed = parse_name(name)
        return self._named.get(
            f"{parsed.server}:{parsed.tool.partition('@')[0]}" if parsed.own else str(parsed)
        )


class Shelves:
    """Keeps the shelf of a session until something changes."""

    def __init__(self) -> None:
        self._seen: object = None
        self._shelf: Shelf | None = None

    def now(self, session: Session) -> Shelf:
        """The tools that there are, and how they stand, at this moment."""
        stamp = session.stamp
        if self._shelf is None or stamp != self._seen:
            self._shelf = Shelf(_tools(session.context, session.definitions), self._shelf)
            self._seen = stamp
        return self._shelf


def shown(value: object) -> object:
    """A JSON value of a stranger with everything written out that cannot be seen, its object keys
    included."""
    if isinstance(value, str):
        return revealed(value)
    if isinstance(value, Mapping):
        return {revealed(str(name)): shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item) for item in value]
    return value


def _tools(context: Context, definitions: Definitions) -> list[Shelved]:
    own = [one for one in context.tools.manifests if one.outside is None and one.name not in _NOT_CALLED]
    latest: dict[str, Manifest] = {}
    for one in sorted(own, key=lambda one: [int(part) for part in one.uri.partition("@")[2].split(".")]):
        latest[one.name] = one
    tools = [Shelved(one, one.operation, _standing(one, context)) for one in latest.values()]
    for known in definitions.known():
        if known.standing != "gone":
            tools.append(Shelved(known.manifest, _operation(known.manifest, context), known.standing, known))
    return tools


def _operation(manifest: Manifest, context: Context) -> Operation:
    """What a tool of another server counts as: by its server's word, an operator's, or nobody's."""
    said = context.pins.classification(manifest)
    return said.operation if said is not None else manifest.operation


def _standing(manifest: Manifest, context: Context) -> str:
    """How one of our own stands."""
    approved = context.pins.of(manifest.uri)
    return APPROVED if approved == manifest.pin else "changed" if approved else "quarantined"


# ---- Which tools fit a question in plain words.


MAX_QUERY: Final = 2_000  # characters of a question that are looked at
_NAME_COUNTS: Final = 2  # times as much as the description
_MAX_WORDS: Final = 64  # different words of a question that are looked at
_MAX_TEXT: Final = (
    8_000  # characters of a description that are indexed: a longer one may not crowd out the rest
)

# Capitals before a word: HTTPGet. Of scripts that write no spaces each character is a word.
_CAPITALS: Final = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED: Final = re.compile("([\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
# What the stemmer leaves different of committed and commits, of queries and query.
_LEFT_OVER: Final = re.compile(r"(?<=...)(?:[iy]|(?<=([a-z]))\1)$")


@dataclass(frozen=True, slots=True)
class ToolText:
    """What is searched of one tool: full name (``server:tool``), title and description, argument names."""

    name: str
    description: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that fits: its place in what was indexed, and how well (0..1)."""

    place: int
    score: float


def entry_of(name: str, definition: Mapping[str, object]) -> ToolText:
    """What is searched of a tool, of its definition as its server gave it."""
    title, said, schema = (definition.get(key) for key in ("title", "description", "inputSchema"))
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return ToolText(
        name,
        " ".join(text for text in (title, said) if isinstance(text, str)),
        tuple(str(key) for key in properties) if isinstance(properties, Mapping) else (),
    )


def words(text: str) -> list[str]:
    """The words of a text as they are compared: names split at their joints, light stems, no stop words."""
    text = _UNSPACED.sub(r" \1 ", _CAPITALS.sub(" ", unicodedata.normalize("NFKC", text)))
    return [_LEFT_OVER.sub("", stem) for stem in stems(text)]


class ToolIndex:
    """Tools that can be asked for. Nothing in it changes.

    Args:
        entries: in the order in which equal scores are told.
    """

    def __init__(self, entries: Sequence[ToolText]) -> None:
        self.entries = tuple(entries)
        self._bm25 = Bm25([_counts(entry) for entry in self.entries])

    def find(
        self, query: str, limit: int = 5, *, among: Callable[[int], bool] = lambda place: True
    ) -> list[Hit]:
        """The tools that fit a question best, best first; those that share no word with it are left out.

        The score is the BM25 score divided by the most that any tool could get for this question: 1 would
        be a tool that says every word of it, endlessly often; a word that no tool knows counts as missing.
        So scores of different questions can be compared, a low best score says that nothing fits well, and
        ordinary good hits lie between 0.3 and 0.8. Equal scores are told in the order of the entries.

        Args:
            query: plain words, any language. limit: at most so many. among: which places count;
            asked of the best ones, until there are enough.
        """
        asked = list(dict.fromkeys(words(query[:MAX_QUERY])))[:_MAX_WORDS]
        scores, bound = self._bm25.scores(asked), self._bm25.bound(asked)
        places = sorted(
            (place for place, score in enumerate(scores) if score), key=lambda place: (-scores[place], place)
        )
        fitting = islice((place for place in places if among(place)), max(0, limit))
        return [Hit(place, round(min(1.0, scores[place] / bound), 4)) for place in fitting]


def _counts(entry: ToolText) -> Counter[str]:
    said = words(entry.name) * _NAME_COUNTS
    said += words(entry.description[:_MAX_TEXT])
    said += words(" ".join(entry.arguments)[:_MAX_TEXT])
    return Counter(said)
