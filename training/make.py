"""All of it: data -> training -> GGUF -> check -> evaluation -> MODEL_CARD.md.

python -m training.make --data ../shared/data --minutes 60
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from training.asking import Asker
from training.calibrate import fit
from training.card import note_run, write_card
from training.check import check
from training.evaluate import evaluate, rounded
from training.export import export
from training.train import Trainer  # first: it sets how OpenMP waits, before torch is loaded

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
TARGET = HERE.parent / "mcl" / "model" / "data" / "mcl-tags.gguf"


def main() -> None:
    """Command line. With --minutes 0 nothing is trained: export, check, evaluation and card only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the corpora (*.jsonl.gz)")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="checkpoints, tokenizer, figures")
    parser.add_argument("--target", type=Path, default=TARGET, help="the GGUF to write")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--limit", type=int, default=0, help="utterances a set in the evaluation (0: all)")
    parser.add_argument("--kind", default="q8_0", choices=("q8_0", "f16"))
    parser.add_argument("--compile", action="store_true", help="torch.compile (needs a C++ compiler)")
    parser.add_argument("--remark", default="", help="title in runs.md (none: not noted there)")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.minutes:
        trainer = Trainer(given.data, given.out, width=192, layers=4)
        trainer.run(given.minutes, compiled=given.compile)
    torch.set_num_threads(2)
    asker = Asker(given.out)
    print(f"temperature {fit(asker, given.data):.2f}", flush=True)
    found = check(asker, given.data, "f32")
    print(found, flush=True)
    if found.differing or found.logit > 1e-3:
        raise SystemExit("the exported model does not say what the trained one says")
    export(asker, given.target, given.kind)
    figures = rounded(evaluate(asker, given.data, given.limit))
    (given.out / "wrong.txt").write_text("\n".join(figures["goals"].pop("wrong")))
    (given.out / "figures.json").write_text(json.dumps(figures, indent=1))
    write_card(asker, given.data, given.target, figures, found)
    if given.remark:
        note_run(asker, figures, given.remark)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
