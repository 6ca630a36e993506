"""Train the bundled model on CPU for a number of minutes; a run that was stopped goes on where it was.

python -m training.train --data ../shared/data --out training/out --minutes 60
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from tokenizers import pre_tokenizers, trainers
from torch import nn

from mcl.model import form
from mcl.model.form import FIELDS, SPECIALS, VERBS
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.skills import FAMILIES, utter
from mcl.plugins.train.tuner.network import Learner, Network, NetworkShape, inputs
from mcl.plugins.train.tuner.rows import OPTION_WEIGHT, Batch, TokenVocabulary, TrainingRow, bare, collate
from training import corpora
from training.embedding import first_embeddings
from training.sampling import Sampler

ROW_TOKENS, ROWS = 288, 10
WIDE_TOKENS, WIDE_ROWS, WIDE_SHARE = 640, 5, 0.22
"""Batches of choices among candidates with all that they say of themselves, as a compile asks."""
WARM_UP, DECAY_FROM = 40, 0.35  # steps; share of the time
EASY_STEPS = 250
SHOWN, SAVED = 25, 180.0  # steps; seconds
SEED = 7


PIECES = 4096


def learn_pieces(texts: Iterable[str], path: Path, size: int = PIECES) -> None:
    """Learn `size` pieces from the texts (split into units as the model will see them) and save them."""
    tokenizer = bare()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        min_frequency=3,
    )
    units = (f" {unit.text[: form.UNIT_CHARS]}" for text in texts for unit in form.words(text))
    tokenizer.train_from_iterator(units, trainer)
    path.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(path))


def vocabulary_texts(corpus: corpora.Corpus, texts: list[str]) -> list[str]:
    """What the BPE is learned from: utterances, names and descriptions, generated goals."""
    r = random.Random(SEED)
    own = [utter(r.choice(FAMILIES), r).text for _ in range(8000)] + [general(r).text for _ in range(12000)]
    names = [
        f"{skill.name} {skill.description} "
        + " ".join(f"{slot.name} {slot.hint} {' '.join(slot.options)}" for slot in skill.slots)
        for skill in corpus.skills.values()
    ]
    own += [goal.text for goal in handwritten.load()] * 3
    return [u.text for u in corpus.train] + texts + own + [n.replace("_", " ").lower() for n in names] * 4


def feed(sampler: Sampler) -> queue.Queue[Batch]:
    """Batches made in a thread of their own."""
    ready: queue.Queue[Batch] = queue.Queue(maxsize=4)
    source = random.Random(sampler.random.random())

    def work() -> None:
        while True:
            if source.random() < WIDE_SHARE:
                rows, width = [sampler.wide_row(WIDE_TOKENS) for _ in range(WIDE_ROWS)], WIDE_TOKENS
            else:
                rows, width = [sampler.row() for _ in range(ROWS)], ROW_TOKENS
            ready.put(collate(rows, width, sampler.vocabulary))

    threading.Thread(target=work, daemon=True).start()
    return ready


def probe(network: Network, rows: list[TrainingRow], known: TokenVocabulary) -> str:
    """Shares of right answers on fixed rows: c picks, s begun slots, e options, and the named ones."""
    batch = collate(rows, ROW_TOKENS, known)
    with torch.no_grad():
        best = network.logits(network(*inputs(batch, network.shape)), batch).argmax(-1).tolist()
    right: dict[str, list[bool]] = defaultdict(list)
    reads = [read for row in rows for body in row.bodies for read in body.reads]
    for given, (_, allowed, answer, weight) in zip(best, reads, strict=True):
        if answer < 0:
            continue
        name = allowed[answer][0].text
        if name[1:].isdigit():
            name = name[0]
        elif name in FIELDS or name in VERBS:
            name = "field" if name in FIELDS else "verb"
        elif name == "none" and weight > OPTION_WEIGHT:
            name = "refuse"
        right[name].append(given == answer)
    return " ".join(f"{kind} {sum(r) / len(r):.2f}" for kind, r in sorted(right.items()))


def rate(progress: float, step: int) -> float:
    """Share of the full learning rate: warm-up, flat, then linear to nothing."""
    return min(1.0, (step + 1) / WARM_UP) * min(1.0, max(0.0, 1 - progress) / (1 - DECAY_FROM))


class Trainer:
    """One run: data, network, optimisers and the running average of the weights, kept in `out`."""

    def __init__(self, data: Path, out: Path, *, width: int, layers: int, begin: Path | None = None) -> None:
        """Begin, at random or with the averaged weights of the run `begin`, or go on from out's."""
        torch.manual_seed(SEED)
        self.checkpoint = out / "checkpoint.pt"
        corpus, texts = corpora.load(data), corpora.open_texts(data)
        pieces = out / "tokenizer.json"
        if begin and not pieces.exists():
            shutil.copyfile(begin / "tokenizer.json", pieces)
        if not pieces.exists():
            learn_pieces(vocabulary_texts(corpus, texts), pieces)
        self.known = TokenVocabulary(pieces)
        shape = NetworkShape(
            self.known.size, len(SPECIALS), width=width, layers=layers, heads=width // 64,
            feed_forward=width * 8 // 3 // 64 * 64,
        )  # fmt: skip
        self.network = Network(shape)
        self.learner = Learner(self.network)
        self.spent, self.examples = 0.0, 0
        if self.checkpoint.exists():
            self._resume()
        elif begin:
            self.learner.begin(torch.load(begin / "checkpoint.pt", weights_only=True)["average"])
        else:
            self.network.embedding.weight.data.copy_(first_embeddings(corpus, self.known, width, SEED))
            self.learner.begin(self.network.state_dict())
        self.sampler = Sampler(corpus, texts, self.known, SEED + self.step, ROW_TOKENS)
        probes = Sampler(corpus, texts, self.known, SEED + 999, ROW_TOKENS)
        self.fixed = [probes.row() for _ in range(3 * ROWS)]

    def _resume(self) -> None:
        saved = torch.load(self.checkpoint, weights_only=True)
        self.learner.load(saved)
        self.spent, self.examples = saved["spent"], saved["examples"]

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = self.learner.state() | {"spent": self.spent, "examples": self.examples}
        state["shape"] = self.network.shape.to_json()
        partial = self.checkpoint.with_suffix(".part")
        torch.save(state, partial)
        partial.replace(self.checkpoint)

    @property
    def step(self) -> int:
        """Steps so far."""
        return self.learner.step

    def run(self, minutes: float, *, compiled: bool) -> None:
        """Train until `minutes` are spent in all (resumed parts included)."""
        network: nn.Module = torch.compile(self.network, dynamic=False) if compiled else self.network  # type: ignore[assignment]
        self.sampler.ease = max(0.0, 1 - self.step / EASY_STEPS)
        ready = feed(self.sampler)
        begun = time.monotonic() - self.spent
        shown = saved = time.monotonic()
        running, tokens = 0.0, 0
        while self.spent < minutes * 60:
            self.sampler.ease = max(0.0, 1 - self.step / EASY_STEPS)
            batch = ready.get()
            running += self.learner.update(network, batch, rate(self.spent / (minutes * 60), self.step))
            self.examples += batch.examples
            tokens += batch.tokens.numel()
            now = time.monotonic()
            self.spent = now - begun
            if self.step % SHOWN == 0:
                print(
                    f"step {self.step} minutes {self.spent / 60:.1f} loss {running / SHOWN:.4f} "
                    f"examples {self.examples:,} tokens/s {tokens / (now - shown):.0f} "
                    f"| {probe(self.network, self.fixed, self.known)}",
                    flush=True,
                )
                shown, running, tokens = now, 0.0, 0
            if now - saved > SAVED:
                self.save()
                saved = now
        self.save()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--begin", type=Path, help="folder of a run whose weights to begin with")
    parser.add_argument("--compile", action="store_true", help="torch.compile (needs a C++ compiler)")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    trainer = Trainer(given.data, given.out, width=given.width, layers=given.layers, begin=given.begin)
    trainer.run(given.minutes, compiled=given.compile)


if __name__ == "__main__":
    main()
