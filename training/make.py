"""All of it: data -> base -> training -> calibration -> linear member -> GGUF -> figures, report and card.

python -m training.make --data ../shared/data

A run that was stopped goes on where its last checkpoint stands. The same data, base and number of steps give
the same bytes on one machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import torch

from mcl.model.encoder import EncoderModel
from mcl.model.loader import load_model
from training import calibrate, compiled_goals, corpora, shipped_vectors, skill_classifier, whole_compile
from training.base import BASE, BASES, base_of, base_package
from training.bert import Bert, shape_of
from training.export import export
from training.network import EncoderNetwork
from training.parity import largest_difference
from training.report import TrainingRun, write
from training.train import STEPS, checkpoint_of
from training.vocabulary import prepare

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
TARGET = HERE.parent / "mcl" / "model" / "data" / "mcl-encoder.gguf"
NAME, VERSION = "mcl-encoder", "1"
LIMIT = 400
"""Utterances a set measured, so that all figures are there within ten minutes."""


def trained(given: argparse.Namespace, package: Path) -> None:
    """Train in processes of their own, until it is done."""
    command = [
        sys.executable, "-m", "training.train", "--data", str(given.data), "--base", str(package),
        "--out", str(given.out), "--steps", str(given.steps),
    ]  # fmt: skip
    subprocess.run(command, check=True)


def finished(network: EncoderNetwork, package: Path, given: argparse.Namespace) -> dict[str, float]:
    """Write the GGUF with what its answers' temperatures are and what it knows by name; the temperatures."""

    def written(more: Mapping[str, object]) -> None:
        export(network, package, given.target, name=NAME, version=VERSION, more=more)

    written({})
    member = skill_classifier.train(given.data, given.target, given.out)
    skill_classifier.put_into(given.target, member)
    model = _opened(given.target)
    model.verb_weight = calibrate.best_verb_weight(model)
    temperatures = calibrate.best_temperatures(calibrate.groups(model, given.data))
    written({"temperatures": temperatures, "verb_weight": model.verb_weight})
    skill_classifier.put_into(given.target, member)
    return temperatures


def figures_of(target: Path, data: Path, limit: int, temperatures: Mapping[str, float]) -> dict[str, object]:
    """All figures on development parts."""
    settings = whole_compile.EvaluationSettings(jobs=2, model=target, lists=True)
    public, _ = whole_compile.measure(data, corpora.NAMES, limit, settings)
    model = _opened(target)
    goals = compiled_goals.measured(model, "development", None)
    told = calibrate.errors(calibrate.groups(model, data), temperatures)
    return {
        "public": whole_compile.in_percent(public),
        "goals": {name: compiled_goals.figures(rows) for name, rows in goals.items()},
        "calibration": [list(row) for row in told],
    }


def _opened(path: Path) -> EncoderModel:
    model = load_model(path, home_path=None)
    assert isinstance(model, EncoderModel)
    return model


def main() -> None:
    """Command line. With --steps 0 nothing is trained; all that comes after the training is done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the corpora (*.jsonl.gz)")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="base, checkpoints, vectors")
    parser.add_argument("--target", type=Path, default=TARGET, help="the GGUF to write")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"of the training ({STEPS}; 0: none)")
    parser.add_argument("--limit", type=int, default=LIMIT, help=f"utterances a set ({LIMIT}; 0: all)")
    parser.add_argument("--base-kind", choices=BASES, default=BASE, help=f"what it begins with ({BASE})")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    package = base_package(given.out, BASES[given.base_kind])
    prepare(package, given.data)
    if given.steps:
        trained(given, package)
    torch.set_num_threads(2)
    saved = checkpoint_of(given.out)
    network = EncoderNetwork(Bert(shape_of(package)))
    network.load_state_dict(saved["average"])
    network.eval()
    temperatures = finished(network, package, given)
    parity = largest_difference(network, package, given.target)
    figures = figures_of(given.target, given.data, given.limit, temperatures)
    spent, base = saved["spent"] / 60, base_of(package)
    run = TrainingRun(spent, saved["step"], saved["goals"], temperatures, parity, base)
    write(figures, run, given.data, given.target)
    if given.target == TARGET:
        shipped_vectors.main()
    print(json.dumps(figures["goals"], indent=1))


if __name__ == "__main__":
    main()
