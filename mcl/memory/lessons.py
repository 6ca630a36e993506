"""What answers taught: a question that a person answered once is answered alike for the same words.

Each is a Preference whose id is made of what was asked, so that it is found without a search and another
answer is its next version. Its data say for programs what its text says for people:

    skill    the skill that was asked for; "" where the skill or the verb itself was asked
    field    the field that was asked about, as slot.supplier
    about    "goal": whenever the goal has these words; "value": whenever the slot is said in these words
    words    the words, as `folded` writes them
    answer   what the person answered; "" leaves the field out of the goal

A Constraint with the id `mcl.learning` and the datum learning=off turns learning, and the use of what was
learned, off. Both are memories like any other: journalled, versioned, part of a snapshot, forgotten at will.
"""

import re
import unicodedata
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias

from mcl.memory.memory import Memory, new_memory
from mcl.memory.words import Memories

SETTING: Final = "mcl.learning"
TAG: Final = "learned"
SKILL: Final = "skill"  # the fields of questions about the choice itself
VERB: Final = "frame.verb"
_TYPE: Final = "Preference"
_LONGEST: Final = 512  # characters of words or an answer that are worth keeping
_AROUND = re.compile(r"^[\s\"'“”„«»‘’]+|[\s\"'“”„«»‘’.!?…,;:]+$")

About: TypeAlias = Literal["goal", "value"]


@dataclass(frozen=True)
class Asked:
    """What was asked about: see the head of this file."""

    skill: str
    field: str
    about: About
    words: str

    @property
    def id(self) -> str:
        """The id of the memory of its answer."""
        parts = "\x1f".join((self.skill, self.field, self.about, self.words))
        return f"{TAG}-{sha256(parts.encode()).hexdigest()[:24]}"


def folded(text: str) -> str:
    """The words of a goal or value as they are compared: letters alike, blanks as one, no marks around."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _AROUND.sub("", plain)


def is_on(memories: Memories) -> bool:
    """Whether answers are learned from and what was learned is used."""
    said = memories.resolve(f"matrix://cortex/Constraint/{SETTING}") if memories.size else None
    return said is None or dict(said.data).get("learning") != "off"


def setting(on: bool, *, at: str) -> Memory:
    """The memory that turns learning on or off."""
    text = "Learn from accepted answers" if on else "Learn nothing from accepted answers"
    given = {"id": SETTING, "type": "Constraint", "text": text, "tags": ["mcl"]}
    return new_memory({**given, "data": {"learning": "on" if on else "off"}}, at=at)


def recalled(memories: Memories, asked: Asked) -> Memory | None:
    """What was learned of this question; None where nothing was, or it is forgotten."""
    found = memories.resolve(f"matrix://cortex/{_TYPE}/{asked.id}")
    return found if found is not None and "answer" in dict(found.data) else None


def answer_of(memory: Memory) -> str:
    """What the person answered."""
    return dict(memory.data)["answer"]


def lesson(asked: Asked, words: str, answer: str, *, source: str, at: str) -> Memory | None:
    """The memory of an answer; None where it is too long to be worth keeping.

    words: as the person wrote them. source: the address of the intent.
    """
    if not asked.words or max(len(words), len(answer)) > _LONGEST:
        return None
    name = asked.field.removeprefix("slot.").removeprefix("frame.")
    said = f"“{answer}”" if answer else "left out"
    where = f"{asked.skill}: " if asked.skill else ""
    meant = (
        f"“{words}” as {name} means {answer}"
        if asked.about == "value"
        else f"for “{words}”, {name} is {said}"
    )
    data = {"skill": asked.skill, "field": asked.field, "about": asked.about, "words": asked.words}
    given: dict[str, Any] = {
        "type": _TYPE,
        "id": asked.id,
        "text": f"{where}{meant}",
        "tags": [TAG],
        "source": source,
        "data": data | {"answer": answer},
        "edges": [("means", answer)] if asked.about == "value" else [],
    }
    return new_memory(given, at=at)


# ---- What the compiler is told of the memories: a short text, the same bytes for the same snapshot and
# goal.

PINNED: Final = "pinned"
OUTCOMES: Final = ("Event", "Pattern")
REVIEW: Final = "mcl.review"  # what reviews of code remember, each for its workspace
UNTOLD: Final = (TAG, REVIEW)
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
    # In this order, and each memory once: what is pinned is told first, and stays where another search finds
    # it too.
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
