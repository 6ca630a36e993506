"""The goals kept for measuring (goals.txt): typed by hand for the skills as shipped, never trained on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mcl.language.skills import Skills, find_skills, skill_folders
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.handwritten import NOBODY, read
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance

GOALS = Path(__file__).parent / "goals.txt"


def shipped() -> Skills:
    """The skills of the package alone."""
    return find_skills(skill_folders(None)[:1])


def skills() -> dict[tuple[str, str], CorpusSkill]:
    """They as the markup's reader wants them: by (source, id)."""
    found = {}
    for skill in shipped():
        source = "own" if skill.id == "general" else "written"
        slots = tuple(SlotForm(s.name, s.type, s.hint, s.options, s.required, s.most) for s in skill.slots)
        found[source, skill.id] = CorpusSkill(source, skill.id, skill.description, slots, skill.verbs)
    return found


def load(path: Path = GOALS, known: Mapping[tuple[str, str], CorpusSkill] | None = None) -> list[Utterance]:
    """All goals in the order of the file; of skill "none" where no skill takes them. Raises WrittenError."""
    return [goal for _, goal in read(path, skills() if known is None else known)]


__all__ = ["GOALS", "NOBODY", "load", "shipped", "skills"]
