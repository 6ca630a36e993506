"""What rows are drawn from: the corpora, the generator and the goals written by hand, by skill."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from mcl.model import form
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.phrases import Phrase
from mcl.plugins.train.tuner.generator.skills import FAMILIES, SKILLS, utter
from mcl.plugins.train.tuner.rows import TokenVocabulary
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance
from mcl.plugins.train.tuner.variation import Variation
from training.corpora import Corpus

LIKE = (
    {"files-find", "code-search"}, {"files-find", "files-report"}, {"files-find", "monitor-path"},
    {"repo-status", "repo-branch"},
)  # fmt: skip
"""Skills of written goals of which each would do for some goals of the other."""
RIVALS = (
    {"delegate-task", "assign_task"}, {"delegate-task", "supplier_deal"}, {"run-tests", "test_run"},
    {"schedule-reminder", "meeting"}, {"files-report", "report"}, {"data-summary", "query_data"},
    {"assign_task", "supplier_deal"}, *LIKE,
)  # fmt: skip
"""Skills of the generator that would do for the same goals."""
COMMON = frozenset(
    ["schedule-reminder", "note-write", "meeting", "send_message", "book_travel", "translate_document"]
)
"""Skills of the generator of which other sources have some, too: no strangers to them."""
_STOP = frozenset(
    re.findall(
        r"\w+",
        """i a the to my is of for on in me do you what can and it please how that this be have with""",
    )
)


def alike(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Whether two different skills would do for the same goal (Buses_1 and Buses_2 of sgd, LIKE, RIVALS)."""
    if a[0] == b[0] and a[0] in ("own", "written"):
        return {a[1], b[1]} in (RIVALS if a[0] == "own" else LIKE)
    if a == b or a[0] != "sgd" or b[0] != "sgd" or a[1].startswith("Services"):
        return False
    return form.plain(a[1]) == form.plain(b[1])


_JOINTS = {
    "rule": (", ", ", ", "; ", ". ", ", and ", ", but ", " - ", ". Mind: "),
    "preference": (", ideally ", ", preferably ", ", best ", "; I'd rather have ", ", if possible "),
}  # fmt: skip
_FREE = re.compile(
    r"(?:no|not|never|nothing|nobody|none|without|only|do not|don't|all|each|every|everything|always|keep"
    r"|at most|at least|one|two|three) \S+ .+",
    re.IGNORECASE,
)
"""Rules that stand for themselves, in any goal."""


class Stock:
    """Skills and utterances, and the one source of all that is random.

    by_skill, opening: public utterances by (source, skill), all of them and those that state a goal.
    written: our own, by skill. catalogue: skills by source. near: those that one is mistaken for most easily.
    outside, talk, requests, texts: what is for no skill of clinc, small talk, requests to a shell that are
    not about files, all such requests.
    """

    def __init__(
        self, corpus: Corpus, texts: Sequence[str], vocabulary: TokenVocabulary, seed: int, width: int
    ) -> None:
        """texts: requests without labels. width: tokens of an ordinary row."""
        goals = handwritten.load()
        self.random = random.Random(seed)
        self.vocabulary, self.width, self.texts = vocabulary, width, list(texts)
        self.skills: dict[tuple[str, str], CorpusSkill] = (
            {k: s for k, s in corpus.skills.items() if s.name != "oos"} | SKILLS | handwritten.skills()
        )
        self.variation = Variation(
            [*corpus.train, *goals], [s for s in self.skills.values() if s.source != "banking77"], self.random
        )
        self.stated = {kind: self._stated(kind) for kind in _JOINTS}
        self.written: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        for utterance in goals:
            self.written[utterance.skill].append(utterance)
        self.by_skill: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        self.opening: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        self.outside = [u.text for u in corpus.train if u.skill == ("clinc", "oos")]
        for utterance in corpus.train:
            if utterance.skill in self.skills:
                self.by_skill[utterance.skill].append(utterance)
                if utterance.opens:
                    self.opening[utterance.skill].append(utterance)
        # Requests to a shell are about files: beside skills for files they are not for a general skill.
        self.requests = [text for text in texts if "file" not in text and "director" not in text]
        self.talk = [u.text for u in corpus.train if not u.verb and u.skill[1] != "oos"] + self.outside
        self.talk += [u.text for u in self.written[handwritten.NOBODY]] * 2
        self.catalogue: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key in self.opening:
            self.catalogue[key[0]].append(key)
        self.catalogue["own"] = [("own", family.name) for family in FAMILIES]
        self.catalogue["written"] = [
            key for key in self.written if key[0] == "written" and key != handwritten.NOBODY
        ]
        self.near = {key: self._neighbours(key) for keys in self.catalogue.values() for key in keys}

    def _neighbours(self, key: tuple[str, str], limit: int = 14) -> list[tuple[str, str]]:
        """Skills of the same source whose utterances share most rare words."""
        if key[0] in ("own", "written"):
            return [k for k in self.catalogue[key[0]] if k != key]
        if not hasattr(self, "_words"):
            self._words = {
                k: Counter(w for u in us[:150] for w in set(u.text.lower().split()) - _STOP)
                for k, us in self.opening.items()
            }
            self._spread = Counter(w for words in self._words.values() for w in words)
        mine = self._words[key]
        scores = {
            other: sum(min(n, words[w]) / self._spread[w] for w, n in mine.items() if w in words)
            for other, words in self._words.items()
            if other[0] == key[0] and other != key
        }
        return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]

    def own(self, name: str) -> Utterance:
        """A goal of the generator for one of its skills, or for the general one."""
        if name == "general":
            return self._ruled(general(self.random))
        return utter(next(f for f in FAMILIES if f.name == name), self.random)

    def _ruled(self, utterance: Utterance, share: float = 0.25) -> Utterance:
        """Now and then with a rule or preference of a written goal behind it, where it states none."""
        r = self.random
        kind = r.choice(("rule", "rule", "preference"))
        if r.random() > share or not self.stated[kind] or any(m.field == kind for m in utterance.marks):
            return utterance
        value = r.choice(self.stated[kind])
        clause = Phrase(r.choice(_JOINTS[kind])) + Phrase(value, (LabelMark(kind, value, 0, len(value)),))
        whole = self.variation.with_clause(utterance, clause)
        return replace(utterance, text=whole.text, marks=whole.marks)

    def _stated(self, kind: str) -> list[str]:
        """Rules or preferences of written goals that may stand in any other."""
        said = self.variation.values.get(("general", kind), [])
        return [
            value
            for value in said
            if " " in value and " than " not in value and (kind != "rule" or _FREE.fullmatch(value))
        ]
