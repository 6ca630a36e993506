"""The catalogues of public corpora as skill folders, for `mcl compile --batch … --skills DIR`.

python -m training.corpus_skills --data ../shared/data --set snips --out DIR [--verbs all] [--lists]
    [--examples 5]
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ir import VERBS
from mcl.model.form import plain
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from training import corpora
from training.corpora import Corpus

OUT_OF_SCOPE = "oos"
MOST = 4  # entries of a slot that takes several
_EMPTY = ("CORTEX", "TOOLS", "SUB_SKILLS", "PROCEDURE", "OUTPUTS", "FAILURE_MODES")
_NO_ID = re.compile(r"[^A-Za-z0-9._-]+")
_NO_NAME = re.compile(r"[^\w-]+", re.ASCII)
_NO_MEMBER = re.compile(r'[\s<>|"#]+')


def shelf_id(name: str) -> str:
    """The id of a skill of a corpus."""
    return _NO_ID.sub("-", name).strip("-._")


def member(value: str) -> str:
    """A value of a closed list as a member of an enum, which has no blanks."""
    return _NO_MEMBER.sub("_", value)


def write_shelf(
    skills: Iterable[CorpusSkill],
    folder: Path,
    *,
    all_verbs: bool = False,
    several: frozenset[tuple[str, str]] = frozenset(),
    examples: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, CorpusSkill]:
    """Write each skill as a folder with a SKILL.mtx; the skills by their ids there.

    all_verbs: each has all ten verbs, not its own (small talk, which has none, always has all).
    several: (skill, slot) that take a list. examples: goals by a skill's name.
    """
    shelf: dict[str, CorpusSkill] = {}
    for skill in skills:
        id = shelf_id(skill.name)
        if id in shelf:
            raise ValueError(f"two skills are called {id}")
        shelf[id] = skill
        place = folder / id
        place.mkdir(parents=True, exist_ok=True)
        verbs = VERBS if all_verbs or not skill.verbs else skill.verbs
        text = skill_text(skill, verbs, several, (examples or {}).get(skill.name, ()))
        (place / "SKILL.mtx").write_text(text, encoding="utf-8")
    return shelf


def skill_text(
    skill: CorpusSkill, verbs: Sequence[str], several: frozenset[tuple[str, str]], examples: Sequence[str]
) -> str:
    """A skill's SKILL.mtx: its name in words, its description, its slots, all of them optional."""
    lines = ["§SKILL", f"id={shelf_id(skill.name)}", "version=1.0.0", f"display={_quoted(plain(skill.name))}"]
    lines += ["author=corpus", f"description={_quoted(skill.description)}", f"mcl.verbs={' '.join(verbs)}"]
    lines += [f"example.{number}={_quoted(text)}" for number, text in enumerate(examples, 1)]
    lines += ["", "§INPUTS", *(("none",) if not skill.slots else ())]
    for slot in skill.slots:
        many = (skill.name, slot.name) in several
        lines += [f"slot {_NO_NAME.sub('_', slot.name)}: {_type(slot)}{'[]' if many else ''}", "  optional"]
        lines += [f"  max={MOST}"] if many else []
        lines += [f"  hint={_quoted(slot.hint)}"]
    for name in _EMPTY:
        lines += ["", f"§{name}", "none"]
    return "\n".join(lines) + "\n"


def shelf_of(corpus: Corpus, source: str, only: Iterable[tuple[str, str]] | None = None) -> list[CorpusSkill]:
    """The skills of a corpus in the order of their names, without out of scope. only: of these keys."""
    wanted = None if only is None else set(only)
    keys = sorted(key for key in corpus.skills if key[0] == source and key[1] != OUT_OF_SCOPE)
    return [corpus.skills[key] for key in keys if wanted is None or key in wanted]


def taking_several(utterances: Iterable[Utterance]) -> frozenset[tuple[str, str]]:
    """(skill, slot) of which some utterance says two values."""
    found = set()
    for utterance in utterances:
        said = Counter(field for field, _ in {(mark.field, mark.value) for mark in utterance.marks})
        found |= {(utterance.skill[1], field.removeprefix("slot.")) for field, n in said.items() if n > 1}
    return frozenset(found)


def examples_of(utterances: Iterable[Utterance], most: int) -> dict[str, list[str]]:
    """The first utterances of each skill that state a goal, by its name."""
    found: dict[str, list[str]] = defaultdict(list)
    for utterance in utterances:
        name, text = utterance.skill[1], utterance.text
        if utterance.opens and len(found[name]) < most and text not in found[name]:
            found[name].append(text)
    return dict(found)


def _type(slot: SlotForm) -> str:
    return f"enum<{'|'.join(dict.fromkeys(map(member, slot.options)))}>" if slot.options else "string"


def _quoted(text: str) -> str:
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=corpora.NAMES, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--verbs", choices=("own", "all"), default="own")
    parser.add_argument("--lists", action="store_true", help="slots with several values in train are lists")
    parser.add_argument("--examples", type=int, default=0, help="train utterances to quote in each skill")
    given = parser.parse_args()
    corpus = corpora.load(given.data)
    train = [utterance for utterance in corpus.train if utterance.skill[0] == given.set]
    shelf = write_shelf(
        shelf_of(corpus, given.set),
        given.out,
        all_verbs=given.verbs == "all",
        several=taking_several(train) if given.lists else frozenset(),
        examples=examples_of(train, given.examples),
    )
    print(f"{len(shelf)} skills in {given.out}")


if __name__ == "__main__":
    main()
