"""REPORT.md and figures.json beside the model: figures in tables, aims, pairs, kinds of error, worst."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.answers import NONE, WORST, Figures, GoalAnswer, worst

ESCAPED = "\\|"
CHOOSING = {
    "goals": "chosen n", "skill %": "skill", "out of scope n": "none n", "refused of these %": "none recall",
    "verb %": "verb", "p >= 0.9 %": "sure", "right of these %": "exact when sure", "ECE %": "skill ECE",
}  # fmt: skip
VALUES = {
    "goals": "marked n", "F1 %": "field F1", "precision %": "precision", "recall %": "recall",
    "macro F1 %": "macro F1", "all right %": "frames exact", "false constraints %": "false constraints",
}  # fmt: skip
OWN = {
    "goals": "n", "skill %": "skill", "verb %": "verb", "field F1 %": "field F1", "macro F1 %": "macro F1",
    "exact %": "exact", "none recall %": "none recall", "sure %": "sure",
    "fields right when sure %": "fields right when sure", "ECE %": "ECE", "invented %": "invented",
}  # fmt: skip
TARGETS: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("SNIPS, skill", "whole", ("choosing", "snips", "accuracy"), 98.5),
    ("SNIPS, slot F1", "whole", ("extraction", "snips", "slot F1"), 94),
    ("CLINC150 in scope, skill", "whole", ("choosing", "clinc", "accuracy"), 94),
    ("CLINC150, out of scope refused", "whole", ("choosing", "clinc", "out of scope recall"), 50),
    ("HWU64, skill", "whole", ("choosing", "hwu64", "accuracy"), 89),
    ("BANKING77, skill", "whole", ("choosing", "banking77", "accuracy"), 92),
    ("RESTAURANT8k, slot F1", "whole", ("extraction", "restaurant8k", "slot F1"), 93),
    ("SGD unseen services, slot F1", "whole", ("extraction", "sgd unseen", "slot F1"), 75),
    ("own goals, verb", "own", ("whole", "verb"), 92),
    ("own goals, field F1", "own", ("whole", "field F1"), 90),
    ("own goals, exact", "own", ("whole", "exact"), 60),
    ("own goals, fields right when confidence >= 0.9", "own", ("whole", "fields right when sure"), 95),
    ("own goals, values not in the prose", "own", ("whole", "invented"), 0),
)
"""What is measured, by which part of the figures, under which keys; the share in percent to be reached."""


@dataclass
class Measured:
    """All figures of one model. network: training.evaluate; whole: training.whole_compile; own:
    training.development_goals."""

    network: Figures
    whole: Figures
    own: Figures
    own_answers: Sequence[GoalAnswer] = ()
    answers: Mapping[str, Sequence[GoalAnswer]] = field(default_factory=dict)

    def to_json(self) -> Figures:
        """The figures alone."""
        return {"network": self.network, "whole": self.whole, "own": self.own}


def percent(value: object) -> str:
    """A share in percent with one digit; a whole number as it is; a dash for nothing."""
    if value is None:
        return "–"
    return f"{100 * value:.1f}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(str(cell).replace('|', ESCAPED) for cell in row)} |" for row in rows]


def by_row(first: str, rows: Mapping[str, Figures], columns: Mapping[str, str]) -> list[str]:
    """A table with a row for each name and the columns that some row has."""
    shown = {head: key for head, key in columns.items() if any(key in row for row in rows.values())}
    return table(
        [first, *shown],
        [[name, *(percent(row.get(key)) for key in shown.values())] for name, row in rows.items()],
    )


def targets(measured: Measured) -> list[str]:
    """What was aimed at and what was reached."""
    everything = measured.to_json()
    rows: list[list[object]] = []
    for name, part, keys, aim in TARGETS:
        value: Any = everything[part]
        for key in keys:
            value = value.get(key, {}) if isinstance(value, dict) else {}
        if not isinstance(value, float):
            rows.append([name, f"{aim:g}", "–", "not measured"])
            continue
        reached = value == 0 if aim == 0 else 100 * value >= aim
        rows.append([name, f"{aim:g}", percent(value), "yes" if reached else "no"])
    return table(["measured on the development sets, whole compile", "aim %", "reached %", "met"], rows)


def whole_tables(whole: Figures) -> list[str]:
    """Choosing and extraction of the whole compile by set, all columns that are shares or numbers."""
    lines: list[str] = []
    for kind in ("choosing", "extraction"):
        rows = whole.get(kind, {})
        keys = dict.fromkeys(
            key for row in rows.values() for key, value in row.items() if isinstance(value, int | float)
        )
        if rows:
            lines += [*by_row(kind, rows, {key: key for key in keys}), ""]
    return lines


def own_tables(own: Figures) -> list[str]:
    """Our own goals: the model alone beside the whole compile, by skill, by field, by kind of error."""
    both = {"model alone, values given the skill": own["bare"], "whole compile": own["whole"]}
    skills = {"goals": "n", "skill %": "skill", "verb %": "verb", "exact %": "exact"}
    fields = own["whole"]["F1 by field"]
    alone, wanted = own["bare"]["F1 by field"], own["whole"]["wanted by field"]
    errors = own["errors"]
    rows = [
        [
            name,
            wanted.get(name, 0),
            percent(alone.get(name)),
            percent(value),
            ", ".join(f"{kind} {n}" for kind, n in errors.get(name, {}).items()) or "–",
        ]
        for name, value in fields.items()
    ]
    return [
        *by_row("", both, OWN),
        "",
        f"Outcomes of the whole compile: {_counts(own['whole'].get('outcomes', {}))}.",
        "",
        *by_row("skill", own["by skill"], skills),
        "",
        "Values, and how those of goals with the right skill go wrong (edge: right field, other words):",
        "",
        *table(["field", "wanted", "F1 % alone", "F1 % compile", "errors of the compile"], rows),
        "",
        *pairs({"own, skill": own["confusions"]["skill"], "own, verb": own["confusions"]["verb"]}),
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items()) or "none"


def pairs(confusions: Mapping[str, Sequence[Sequence[Any]]]) -> list[str]:
    """The most frequent wrong pairs, a row a set."""
    rows = [
        [name, "; ".join(f"{wanted} → {came} {n}" for wanted, came, n in found) or "–"]
        for name, found in confusions.items()
    ]
    return table(["set", "wanted → came, how often"], rows)


def case(answer: GoalAnswer) -> str:
    """One wrong answer as an item of a list."""
    if answer.chooses:
        wanted = answer.wanted_skill + (f"/{answer.wanted_verb}" if answer.wanted_verb else "")
        came = (answer.skill or NONE) + (f"/{answer.verb}" if answer.verb else "")
        said = f"{wanted} → {came}" if wanted != came else wanted
    else:
        said = answer.wanted_skill
    missed, extra = sorted(answer.wanted - answer.found), sorted(answer.found - answer.wanted)
    if NONE in (answer.wanted_skill, answer.skill):
        missed = extra = []
    parts = [f"missed {_values(missed)}" if missed else "", f"came {_values(extra)}" if extra else ""]
    text = " ".join(answer.text.split())
    return "; ".join([f"- {answer.confidence:.2f} “{text}” — {said}", *(part for part in parts if part)])


def _values(found: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name.removeprefix('slot.')} “{text}”" for name, text in found)


def report(measured: Measured) -> str:
    """REPORT.md: no words of the public corpora in it, whose licences differ."""
    network = measured.network
    limit = network.get("limit") or "all"
    lines = [
        "# How well the bundled model does",
        "",
        "Measured by `python -m training.make` on development data; test parts were never seen. Shares are",
        "in percent. The card says what the model is and what it was trained on.",
        "",
        "## Aims",
        "",
        *targets(measured),
        "",
        "## Our own goals",
        "",
        "`mcl/plugins/train/tuner/goals.txt`: typed by hand for the shipped skills, kept apart. In a",
        "compile a value counts for the field that the Frame has it in, or that a question quotes it for.",
        "Fields of an answer: skill, verb, each value that was wanted or came. Sure: confidence 0.9 or more.",
        "",
        *own_tables(measured.own),
        "",
        "## The whole compile on public corpora",
        "",
        "Through `mcl compile --batch --skills DIR --no-store`, each catalogue a folder of skills;",
        "extraction is with the skill given. Services of sgd that no training goal had are apart.",
        "",
        *whole_tables(measured.whole),
        f"## The network alone on public corpora ({limit} utterances a set)",
        "",
        "Choosing among a set's whole catalogue by names and descriptions:",
        "",
        *by_row("set", network["intent"], CHOOSING),
        "",
        "Values, given the skill (exact name and words; false constraints: utterances in which a budget, a",
        "deadline or the like was marked, which these sets never label):",
        "",
        *by_row("set", network["slots"], VALUES),
        "",
        "## What is taken for what (network alone)",
        "",
        *pairs(network["confusions"]),
        "",
        f"## The {WORST} worst: surest of the wrong answers to our own goals",
        "",
        *(case(answer) for answer in worst(measured.own_answers)),
        "",
    ]
    return "\n".join(lines)


def worst_of_sets(answers: Mapping[str, Sequence[GoalAnswer]]) -> str:
    """The worst of the public corpora, with their words: for the folder of the run, not for the package."""
    lines = [
        "# The surest wrong answers of the network alone, by set",
        "",
        "Utterances under their sets' licences.",
    ]
    for name, found in answers.items():
        lines += ["", f"## {name}", "", *(case(answer) for answer in worst(found))]
    return "\n".join([*lines, ""])


def write(measured: Measured, beside: Path, out: Path) -> None:
    """figures.json and REPORT.md in the folder of the model; worst.md in that of the run."""
    text = json.dumps(measured.to_json(), indent=1, ensure_ascii=False) + "\n"
    (beside / "figures.json").write_text(text, encoding="utf-8")
    (beside / "REPORT.md").write_text(report(measured), encoding="utf-8")
    (out / "worst.md").write_text(worst_of_sets(measured.answers), encoding="utf-8")
