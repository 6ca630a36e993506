"""What a model is taught with: what somebody said, for which skill, and where its values stand."""

from __future__ import annotations

from dataclasses import dataclass

from mcl.model.protocol import SlotForm


@dataclass(frozen=True)
class LabelMark:
    """A labelled value; start/end are offsets in the text, None where it is a category."""

    field: str
    value: str
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Utterance:
    """What somebody said, for which skill (source, name), with which values; `opens`: it states a goal."""

    text: str
    skill: tuple[str, str]
    marks: tuple[LabelMark, ...] = ()
    verb: str = ""
    opens: bool = True


@dataclass(frozen=True)
class CorpusSkill:
    """A skill of a corpus or of the generator."""

    source: str
    name: str
    description: str
    slots: tuple[SlotForm, ...] = ()
    verbs: tuple[str, ...] = ()
    hidden: bool = False  # out of scope: never a candidate
