"""What stands beside the model: figures.json, REPORT.md (figures beside aims), MODEL_CARD.md (what it is)."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training import corpora, written
from training.base import Base

Figures = dict[str, Any]
SOURCES = {
    "snips": ("SNIPS NLU benchmark (sonos, custom intent engines 2017-06), Coucke et al. 2018", "CC0 1.0"),
    "clinc": ("CLINC150 (clinc/oos-eval, full), Larson et al. 2019", "CC BY 3.0"),
    "hwu64": ("HWU64 (xliuhw/NLU-Evaluation-Data, fold 1), Liu et al. 2019", "CC BY 4.0"),
    "sgd": (
        "Schema-Guided Dialogue, user turns (google-research-datasets), Rastogi et al. 2020",
        "CC BY-SA 4.0",
    ),
    "banking77": ("BANKING77 (PolyAI), Casanueva et al. 2020", "CC BY 4.0"),
    "restaurant8k": ("RESTAURANT8k (PolyAI), Coope et al. 2020", "CC BY 4.0"),
}
AIMS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("SNIPS, skill", ("public", "choosing", "snips", "accuracy"), 98.7),
    ("SNIPS, slot F1", ("public", "extraction", "snips", "slot F1"), 95),
    ("CLINC150 in scope, skill", ("public", "choosing", "clinc", "accuracy"), 95.5),
    ("CLINC150, out of scope refused", ("public", "choosing", "clinc", "out of scope recall"), 70),
    ("HWU64, skill", ("public", "choosing", "hwu64", "accuracy"), 92),
    ("HWU64, slot F1", ("public", "extraction", "hwu64", "slot F1"), 81),
    ("BANKING77, skill", ("public", "choosing", "banking77", "accuracy"), 94.5),
    ("RESTAURANT8k, slot F1", ("public", "extraction", "restaurant8k", "slot F1"), 94),
    ("SGD unseen services, skill", ("public", "choosing", "sgd unseen", "accuracy"), 90),
    ("SGD unseen services, slot F1", ("public", "extraction", "sgd unseen", "slot F1"), 93),
    ("unseen writers, English: verb", ("goals", "en", "verb"), 88),
    ("unseen writers, English: constraint F1", ("goals", "en", "constraints F1"), 85),
    ("unseen writers, English: all right", ("goals", "en", "all right"), 55),
    ("unseen writers, Swedish: verb", ("goals", "sv", "verb"), 75),
    ("unseen writers, Swedish: all right", ("goals", "sv", "all right"), 40),
)
"""What is to be reached at least, in percent: its name, its keys in the figures, the aim."""
LIMITS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("unseen writers, English: asked", ("goals", "en", "asked"), 25),
    ("unseen writers, English: wrong and not marked", ("goals", "en", "wrong and not marked"), 2),
    ("unseen writers, English: wrong but marked", ("goals", "en", "wrong but marked"), 10),
    ("unseen writers, English: ECE", ("goals", "en", "ECE"), 5),
    ("values not in the prose", ("goals", "en", "invented"), 0),
)
"""What is to be at most."""
ESCAPED = "\\|"


@dataclass(frozen=True)
class TrainingRun:
    """How a model came to be. parity: the largest difference to PyTorch of a probability of a tag."""

    minutes: float
    steps: int
    goals: int
    temperatures: Mapping[str, float]
    parity: float
    base: Base


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(str(cell).replace('|', ESCAPED) for cell in row)} |" for row in rows]


def by_row(first: str, rows: Mapping[str, Figures]) -> list[str]:
    """A table with a row for each name, a column for each figure that some row has."""
    names = list(dict.fromkeys(name for row in rows.values() for name, v in row.items() if _number(v)))
    return table([first, *names], [[key, *(_cell(row.get(n)) for n in names)] for key, row in rows.items()])


def _number(value: object) -> bool:
    return isinstance(value, int | float)


def _cell(value: object) -> str:
    return "–" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


def aims(figures: Figures) -> list[str]:
    """What was aimed at and what was reached, misses among it."""
    rows: list[list[object]] = []
    for some, least in ((AIMS, True), (LIMITS, False)):
        for name, keys, aim in some:
            value: Any = figures
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            met = (
                "not measured"
                if value is None
                else "yes"
                if (value >= aim if least else value <= aim)
                else "no"
            )
            rows.append([name, f"{'>=' if least else '<='} {aim:g}", _cell(value), met])
    return table(["measured on development parts, whole compile", "aim", "reached", "met"], rows)


def report(figures: Figures) -> str:
    """REPORT.md: no words of the public sets in it, whose licences differ."""
    lines = [
        "# How well the bundled model does",
        "",
        "Measured by `python -m training.make` on development parts, through the whole compile; shares in",
        "percent. The card says what the model is and what it was trained on.",
        "",
        "## Aims",
        "",
        *aims(figures),
        "",
        "## Goals by hand",
        "",
        "By writers who wrote nothing in training (training/written/development), by language; and the goals",
        "of `mcl/plugins/train/tuner/goals.txt` (own). All right: verb, main object, each limit and sign",
        "by type and value, nothing invented; of the first wish where there are several.",
        "",
        *by_row("goals", figures["goals"]),
        "",
        "## Public sets",
        "",
        "Through `mcl compile --batch --skills DIR --no-store`, a catalogue a folder of skills; extraction",
        "is with the skill given. Services of sgd that no training goal had are apart.",
        "",
        *by_row("choosing", figures["public"]["choosing"]),
        "",
        *by_row("extraction", figures["public"]["extraction"]),
        "",
        "## How well each kind of answer keeps what it promises",
        "",
        *table(
            ["goals", "kind of answer", "answers", "right %", "calibration error %"],
            [
                [group, kind, n, _cell(100 * right), _cell(100 * error)]
                for group, kind, n, right, error in figures["calibration"]
            ],
        ),
        "",
    ]
    return "\n".join(lines)


def card(figures: Figures, run: TrainingRun, data: Path, gguf: Path) -> str:
    """MODEL_CARD.md."""
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    corpus = corpora.load(data)
    train, dev = (Counter(u.skill[0] for u in part) for part in (corpus.train, corpus.dev))
    rows = [[name, *SOURCES[name], f"{train[name]:,}", f"{dev[name]:,}"] for name in corpora.NAMES]
    hands = written.writers(parts=("train",))
    fitted = ", ".join(f"{kind} {value:.2f}" for kind, value in run.temperatures.items())
    lines = [
        f"# The bundled model: {gguf.stem}",
        "",
        "Reads a goal once and tells from the vectors of its words: which skill it is for, which verb, which",
        "words fill slots and state limits, where further wishes begin, whether it is a goal. It answers",
        "with words of the goal or declared options only; it cannot write text. Form `enc@1`,",
        "mcl/model/encoder.py.",
        "",
        f"- file: `{gguf.name}`, {gguf.stat().st_size:,} bytes, sha256 `{digest}`",
        f"- architecture: BERT, {run.base.layers} layers, width 384, 12 heads; words in {run.base.words},",
        f"  attention in {run.base.attention}, feed-forward in {run.base.feed_forward}; heads in float16",
        "  behind the tensors (mcl/model/heads.py), and a linear member for skills taught by name",
        "  (mcl/model/skill_classifier.py)",
        f"- base: {run.base.licence}, from the package {run.base.package}; sha256 of its weights",
        f"  `{run.base.weights_sha256}`:",
        *(f"  {line}" for line in run.base.origin),
        f"- tuned {run.minutes:.0f} minutes on 2 cores: {run.steps:,} steps, {run.goals:,} goals; rates and",
        "  mixture in training/train.py and training/batches.py",
        f"- temperatures of answers, fitted on development parts: {fitted}",
        f"- llama.cpp against PyTorch: largest difference of a probability of a tag {run.parity:.1e}",
        "- licence of the weights: Apache-2.0; licences of the data below",
        "",
        "## Data",
        "",
        *table(["set", "source", "licence", "train", "development"], rows),
        "",
        f"{sum(len(w.goals) for w in hands):,} goals of {len(hands)} writers (training/written/train),",
        "those of mcl/plugins/train/tuner/written, our own work, Apache-2.0; goals of our own generator",
        "(mcl/plugins/train/tuner/generator). No test part of any set was read.",
        "",
        "## Figures",
        "",
        *aims(figures),
        "",
        "[REPORT.md](REPORT.md) has all of them.",
        "",
    ]
    return "\n".join(lines)


def write(figures: Figures, run: TrainingRun, data: Path, gguf: Path) -> None:
    """All three, beside the model."""
    beside = gguf.parent
    text = json.dumps(figures, indent=1, ensure_ascii=False) + "\n"
    (beside / "figures.json").write_text(text, encoding="utf-8")
    (beside / "REPORT.md").write_text(report(figures), encoding="utf-8")
    (beside / "MODEL_CARD.md").write_text(card(figures, run, data, gguf), encoding="utf-8")
