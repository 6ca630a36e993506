"""Measure the whole compile on the development splits, as a user has it: `mcl compile --batch --skills DIR`.

python -m training.whole_compile --data ../shared/data --out figures.json [--limit 200] [--jobs 2]
    [--sets snips]

For each set two batches: choosing (the prose alone, the whole catalogue of the set as choices) and extraction
(the skill given). Nothing is stored. Needs no torch.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from mcl.usecases.batch import compile_batch
from training import corpora
from training.answers import SURE, Scores, calibration_error
from training.corpora import Corpus
from training.corpus_skills import (
    OUT_OF_SCOPE,
    examples_of,
    member,
    shelf_id,
    shelf_of,
    taking_several,
    write_shelf,
)

Figures = dict[str, Any]
Value = tuple[str, str]
AT = "2026-11-21T10:00:00Z"


@dataclass(frozen=True)
class EvaluationSettings:
    """How a set is compiled. jobs: processes. model: a GGUF, None for the one in use."""

    jobs: int = 1
    model: Path | None = None
    ai: bool = True
    all_verbs: bool = False
    lists: bool = False
    examples: int = 0


@dataclass
class Tally:
    """What is counted over compiles: (confidence, all of it right), fields right and told among the sure."""

    said: list[tuple[float, bool]] = field(default_factory=list)
    sure_compiles: int = 0
    sure_told: int = 0
    sure_right: int = 0
    sure_missed: int = 0
    values: int = 0
    invented: list[str] = field(default_factory=list)

    def figures(self) -> Figures:
        """As shares."""
        total = max(1, len(self.said))
        missed = self.sure_told + self.sure_missed
        return {
            "ECE": calibration_error(self.said),
            "sure": self.sure_compiles / total,
            "right fields when sure": self.sure_right / max(1, self.sure_told),
            "the same, missed ones counted": self.sure_right / max(1, missed),
            "values": self.values,
            "invented": len(self.invented),
        }


def wanted(utterance: Utterance, skill: CorpusSkill) -> set[Value]:
    """The slots and values that are to be found, in small letters: spans, and of closed lists its members."""
    options = {slot.name: {option.lower() for option in slot.options} for slot in skill.slots}
    found = set()
    for mark in utterance.marks:
        name, value = mark.field.removeprefix("slot."), mark.value.lower()
        if value in options[name] if options.get(name) else mark.start is not None:
            found.add((name, member(value) if options.get(name) else value))
    return found


def told(result: Mapping[str, Any]) -> set[Value]:
    """The slots and values of a result, in small letters."""
    pairs = result["slots"].items()
    return {
        (name, str(one).lower())
        for name, value in pairs
        for one in (value if isinstance(value, list) else [value])
    }


def invented(result: Mapping[str, Any], prose: str, skill: CorpusSkill) -> Iterator[str]:
    """The values of a result that are neither words of the prose nor members of a closed list."""
    closed = {slot.name for slot in skill.slots if slot.options}
    plain = " ".join(prose.split())
    for name, value in result["slots"].items():
        for one in value if isinstance(value, list) else [value]:
            if name not in closed and str(one) not in plain:
                yield f"{name}={one}"


def compiled(
    lines: Sequence[Mapping[str, Any]], shelf: Path, settings: EvaluationSettings
) -> list[dict[str, Any]]:
    """The results of a batch, in order."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        compile_batch(
            source,
            out,
            skills=[shelf],
            jobs=settings.jobs,
            model=settings.model,
            ai=settings.ai,
            store=False,
            at=AT,
        )
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def choosing(
    corpus: Corpus,
    shelf: Mapping[str, CorpusSkill],
    utterances: Sequence[Utterance],
    place: Path,
    settings: EvaluationSettings,
) -> tuple[Figures, list[str]]:
    """Skill and slots from the prose alone; what went wrong, worst first."""
    lines = [{"id": i, "prose": one.text} for i, one in enumerate(utterances)]
    scores, tally, wrong = Scores(), Tally(), []
    right, verbs, refused, exact, asked = [], [], [], [], 0
    for one, result in zip(utterances, compiled(lines, place, settings), strict=True):
        chosen = result["skill"]
        if one.skill[1] == OUT_OF_SCOPE:
            refused.append(result["outcome"] == "refused")
            wrong += [] if refused[-1] else [_line(result, one, "none", set(), told(result))]
            continue
        good = chosen == shelf_id(one.skill[1])
        right.append(good)
        asked += result["outcome"] == "clarify"
        if one.verb and good:
            verbs.append(result["verb"] == one.verb)
        want, got = wanted(one, corpus.skills[one.skill]), told(result)
        scores.add({(f"{one.skill[1]}.{n}", v) for n, v in want}, {(f"{chosen}.{n}", v) for n, v in got})
        _count(tally, result, one, shelf, want, got, good)
        exact.append(good and want == got)
        if not exact[-1]:
            wrong.append(_line(result, one, one.skill[1], want, got))
    figures: Figures = {"skills": len(shelf), "n": len(right), "accuracy": _mean(right), "verb": _mean(verbs)}
    figures |= {"out of scope recall": _mean(refused)} if refused else {}
    figures |= {"asked": asked / max(1, len(right)), "exact": _mean(exact)}
    figures |= {"joint F1": scores.total.f1} if scores.total.wanted else {}
    return {**figures, **tally.figures(), "_invented": tally.invented}, wrong


