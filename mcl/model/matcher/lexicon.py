"""Words that say a verb, as the core module `verb` lists them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ir.frame import valid_verb

if TYPE_CHECKING:
    from mcl.language.mtx.core import CoreModule

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class Lexicon:
    """verbs: by cue word; kin: verbs of one kind; first, heard, akin, guessed: how certain a verb is (see
    grammars/core/verb.mtx)."""

    verbs: Mapping[str, str]
    kin: tuple[frozenset[str], ...]
    first: float
    heard: float
    akin: float
    guessed: float

    @classmethod
    def of(cls, module: "CoreModule") -> "Lexicon":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        verbs: dict[str, str] = {}
        for verb, words in module.family("cue").items():
            if not valid_verb(verb):
                raise module.bad(f"cue.{verb}", "is of no verb")
            for word in words.split():
                verbs.setdefault(word, verb)
        return cls(
            verbs,
            tuple(frozenset(verbs.split()) for verbs in module.family("kin").values()),
            *(module.number(f"share.{name}", 0, 1) for name in ("first", "heard", "akin", "guessed")),
        )

    def said(self, prose: str) -> list[str]:
        """The verbs whose words are in the prose, in its order."""
        words = [word.casefold() for word in WORD.findall(prose)]
        return list(dict.fromkeys(self.verbs[word] for word in words if word in self.verbs))

    def among(self, prose: str, allowed: Sequence[str]) -> tuple[str, float]:
        """The verb of `allowed` that the prose says and how certain that is; ("", share of a guess) where it
        says none of them.

        A verb that is not allowed stands for the only allowed one of its kind. Where all that are allowed are
        of one kind, a guess among them does little harm and counts as `akin`.
        """
        if len(allowed) == 1:
            return allowed[0], 1.0
        said = self.said(prose)
        if verb := next((verb for verb in said if verb in allowed), ""):
            return verb, self.first if verb == self.first_verb(prose) else self.heard
        for kind in self.kin:
            akin = [verb for verb in allowed if verb in kind]
            if said and said[0] in kind and len(akin) == 1:
                return akin[0], self.heard
        return "", self.akin if any(kind >= set(allowed) for kind in self.kin) else self.guessed

    def first_verb(self, prose: str) -> str:
        """The verb that the first word says, or "": that is how people tell somebody to do something."""
        words = (word[0].casefold() for word in WORD.finditer(prose))
        return self.verbs.get(next((word for word in words if word != "please"), ""), "")
