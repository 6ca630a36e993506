"""MODEL_CARD.md beside the GGUF, and a line in runs.md, from the figures of an evaluation."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcl.plugins.train.tuner import development, handwritten
from mcl.plugins.train.tuner.generator.skills import SKILLS
from mcl.plugins.train.tuner.network import EMBEDDING_RATE, MUON_RATE, Asker
from training import corpora
from training.check import Difference
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


def _data(data: Path) -> list[str]:
    corpus = corpora.load(data)
    train, dev = (Counter(u.skill[0] for u in part) for part in (corpus.train, corpus.dev))
    rows: list[list[object]] = [
        [name, SOURCES[name][0], SOURCES[name][1], f"{train[name]:,}", f"{dev[name]:,}"]
        for name in corpora.NAMES
    ]
    goals, kept = handwritten.load(), development.load()
    marks = sum(len(goal.marks) for goal in goals)
    return [
        *table(["set", "source", "licence", "train", "development"], rows),
        "",
        f"Also {len(corpora.open_texts(data)):,} requests without labels ({OPEN}) as goals that no offered",
        "skill does; goals of our own generator (mcl/plugins/train/tuner/generator: "
        f"{len(SKILLS)} skills) and",
        f"{len(goals):,} goals with {marks:,} marks written by hand (mcl/plugins/train/tuner/written): "
        "our own work,",
        f"Apache-2.0, and so are the {len(kept)} goals of the own development set (goals.txt beside them). "
        "None",
        "of them is among the others, nor much like one (tests/training/test_development.py compares).",
        f"Development parts of snips, hwu64, banking77, restaurant8k: split with seed {corpora.SPLIT_SEED}.",
    ]


def _figures(measured: Measured) -> list[str]:
    own = {
        "model alone, values given the skill": measured.own["bare"],
        "whole compile": measured.own["whole"],
    }
    return [
        "Shares in percent; `figures.json` has all of them, [REPORT.md](REPORT.md) tables, what is taken for",
        "what, kinds of error and the worst cases.",
        "",
        *targets(measured),
        "",
        "Own goals:",
        "",
        *by_row("", own, OWN),
        "",
        "The network alone, choosing a skill among the whole catalogue of a set by names and descriptions:",
        "",
        *by_row("set", measured.network["intent"], CHOOSING),
        "",
        "The network alone, values given the skill:",
        "",
        *by_row("set", measured.network["slots"], VALUES),
    ]


@dataclass(frozen=True)
class ExportFigures:
    """What became of a run on its way to a file. found: llama.cpp beside PyTorch. fitted: what calibration
    did, in words. member: bytes of the linear member."""

    found: Difference
    fitted: str
    member: int


def write_card(asker: Asker, data: Path, gguf: Path, measured: Measured, made: ExportFigures) -> None:
    """Write MODEL_CARD.md beside `gguf`."""
    found = made.found
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
        f"- behind the tensors {made.member:,} bytes of a linear member for skills taught by name,"
        " mcl/model/skill_classifier.py, trained by training/skill_classifier.py on the same data",
        f"- calibration: {made.fitted}",
        f"- llama.cpp against PyTorch: {found.texts:,} texts tokenised, {found.differing} differently; "
        f"largest difference of a logit {found.logit:.1e} (f32), of a probability {found.probability:.1e}",
        "- licence of the weights: Apache-2.0; licences of the data below",
        "",
        "## Data",
        "",
        *_data(data),
        "",
        "## Figures (development splits; test parts were never seen)",
        "",
        *_figures(measured),
        "",
        "## Limits",
        "",
        "- English only. Trained for a short time: the figures above say what to expect.",
        "- Words that were rare in the data are understood by their place in the sentence, if at all; skills",
        "  are understood by their names, descriptions and hints: write these in plain words.",
        "- At most 128 words are read at once (longer goals in windows); choosing reads the first window.",
        "- Calibration was fitted on development utterances; goals of other kinds differ.",
        "- The own development goals were written by one author, who had not read the goals written for",
        "  training, in this project's style. They showed what the data lacked: a development set, no test.",
        "",
    ]
    (gguf.parent / "MODEL_CARD.md").write_text("\n".join(lines), encoding="utf-8")


def note_run(asker: Asker, measured: Measured, remark: str) -> None:
    """Add a run to runs.md: configuration, data, minutes, figures."""
    network, own = measured.network, measured.own

    def by_set(rows: dict[str, Any], key: str) -> str:
        return ", ".join(f"{name} {percent(f[key])}" for name, f in rows.items() if key in f) or "–"

    def ours(part: str) -> str:
        return ", ".join(f"{name} {percent(own[part].get(key))}" for name, key in OWN.items())

    lines = [
        f"\n## {remark}",
        "",
        f"- {json.dumps(asker.shape.to_json())}",
        f"- {asker.minutes:.0f} minutes, {asker.step:,} steps, {asker.examples:,} examples",
        f"- network alone, skill: {by_set(network['intent'], 'skill')}",
        f"- network alone, out of scope refused: {by_set(network['intent'], 'none recall')}",
        f"- network alone, slot F1: {by_set(network['slots'], 'field F1')}",
        f"- whole compile, skill: {by_set(measured.whole.get('choosing', {}), 'accuracy')}",
        f"- whole compile, slot F1: {by_set(measured.whole.get('extraction', {}), 'slot F1')}",
        f"- own goals, model alone: {ours('bare')}",
        f"- own goals, whole compile: {ours('whole')}",
        "",
    ]
    with RUNS.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines))