def extraction(
    corpus: Corpus,
    shelf: Mapping[str, CorpusSkill],
    utterances: Sequence[Utterance],
    place: Path,
    settings: EvaluationSettings,
) -> tuple[Figures, list[str]]:
    """Slots with the skill given."""
    usable = [one for one in utterances if one.skill in corpus.skills and corpus.skills[one.skill].slots]
    lines = [{"id": i, "prose": one.text, "skill": shelf_id(one.skill[1])} for i, one in enumerate(usable)]
    scores, tally, wrong = Scores(), Tally(), []
    outcomes: dict[str, int] = defaultdict(int)
    alarms = 0
    for one, result in zip(usable, compiled(lines, place, settings), strict=True):
        outcomes[result["outcome"]] += 1
        want, got = wanted(one, corpus.skills[one.skill]), told(result)
        scores.add(set(want), set(got))
        frame = result["frame"] or {}
        alarms += any(frame.get(key) for key in ("constraints", "success_criteria", "preferences"))
        _count(tally, result, one, shelf, want, got, True)
        if want != got:
            wrong.append(_line(result, one, one.skill[1], want, got))
    total = scores.total
    figures = {
        "n": len(usable),
        "slot F1": total.f1,
        "precision": total.precision,
        "recall": total.recall,
        "macro F1": scores.macro,
        "exact": scores.exact / max(1, scores.frames),
        "false constraints": alarms / max(1, len(usable)),
        "outcomes": dict(outcomes),
    }
    return {**figures, **tally.figures(), "_invented": tally.invented}, wrong


def _count(
    tally: Tally,
    result: Mapping[str, Any],
    one: Utterance,
    shelf: Mapping[str, CorpusSkill],
    want: set[Value],
    got: set[Value],
    good: bool,
) -> None:
    """Add a compile. Fields are the skill and each value; those of another skill are wrong."""
    if result["outcome"] in ("refused", "error"):
        return
    confidence = result["confidence"]
    tally.said.append((confidence, good and want == got))
    tally.values += len(got)
    tally.invented += invented(result, one.text, shelf[result["skill"]])
    if confidence >= SURE and result["outcome"] == "compiled":
        tally.sure_compiles += 1
        tally.sure_told += 1 + len(got)
        tally.sure_right += (1 + len(want & got)) if good else 0
        tally.sure_missed += len(want - got) if good else len(want)


