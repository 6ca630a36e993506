"""Train the bundled model on CPU for a number of minutes; checkpoints can be resumed.

python -m training.train --data ../shared/data --out /path --minutes 60
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import threading
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch.nn import functional

from mcl.model.form import FIELDS, SPECIALS, VERBS
from training import corpora, vocabulary
from training.generator.goals import general
from training.generator.skills import FAMILIES, utter
from training.muon import Muon
from training.network import Network, Shape, inputs
from training.rows import Batch, Row, collate
from training.sampling import OPTION_WEIGHT, Sampler
from training.vocabulary import Vocabulary

WIDTH, ROWS = 288, 10
MUON_LR, ADAM_LR, NORM_LR = 0.02, 0.015, 0.001
WARM_UP, DECAY_FROM = 40, 0.35
AVERAGE = 0.998
EASY_STEPS = 300
SHOWN = 25
SEED = 7


def vocabulary_texts(corpus: corpora.Corpus, texts: list[str]) -> list[str]:
    """What the BPE is learned from: utterances, names and descriptions, generated goals."""
    r = random.Random(SEED)
    own = [utter(r.choice(FAMILIES), r).text for _ in range(8000)] + [general(r).text for _ in range(12000)]
    names = [
        f"{s.name} {s.description} " + " ".join(f"{x.name} {x.hint} {' '.join(x.options)}" for x in s.slots)
        for s in corpus.skills.values()
    ]
    return [u.text for u in corpus.train] + texts + own + [n.replace("_", " ").lower() for n in names] * 4


def feed(sampler: Sampler, rows: int) -> queue.Queue[Batch]:
    """Batches made in a thread of their own."""
    ready: queue.Queue[Batch] = queue.Queue(maxsize=4)

    def work() -> None:
        while True:
            ready.put(collate([sampler.row() for _ in range(rows)], sampler.width, sampler.vocabulary))

    threading.Thread(target=work, daemon=True).start()
    return ready


def loss_of(network: Network, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Weighted cross-entropy over the allowed answers."""
    logits = network.logits(hidden, batch)
    each = functional.cross_entropy(logits, batch.answer, reduction="none", ignore_index=-1)
    return (each * batch.weight).sum() / batch.weight.sum()


def probe(network: Network, rows: list[Row], known: Vocabulary, shape: Shape) -> str:
    """Shares of right answers on fixed rows at full difficulty: picks, refusals, begun spans, options, verbs."""
    batch = collate(rows, WIDTH, known)
    with torch.no_grad():
        best = network.logits(network(*inputs(batch, shape)), batch).argmax(-1).tolist()
    right: dict[str, list[bool]] = defaultdict(list)
    reads = [read for row in rows for body in row.bodies for read in body.reads]
    for given, (_, allowed, answer, weight) in zip(best, reads, strict=True):
        if answer < 0:
            continue
        name = allowed[answer][0].text
        kind = (
            name[0]
            if name[1:].isdigit()
            else "field"
            if name in FIELDS
            else "verb"
            if name in VERBS
            else name
        )
        right["refuse" if name == "none" and weight > OPTION_WEIGHT else kind].append(given == answer)
    return " ".join(f"{kind} {sum(r) / len(r):.2f}" for kind, r in sorted(right.items()))


def rate(progress: float, step: int) -> float:
    """Share of the full learning rate: warm-up, flat, then linear to nothing."""
    return min(1.0, (step + 1) / WARM_UP) * min(1.0, max(0.0, 1 - progress) / (1 - DECAY_FROM))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--compile", action="store_true", help="torch.compile (needs a C++ compiler)")
    parser.add_argument("--start", type=Path, help="weights to begin with (a checkpoint's average)")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(SEED)
    corpus, texts = corpora.load(given.data), corpora.open_texts(given.data)
    pieces = given.out / "tokenizer.json"
    if not pieces.exists():
        vocabulary.train(vocabulary_texts(corpus, texts), pieces)
    known = Vocabulary(pieces)
    shape = Shape(known.size, len(SPECIALS), layers=given.layers)
    network = Network(shape)
    matrices = [p for p in network.blocks.parameters() if p.ndim == 2]
    norms = [p for p in network.parameters() if p.ndim == 1]
    rest = [*norms, network.embedding.weight]
    muon, adam = (
        Muon(matrices, MUON_LR),
        torch.optim.AdamW(
            [{"params": [network.embedding.weight]}, {"params": norms}],
            ADAM_LR,
            betas=(0.9, 0.98),
            weight_decay=0.0,
        ),
    )
    average = {k: v.clone() for k, v in network.state_dict().items()}
    step, spent, examples = 0, 0.0, 0
    checkpoint = given.out / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(saved["network"])
        muon.load_state_dict(saved["muon"])
        adam.load_state_dict(saved["adam"])
        average, step, spent, examples = saved["average"], saved["step"], saved["spent"], saved["examples"]
    elif given.start:
        network.load_state_dict(torch.load(given.start, weights_only=True)["average"])
        average = {k: v.clone() for k, v in network.state_dict().items()}
    run = torch.compile(network) if given.compile else network
    sampler = Sampler(corpus, texts, known, SEED + step, WIDTH)
    sampler.ease = max(0.0, 1 - step / EASY_STEPS)
    ready = feed(sampler, ROWS)
    print(
        f"parameters {sum(p.numel() for p in network.parameters()):,} vocabulary {known.size} utterances {len(corpus.train):,}",
        flush=True,
    )

    def save() -> None:
        partial = checkpoint.with_suffix(".part")
        torch.save({"network": network.state_dict(), "average": average, "muon": muon.state_dict(), "adam": adam.state_dict(),
                    "step": step, "spent": spent, "examples": examples, "shape": shape.to_json()}, partial)  # fmt: skip
        partial.replace(checkpoint)

    probes = Sampler(corpus, texts, known, SEED + 999, WIDTH)
    fixed = [probes.row() for _ in range(3 * ROWS)]
    begun, shown, running, tokens = time.monotonic() - spent, time.monotonic(), 0.0, 0
    saved_at = time.monotonic()
    while (spent := time.monotonic() - begun) < given.minutes * 60:
        share = rate(spent / (given.minutes * 60), step)
        sampler.ease = max(0.0, 1 - step / EASY_STEPS)
        rates = (MUON_LR, ADAM_LR, NORM_LR)
        for group, full in zip(muon.param_groups + adam.param_groups, rates, strict=True):
            group["lr"] = full * share
        batch = ready.get()
        loss = loss_of(network, run(*inputs(batch, shape)), batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rest, 1.0)
        muon.step()
        adam.step()
        muon.zero_grad()
        adam.zero_grad()
        keep = min(AVERAGE, 1 - 1 / (step + 2))
        for name, value in network.state_dict().items():
            average[name].lerp_(value, 1 - keep)
        step, examples = step + 1, examples + batch.examples
        running, tokens = running + loss.item(), tokens + batch.tokens.numel()
        if step % SHOWN == 0:
            now = time.monotonic()
            print(
                f"step {step} minutes {spent / 60:.1f} loss {running / SHOWN:.4f} examples {examples:,} tokens/s {tokens / (now - shown):.0f} rate {share:.2f} | {probe(network, fixed, known, shape)}",
                flush=True,
            )
            shown, running, tokens = now, 0.0, 0
        if time.monotonic() - saved_at > 180:
            save()
            saved_at = time.monotonic()
    save()
    print("done", flush=True)


if __name__ == "__main__":
    main()
