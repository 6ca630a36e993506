"""MODEL_CARD.md beside the GGUF, and a line in runs.md, from the figures of an evaluation."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from training import corpora, written
from training.asking import Asker
from training.check import Difference
from training.evaluate import GOALS
from training.generator.skills import SKILLS
from training.learner import EMBEDDING_RATE, MUON_RATE
from training.report import CHOOSING, OWN, VALUES, Measured, by_row, percent, table, targets
from training.train import EASY_STEPS, ROW_TOKENS, ROWS, SEED

RUNS = Path(__file__).parent / "runs.md"
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
OPEN = "nl2bash (Lin et al. 2018, MIT) and TaskBench (Shen et al. 2023, MIT)"


def _percent(value: object) -> str:
    return f"{100 * value:.1f}" if isinstance(value, float) else str(value)


def _table(head: list[str], rows: list[list[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(map(str, row))} |" for row in rows]


def _data(corpus: corpora.Corpus, texts: int) -> list[str]:
    train, dev = (Counter(u.skill[0] for u in part) for part in (corpus.train, corpus.dev))
    rows: list[list[object]] = [
        [name, SOURCES[name][0], SOURCES[name][1], f"{train[name]:,}", f"{dev[name]:,}"]
        for name in corpora.NAMES
    ]
    return [
        *_table(["set", "source", "licence", "train", "development"], rows),
        "",
        f"Also {texts:,} requests without labels ({OPEN}) as goals that no offered skill",
        f"does; goals of our own generator (training/generator: verbs, constraints, {len(SKILLS)} skills);",
        f"{len(written.load()):,} goals written by hand (training/written, our own work, Apache-2.0).",
        f"Development parts of snips, hwu64, banking77, restaurant8k: split with seed {corpora.SPLIT_SEED}.",
    ]


INTENT = {
    "skills": "skills", "n": "n", "accuracy %": "accuracy", "out of scope recall %": "out of scope recall",
    "verb %": "verb", "p >= 0.9 %": "sure", "right of these %": "right when sure", "ECE %": "ECE",
}  # fmt: skip
SLOTS = {
    "n": "n", "F1 %": "slot F1", "precision %": "precision", "recall %": "recall", "macro F1 %": "macro F1",
    "frame exact %": "exact", "false constraints %": "false constraints",
}  # fmt: skip
OWN = {
    "skill %": "skill", "verb %": "verb", "field F1 %": "field F1", "exact %": "exact",
    "none recall %": "none recall",
}  # fmt: skip


def _by_set(figures: dict[str, Any], columns: dict[str, str]) -> list[str]:
    rows: list[list[object]] = [
        [name, *(_percent(f.get(key, "–")) for key in columns.values())] for name, f in figures.items()
    ]
    return _table(["set", *columns], rows)


def _figures(figures: dict[str, Any]) -> list[str]:
    goals = figures["goals"]
    fields: list[list[object]] = [[name, _percent(value)] for name, value in goals["F1 by field"].items()]
    return [
        "Choosing a skill among the whole catalogue of a set (names and descriptions, no examples):",
        "",
        *_by_set(figures["intent"], INTENT),
        "",
        "Slots, given the skill (exact name and value; false constraints: utterances in which a budget, a",
        "deadline or the like was marked, which these sets never label):",
        "",
        *_by_set(figures["slots"], SLOTS),
        "",
        f"Own goals (training/goals.jsonl: {goals['n']} goals, written by hand for the three shipped skills,",
        "and 10 that are none; fields given the right skill; exact: skill, verb and all fields):",
        "",
        *_table(list(OWN), [[_percent(goals[key]) for key in OWN.values()]]),
        "",
        *_table(["field", "F1 %"], fields),
    ]


def write_card(asker: Asker, data: Path, gguf: Path, figures: dict[str, Any], found: Difference) -> None:
    """Write MODEL_CARD.md beside `gguf`."""
    corpus = corpora.load(data)
    parameters = sum(p.numel() for p in asker.network.parameters())
    shape = asker.shape
    digest = hashlib.sha256(gguf.read_bytes()).hexdigest()
    lines = [
        "# The bundled model: mcl-tags",
        "",
        "Chooses a skill and a verb for a goal in plain words, and marks the words that fill slots and state",
        "constraints, in one pass (form `tags@1`, mcl/model/form.py). It answers with words of the goal or",
        "declared options only; it cannot write text. Trained from scratch by `training/`.",
        "",
        f"- file: `{gguf.name}`, {gguf.stat().st_size:,} bytes, sha256 `{digest}`",
        f"- {parameters:,} parameters: llama architecture, width {shape.width}, {shape.layers} layers, "
        f"{shape.heads} heads, feed-forward {shape.feed_forward}, tied embeddings, RoPE, attention both ways",
        f"- vocabulary {shape.vocabulary:,}: byte-level BPE, {len(asker.vocabulary.special)} special tokens",
        f"- training: {asker.minutes:.0f} minutes on 2 shared CPU cores, {asker.step:,} steps "
        f"of {ROWS} rows of {ROW_TOKENS} tokens, {asker.examples:,} examples (runs.md tells with whose "
        f"weights it began); Muon {MUON_RATE} for matrices, AdamW {EMBEDDING_RATE} for "
        f"embeddings, linear decay, averaged weights, seed {SEED}; first {EASY_STEPS} steps with fewer "
        "candidates; embeddings begin from counts (see embedding.py)",
        f"- calibration: {fitted}",
        f"- llama.cpp against PyTorch: {found.texts:,} texts tokenised, {found.differing} differently; "
        f"largest difference of a logit {found.logit:.1e} (f32), of a probability {found.probability:.1e}",
        "- licence of the weights: Apache-2.0; licences of the data below",
        "",
        "## Data",
        "",
        *_data(corpus, len(corpora.open_texts(data))),
        "",
        "## Figures (development splits; test parts were never seen)",
        "",
        *_figures(figures),
        "",
        "## Limits",
        "",
        "- English only. Trained for a short time: the figures above say what to expect.",
        "- Words that were rare in the data are understood by their place in the sentence, if at all; skills",
        "  are understood by their names, descriptions and hints: write these in plain words.",
        "- At most 128 words are read at once (longer goals in windows); choosing reads the first window.",
        "- One temperature for all probabilities was fitted on 600 development utterances; own goals differ.",
        "- The goals of the own set were written by one author, before training, in this project's style.",
        "  Shares of rows were changed after looking at interim figures: a development set, no test.",
        "",
    ]
    (gguf.parent / "MODEL_CARD.md").write_text("\n".join(lines))


def note_run(asker: Asker, figures: dict[str, Any], remark: str) -> None:
    """Add a run to runs.md: configuration, data, minutes, figures."""

    def by_set(part: str, key: str) -> str:
        return ", ".join(f"{name} {_percent(f[key])}" for name, f in figures[part].items() if key in f)

    own = ", ".join(f"{name[:-2]} {_percent(figures['goals'][key])}" for name, key in OWN.items())
    lines = [
        f"\n## {remark}",
        "",
        f"- {json.dumps(asker.shape.to_json())}",
        f"- {asker.minutes:.0f} minutes, {asker.step:,} steps, {asker.examples:,} examples",
        f"- intent accuracy: {by_set('intent', 'accuracy')}",
        f"- out of scope recall: {by_set('intent', 'out of scope recall')}",
        f"- slot F1: {by_set('slots', 'slot F1')}",
        f"- own goals ({GOALS.name}): {own}",
        "",
    ]
    with RUNS.open("a") as file:
        file.write("\n".join(lines))