def measure(
    data: Path, sets: Sequence[str], limit: int, settings: EvaluationSettings
) -> tuple[Figures, list[str]]:
    """All figures by set; at most `limit` utterances each (0: all), drawn with a fixed seed. And what went
    wrong."""
    corpus = corpora.load(data)
    by_set = corpora.dev_sets(corpus)
    figures: Figures = {"choosing": {}, "extraction": {}}
    wrong: list[str] = []
    for name in (name for name in by_set if name.split()[0] in sets):
        source, utterances = name.split()[0], by_set[name]
        with tempfile.TemporaryDirectory() as folder:
            train = [one for one in corpus.train if one.skill[0] == source]
            occurring = {one.skill for one in utterances} if source == "sgd" else None
            shelf = write_shelf(
                shelf_of(corpus, source, occurring),
                Path(folder),
                all_verbs=settings.all_verbs,
                several=taking_several(train) if settings.lists else frozenset(),
                examples=examples_of(train, settings.examples),
            )
            place = Path(folder)
            if len(shelf) > 1:
                opening = [one for one in utterances if one.opens][: limit or None]
                figures["choosing"][name], lines = choosing(corpus, shelf, opening, place, settings)
                wrong += [f"{name} choosing: {line}" for line in lines]
            if any(skill.slots for skill in shelf.values()):
                some = utterances[: limit or None]
                figures["extraction"][name], lines = extraction(corpus, shelf, some, place, settings)
                wrong += [f"{name} extraction: {line}" for line in lines]
        for kind in ("choosing", "extraction"):
            if name in figures[kind]:
                print(kind, name, rounded(figures[kind][name]), flush=True)
    return figures, wrong


def table(figures: Figures) -> str:
    """The figures as two tables in Markdown, shares in percent."""
    lines = []
    for kind, rows in figures.items():
        names = [
            name for name in dict.fromkeys(key for row in rows.values() for key in row) if name[0] != "_"
        ]
        names = [name for name in names if name != "outcomes"]
        lines += ["", f"| {kind} | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
        lines += [
            f"| {name} | {' | '.join(_cell(row.get(key)) for key in names)} |" for name, row in rows.items()
        ]
    return "\n".join(lines)


def rounded(value: Any) -> Any:
    """Floats to four places, all the way down; lists of examples cut."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return value[:20]
    return round(value, 4) if isinstance(value, float) else value


def in_percent(value: Any) -> Any:
    """Shares in percent with one digit, all the way down; lists of examples left out."""
    if isinstance(value, dict):
        return {key: in_percent(one) for key, one in value.items() if not isinstance(one, list)}
    return round(100 * value, 1) if isinstance(value, float) else value


def _cell(value: object) -> str:
    return "–" if value is None else f"{value * 100:.1f}" if isinstance(value, float) else str(value)


def _line(result: Mapping[str, Any], one: Utterance, name: str, want: set[Value], got: set[Value]) -> str:
    said = result["outcome"] if result["outcome"] != "error" else str(result["error"])
    chosen = result["skill"] or result.get("nearest")
    return (
        f"{result['confidence']:.2f} {said} {name} -> {chosen}: {one.text} | "
        f"missed {sorted(want - got)} | extra {sorted(got - want)}"
    )


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / max(1, len(values))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="figures as JSON; what went wrong beside it, as .wrong.txt")
    parser.add_argument("--sets", nargs="+", choices=corpora.NAMES, default=corpora.NAMES)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--no-ai", action="store_true")
    parser.add_argument("--verbs", choices=("own", "all"), default="own")
    parser.add_argument("--lists", action="store_true", help="slots with several values in train are lists")
    parser.add_argument("--examples", type=int, default=0, help="train utterances quoted in each skill")
    given = parser.parse_args()
    settings = EvaluationSettings(
        jobs=given.jobs,
        model=given.model,
        ai=not given.no_ai,
        all_verbs=given.verbs == "all",
        lists=given.lists,
        examples=given.examples,
    )
    figures, wrong = measure(given.data, given.sets, given.limit, settings)
    print(table(figures))
    if given.out:
        given.out.write_text(json.dumps(rounded(figures), indent=1), encoding="utf-8")
        given.out.with_suffix(".wrong.txt").write_text("\n".join(wrong), encoding="utf-8")


if __name__ == "__main__":
    main()
