"""What may be answered to a question, and what each answer does. No word of an option is ever interpreted.

An option refuses where its plan says so. Three words for yes and three for no belong to the questions
themselves; an option that is spelled like one of them does what the word says. Texts are compared exactly:
an option in other letters, or with blanks around it, is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from executor.gate.approvals import APPROVE, DENY
from ir.display import quoted
from ir.plan import NO, YES

# What refused in questions of rows that do not say which of their options do. Whoever decided such a one was
# told so; nothing that is asked today is read by these words.
_ONCE: Final = frozenset({"deny", "denied", "no", "reject", "refuse", "cancel", "stop", "abort"})


@dataclass(frozen=True, slots=True)
class Offer:
    """The answers to one question. options: those that are listed, () = approve or deny; refuses: those of
    them that refuse, () where none is listed, and in rows of old journals."""

    options: tuple[str, ...] = ()
    refuses: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Iterable[str], refuses: Iterable[str] = ()) -> Offer:
        """What is put to a person: one of the answers refuses, "deny" where no other does."""
        listed, said = tuple(options), frozenset(refuses)
        if not listed:
            return cls()
        refusing = tuple(one for one in listed if one in said or one in NO)
        return cls(listed, refusing) if refusing else cls((*listed, DENY), (DENY,))

    @property
    def names(self) -> tuple[str, ...]:
        """Every answer by its name."""
        return self.options or (APPROVE, DENY)

    @property
    def refusing(self) -> tuple[str, ...]:
        """The answers that refuse."""
        return self.refuses if self.options else (DENY,)

    @property
    def continuing(self) -> tuple[str, ...]:
        """The answers that go on."""
        return tuple(one for one in self.names if self.approves(one))

    @property
    def is_yes_no(self) -> bool:
        """Is it a question to be answered with yes or no?"""
        return all(one in YES or one in NO for one in self.options)

    @property
    def words(self) -> str:
        """The answers as views; where they are not yes and no, also which of them refuse."""
        names = " / ".join(map(quoted, self.names))
        refusing = " / ".join(map(quoted, self.refusing))
        return names if self.is_yes_no else f"{names}; refuses: {refusing}"

    def read(self, text: str) -> str:
        """The answer that a text is, by its name; "" where it is none, and has to be asked again."""
        if text in self.names:
            return text
        if self.is_yes_no and text in (*YES, *NO):
            return next((one for one in self.names if one in (YES if text in YES else NO)), "")
        return DENY if text == DENY else ""

    def approves(self, decision: str) -> bool:
        """Does a decision go on? What is no answer at all does not."""
        if self.options and not self.refuses:
            return decision == APPROVE or (decision in self.options and decision.casefold() not in _ONCE)
        return decision in self.names and decision not in self.refusing
