"""What the compiler is told of the memories: a short text, the same bytes for the same snapshot and goal."""

from dataclasses import dataclass
from typing import Final

from mcl.memory.learned import TAG as LEARNED
from mcl.memory.memory import Memory
from mcl.memory.view import Memories

PINNED: Final = "pinned"
OUTCOMES: Final = ("Event", "Pattern")
REVIEW: Final = "mcl.review"  # what reviews of code remember, each for its workspace
UNTOLD: Final = (LEARNED, REVIEW)
_BYTES_A_TOKEN = 3  # a careful guess that needs no vocabulary: most have 3.5 to 4.5 bytes a token
_MOST = 32  # memories of each kind that are looked at
_MOST_OUTCOMES = 8


@dataclass(frozen=True)
class Bundle:
    """Memories as lines of text; `memories` in the order of the lines, `tokens` an upper estimate."""

    text: str = ""
    memories: tuple[Memory, ...] = ()
    tokens: int = 0

    @property
    def uris(self) -> tuple[str, ...]:
        """The addresses of the memories."""
        return tuple(memory.uri for memory in self.memories)


def bundle(
    memories: Memories, goal: str, *, types: tuple[str, ...], tags: tuple[str, ...], tokens: int
) -> Bundle:
    """Pinned memories, then those near `goal`, then outcomes (Event, Pattern) near it, as many as fit in
    `tokens`.

    `types` and `tags` are the skill's (empty: any). A memory that does not fit is left out, later ones may
    still fit. What answers taught is not in it: it is made use of where the question would be asked. What
    reviews of code remember is not in it either: it is told to reviews.
    """
    if not memories.size or tokens < 1:
        return Bundle()
    ordered: dict[str, Memory] = {}
    for found in (
        memories.find(types=types, tags=(PINNED,), limit=_MOST, without=UNTOLD),
        *(memories.find(types=types, tags=(tag,), near=goal, limit=_MOST, without=UNTOLD) for tag in tags),
        memories.find(types=types, near=goal, limit=_MOST, without=UNTOLD),
        memories.find(types=OUTCOMES, near=goal, limit=_MOST_OUTCOMES, without=(REVIEW,)),
    ):
        ordered.update({one.uri: one for one in found if one.uri not in ordered})
    lines, held, used = [], [], 0
    for uri, memory in ordered.items():
        line = f"- {memory.type}: {' '.join(memory.text.split())} [{uri}]\n"
        cost = -(-len(line.encode()) // _BYTES_A_TOKEN)
        if used + cost <= tokens:
            lines.append(line)
            held.append(memory)
            used += cost
    return Bundle("".join(lines), tuple(held), used)
