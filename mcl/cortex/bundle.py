"""What the compiler is told of the memories: a short text, the same bytes for the same snapshot and goal."""

from dataclasses import dataclass

from mcl.cortex.memory import Memory
from mcl.cortex.view import Memories

_PINNED = "pinned"
_BYTES_A_TOKEN = 3  # a careful guess that needs no vocabulary: most have 3.5 to 4.5 bytes a token


@dataclass(frozen=True)
class Bundle:
    """Memories as lines of text; `uris` in the order of the lines, `tokens` an upper estimate."""

    text: str = ""
    uris: tuple[str, ...] = ()
    tokens: int = 0


def bundle(
    memories: Memories, goal: str, *, types: tuple[str, ...], tags: tuple[str, ...], tokens: int
) -> Bundle:
    """Pinned memories, then those near `goal`, then outcomes (Event, Pattern) near it, as many as fit in
    `tokens`.

    `types` and `tags` are the skill's (empty: any). A memory that does not fit is left out, later ones may
    still fit.
    """
    if not memories.size:
        return Bundle()
    ordered: dict[str, Memory] = {}
    for found in (
        memories.find(types=types, tags=(_PINNED,), limit=32),
        *(memories.find(types=types, tags=(tag,), near=goal, limit=32) for tag in tags or ()),
        memories.find(types=types, near=goal, limit=32),
        memories.find(types=("Event", "Pattern"), near=goal, limit=8),
    ):
        ordered.update({one.uri: one for one in found if one.uri not in ordered})
    lines, uris, used = [], [], 0
    for uri, memory in ordered.items():
        line = f"- {memory.type}: {' '.join(memory.text.split())} [{uri}]\n"
        cost = -(-len(line.encode()) // _BYTES_A_TOKEN)
        if used + cost <= tokens:
            lines.append(line)
            uris.append(uri)
            used += cost
    return Bundle("".join(lines), tuple(uris), used)
