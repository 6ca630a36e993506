"""What corrections change of what was read in a goal: each is read by itself, for the same skill, and says
something else of the slots and limits that it names, and nothing of the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ir import Budget, BudgetConstraint, DeadlineConstraint, Preference, QualityConstraint, SlotEntry
from ir.document import Document
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.commands import Declared
from mcl.compiler.stages.constraints import FIELD_OF_PATH
from mcl.compiler.stages.extract import LookUp, extract
from mcl.compiler.stages.frame_draft import Extraction
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.request import GoalChange, GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.compiler.stages.signoff import NO_KEYS, KeyNames
from mcl.language.skills import Skill
from mcl.memory import Bundle
from mcl.model.protocol import Correcting, Model

Manner: TypeAlias = Literal["more", "less", "other"]
_SURE: Final = 0.8  # from here on a model says what words without a cue do
_LISTS: Final = ("constraints", "success_criteria", "preferences")


def corrected(
    read: Extraction,
    request: GoalRequest,
    classified: Classified,
    bundle: Bundle,
    model: Model,
    rules: Rules,
    look_up: LookUp | None = None,
    keys: KeyNames = NO_KEYS,
    declared: Declared = dict,
) -> Extraction:
    """What was read in a goal, as its corrections change it, one after the other.

    read: of the goal itself; the others as of `extract`. What a correction names and nobody can read, or what
    it drops and is not there, is a gap that blocks: a correction is never half taken.
    """
    one = replace(classified, begins=())
    settled = {field: text for field, text in request.answers.items() if field.startswith(PROMISE)}
    for change in request.changes:
        answers = {**settled, **change.fields}
        with request.files.beside(change.words) as files:
            asked = replace(request, prose=change.words, slots={}, answers=answers, changes=(), files=files)
            part = extract(asked, one, bundle, model, rules, look_up, keys, declared, all_slots=False)
        read = _Change(change, _manner(change.words, model, rules), classified.skill).of(read, part)
    return read


def _manner(words: str, model: Model, rules: Rules) -> Manner:
    """Whether words add to what was said, take from it, or say something else: by their cues, else by a model
    that was taught it."""
    text = words.casefold()
    if rules.less.search(text):
        return "less"
    if rules.more.search(text):
        return "more"
    shares = model.changes(words) if words and isinstance(model, Correcting) else {}
    return "less" if shares.get("drop", 0.0) >= _SURE else "other"


@dataclass(frozen=True)
class _Entry:
    """One thing of a Frame, with what is known of how it was read."""

    value: Document
    certainty: float | None = None
    said: tuple[str, str] | None = None

    @property
    def field(self) -> str:
        """The kind of limit, sign or wish that it was read as; "" where nobody said it in words."""
        return self.said[0] if self.said else ""


@dataclass(frozen=True)
class _Change:
    """One correction, applied to what was read before it."""

    change: GoalChange
    manner: Manner
    skill: Skill

    def of(self, read: Extraction, part: Extraction) -> Extraction:
        """`read` with what `part`, which was read in the correction, says of it."""
        gaps = [replace(gap, severity="blocking") for gap in part.gaps]
        entries = {"objects": list(self._objects(read, part, gaps))}
        answered = {FIELD_OF_PATH[path] for path in self.change.fields if path in FIELD_OF_PATH}
        for name in _LISTS:
            before = [one for one in _entries(read, name) if one.field not in answered]
            entries[name] = list(_joined(before, _entries(part, name)))
        entries["preferences"] = list(_ranked(entries["preferences"]))
        certainty: dict[str, float] = {}
        said: dict[str, tuple[str, str]] = {}
        for source in (read, part):  # budgets are no list: the later word holds
            certainty |= {path: p for path, p in source.certainty.items() if path.startswith("budget.")}
            said |= {path: words for path, words in source.said.items() if path.startswith("budget.")}
        for name, found in entries.items():
            for place, one in enumerate(found):
                path = f"frame.{name}[{place}]"
                certainty |= {path: one.certainty} if one.certainty is not None else {}
                said |= {path: one.said} if one.said is not None else {}
        values = {name: tuple(one.value for one in found) for name, found in entries.items()}
        touched = {gap.field for gap in gaps} | set(self.change.fields) | self._touched(part)
        over = [one for one in (read.over, part.over) if one is not None]
        return replace(
            read,
            frame=read.frame.model_copy(update=values),
            spans=(),  # they say places in one text, and there are several
            gaps=(*(gap for gap in read.gaps if gap.field not in touched), *gaps),
            budget=_budget(read.budget, part.budget),
            certainty=certainty,
            said=said,
            over=min(over, key=lambda one: one.probability, default=None),
        )

    def _touched(self, part: Extraction) -> set[str]:
        """The fields of the slots that it speaks of."""
        named = {f"slot.{one.name}" for one in part.frame.objects}
        named |= {gap.field for gap in part.gaps if gap.field.startswith("slot.")}
        return named | {field for field in self.change.fields if field.startswith("slot.")}

    def _objects(self, read: Extraction, part: Extraction, gaps: list[Gap]) -> Iterator[_Entry]:
        """What fills the slots now, in their order; what cannot be taken away is noted among the gaps."""
        touched = self._touched(part)
        before, after = _entries(read, "objects"), _entries(part, "objects")
        for slot in self.skill.slots:
            field = f"slot.{slot.name}"
            old, new = _of_slot(before, slot.name), _of_slot(after, slot.name)
            if field not in touched:
                yield from old
            elif field in self.change.fields or self.manner == "other":
                yield from new
            elif self.manner == "more":
                more = list(_joined(old, new)) if slot.most > 1 else new
                if len(more) > slot.most:
                    why = f"the slot {slot.name} takes {slot.most}, and would have {len(more)}"
                    gaps.append(Gap(field, slot.type, "blocking", why))
                yield from more
            else:
                gone = {_text(one) for one in new}
                for text in sorted(gone - {_text(one) for one in old}):
                    why = f"“{text}” is to go, and {slot.name} does not say it"
                    gaps.append(Gap(field, slot.type, "blocking", why))
                yield from (one for one in old if _text(one) not in gone)


def _entries(read: Extraction, name: str) -> list[_Entry]:
    """The things of one list of a Frame."""
    values: Sequence[Document] = getattr(read.frame, name)
    paths = [f"frame.{name}[{place}]" for place in range(len(values))]
    return [
        _Entry(value, read.certainty.get(path), read.said.get(path))
        for value, path in zip(values, paths, strict=True)
    ]


def _of_slot(entries: Iterable[_Entry], name: str) -> list[_Entry]:
    return [one for one in entries if isinstance(one.value, SlotEntry) and one.value.name == name]


def _text(one: _Entry) -> str:
    return one.value.value.casefold() if isinstance(one.value, SlotEntry) else ""


def _joined(before: Iterable[_Entry], after: Sequence[_Entry]) -> Iterator[_Entry]:
    """Both, without what is said twice, and without a limit that another one of its kind replaces."""
    replaced = {kind for one in after if (kind := _only_one(one.value))}
    values = [one.value for one in after]
    for one in before:
        if one.value not in values and _only_one(one.value) not in replaced:
            yield one
    yield from after


def _only_one(value: Document) -> tuple[str, ...]:
    """What there is one of: a sum, a moment, a measure of one thing. () for what stands beside others."""
    if isinstance(value, BudgetConstraint | DeadlineConstraint):
        return (value.type,)
    return (value.type, value.metric) if isinstance(value, QualityConstraint) else ()


def _ranked(entries: Iterable[_Entry]) -> Iterator[_Entry]:
    for rank, one in enumerate(entries, 1):
        ranked = one.value
        if isinstance(ranked, Preference):
            ranked = ranked.model_copy(update={"rank": rank})
        yield replace(one, value=ranked)


def _budget(before: Budget | None, after: Budget | None) -> Budget | None:
    if before is None or after is None:
        return after or before
    given: Mapping[str, object] = {key: value for key, value in after if value not in (None, "")}
    return before.model_copy(update=given)
