"""All of it: data -> training -> calibration -> GGUF -> check -> evaluation -> figures, report and card.

python -m training.make --data ../shared/data --minutes 60
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

from mcl.model.loader import load_model
from mcl.plugins.train.tuner.network import Asker
from training import corpora, development_goals, skill_classifier, whole_compile
from training.calibrate import fit, told
from training.card import ExportFigures, note_run, write_card
from training.check import check
from training.evaluate import evaluate, rounded
from training.export import export
from training.report import Measured, write
from training.train import Trainer  # first: it sets how OpenMP waits, before torch is loaded

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
TARGET = HERE.parent / "mcl" / "model" / "data" / "mcl-tags.gguf"
LIMIT = 600
"""Utterances a set, so that all figures are there within five minutes on two cores."""


def measured(asker: Asker, data: Path, gguf: Path, limit: int) -> Measured:
    """All figures: the network over the public corpora, the whole compile over them, and our own goals."""
    network, answers = evaluate(asker, data, limit)
    settings = whole_compile.EvaluationSettings(jobs=2, model=gguf, lists=True)
    compiled, _ = whole_compile.measure(data, corpora.NAMES, limit, settings)
    with tempfile.TemporaryDirectory() as home:
        goals, own_answers = development_goals.measure(load_model(gguf, home_path=Path(home)))
    return Measured(rounded(network), whole_compile.rounded(compiled), rounded(goals), own_answers, answers)


def main() -> None:
    """Command line. With --minutes 0 nothing is trained; all that comes after the training is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the corpora (*.jsonl.gz)")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="checkpoints, tokenizer, worst cases")
    parser.add_argument("--target", type=Path, default=TARGET, help="the GGUF to write")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument(
        "--limit", type=int, default=LIMIT, help=f"utterances a set measured (default {LIMIT}; 0: all)"
    )
    parser.add_argument("--kind", default="q8_0", choices=("q8_0", "f16"))
    parser.add_argument("--begin", type=Path, help="folder of a run whose weights to begin with")
    parser.add_argument("--compile", action="store_true", help="torch.compile (needs a C++ compiler)")
    parser.add_argument("--remark", default="", help="title in runs.md (none: not noted there)")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.minutes:
        trainer = Trainer(given.data, given.out, width=192, layers=4, begin=given.begin)
        trainer.run(given.minutes, compiled=given.compile)
    torch.set_num_threads(2)
    asker = Asker(given.out)
    fitted = told(fit(asker, given.data))
    print(fitted, flush=True)
    found = check(asker, given.data, "f32")
    print(found, flush=True)
    if found.differing or found.logit > 1e-3:
        raise SystemExit("the exported model does not say what the trained one says")
    export(asker, given.target, given.kind)
    member = skill_classifier.train(given.data)
    skill_classifier.put_into(given.target, member)
    begun = time.monotonic()
    all_figures = measured(asker, given.data, given.target, given.limit)
    print(f"measured in {time.monotonic() - begun:.0f} s", flush=True)
    write(all_figures, given.target.parent, given.out)
    write_card(asker, given.data, given.target, all_figures, ExportFigures(found, fitted, len(member)))
    if given.remark:
        note_run(asker, all_figures, given.remark)


if __name__ == "__main__":
    main()
