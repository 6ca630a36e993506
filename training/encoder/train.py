"""Tune the encoder on CPU for a number of minutes, two processes of one thread; a stopped run goes on.

python -m training.encoder.train --data ../shared/data --base PACKAGE --out training/out --minutes 90
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from training.encoder.batches import UNKNOWN, ChoosingBatch, MarkingBatch, Sampler, tag_targets
from training.encoder.bert import WordPieces, pretrained
from training.encoder.evaluate import evaluate
from training.encoder.examples import load
from training.encoder.network import EncoderNetwork, mean, within

RATE, HEADS_RATE, SCALE_RATE = 1.5e-4, 9e-4, 0.02
WARM_UP = 60  # steps
CHOOSE_SHARE = 0.45
SAVED, SHOWN = 120.0, 50  # seconds; steps
SEED = 7
AVERAGED_FROM, AVERAGE = 0.3, 0.995


def choosing_loss(network: EncoderNetwork, batch: ChoosingBatch) -> dict[str, torch.Tensor]:
    """Losses of a batch of choices."""
    vectors, mask = network.encode(batch.goals)
    units = max(len(row) for row in batch.begins)
    words = within(vectors, batch.places, units)
    part = torch.zeros(len(batch.wishes), vectors.shape[1], dtype=torch.bool)
    for i, (goal, first, last) in enumerate(batch.wishes):
        places = batch.places[goal]
        part[i, : len(places)] = torch.tensor([place < 0 or first <= place < last for place in places])
    wished = mean(vectors[torch.tensor([goal for goal, _, _ in batch.wishes])], part)
    scores = network.choices(wished, network.texts(batch.candidates))
    losses = {"pick": nn.functional.cross_entropy(scores, torch.tensor(batch.right))}
    verbs = torch.tensor(batch.verbs)
    if (verbs != UNKNOWN).any():
        losses["verb"] = 0.3 * nn.functional.cross_entropy(
            network.heads.verb(wished).float(), verbs, ignore_index=UNKNOWN
        )
    kinds = torch.tensor(batch.kinds)
    if (kinds != UNKNOWN).any():
        whole = mean(vectors, mask)
        losses["kind"] = 0.3 * nn.functional.cross_entropy(
            network.heads.kind(whole).float(), kinds, ignore_index=UNKNOWN
        )
        begins = torch.full((len(batch.begins), units), UNKNOWN)
        for i, row in enumerate(batch.begins):
            begins[i, : len(row)] = torch.tensor(row)
        losses["wish"] = nn.functional.cross_entropy(
            network.heads.wish(words).float().flatten(0, 1), begins.flatten(), ignore_index=UNKNOWN
        )
    return losses


def marking_loss(network: EncoderNetwork, batch: MarkingBatch) -> dict[str, torch.Tensor]:
    """Losses of a batch of goals with values."""
    vectors, _ = network.encode(batch.goals)
    units = max(len(row) for row in batch.tags)
    words = within(vectors, batch.places, units)
    there = torch.zeros(len(batch.goals), units, dtype=torch.bool)
    for i, row in enumerate(batch.tags):
        there[i, : len(row)] = True
    words, items = network.joined(words, there, batch.items, network.texts(batch.texts))
    scores = network.tags(words, items)
    target, legal = tag_targets(batch, units, items.shape[1])
    scores = scores.masked_fill(~legal[:, None], -1e4)
    losses = {
        "tag": nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=UNKNOWN)
    }
    if batch.options:
        rows = [
            nn.functional.cross_entropy(
                network.options(items[goal, slot], items[goal, places])[None], torch.tensor([right])
            )
            for goal, slot, places, right in batch.options
        ]
        losses["option"] = 0.5 * torch.stack(rows).mean()
    return losses


def groups(network: EncoderNetwork) -> list[dict[str, object]]:
    """Parameters by rate; the tables of words and places stay as they are."""
    encoder = network.encoder
    for table in (encoder.word, encoder.pos, encoder.typ):
        table.weight.requires_grad_(False)
    own = [p for p in encoder.parameters() if p.requires_grad]
    heads = [p for name, p in network.heads.named_parameters() if name != "scale"]
    return [
        {"params": own, "lr": RATE},
        {"params": heads, "lr": HEADS_RATE},
        {"params": [network.heads.scale], "lr": SCALE_RATE},
    ]


def rate(progress: float, step: int) -> float:
    """Share of the full rate: up, then down to nothing."""
    return min(1.0, (step + 1) / WARM_UP) * max(0.01, 1 - progress)


def work(rank: int, ranks: int, given: argparse.Namespace) -> None:
    """One of the processes."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    if ranks > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": given.port}
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
    examples = load(given.data)
    network = EncoderNetwork(pretrained(given.base))
    checkpoint = given.out / "checkpoint.pt"
    optimiser = torch.optim.AdamW(groups(network), weight_decay=0.01, betas=(0.9, 0.98))
    full = [group["lr"] for group in optimiser.param_groups]
    parts = [p for p in network.parameters() if p.requires_grad]
    average = {name: p.detach().clone() for name, p in network.state_dict().items()}
    spent, step = 0.0, 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        network.load_state_dict(saved["network"])
        optimiser.load_state_dict(saved["optimiser"])
        average, spent, step = saved["average"], saved["spent"], saved["step"]
    pieces = WordPieces(given.base)
    sampler = Sampler(examples, pieces, SEED + 1000 * rank + step)
    begun, kept = time.monotonic() - spent, time.monotonic()
    running: dict[str, float] = defaultdict(float)
    tokens = 0
    while True:
        progress = torch.tensor([(time.monotonic() - begun) / (60 * given.minutes)])
        if ranks > 1:
            dist.broadcast(progress, 0)
        if progress.item() >= 1:
            break
        share = rate(progress.item(), step)
        for group, lr in zip(optimiser.param_groups, full, strict=True):
            group["lr"] = lr * share
        with torch.autocast("cpu", torch.bfloat16):
            if sampler.random.random() < CHOOSE_SHARE:
                losses = choosing_loss(network, batch := sampler.choosing())
            else:
                losses = marking_loss(network, batch := sampler.marking())
        optimiser.zero_grad(set_to_none=False)
        torch.stack(list(losses.values())).sum().backward()
        if ranks > 1:
            flat = torch.cat(
                [p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()) for p in parts]
            )
            dist.all_reduce(flat)
            at = 0
            for p in parts:
                p.grad = (flat[at : at + p.numel()] / ranks).view_as(p)
                at += p.numel()
        nn.utils.clip_grad_norm_(parts, 1.0)
        optimiser.step()
        step += 1
        tokens += sum(map(len, batch.goals))
        if progress.item() > AVERAGED_FROM:
            with torch.no_grad():
                for name, p in network.state_dict().items():
                    average[name].lerp_(p, 1 - AVERAGE) if p.is_floating_point() else None
        else:
            average = (
                {name: p.detach().clone() for name, p in network.state_dict().items()}
                if step % 50 == 0
                else average
            )
        for name, loss in losses.items():
            running[name] = 0.97 * running[name] + 0.03 * loss.item() if running[name] else loss.item()
        now = time.monotonic()
        if rank == 0 and step % SHOWN == 0:
            told = {"step": step, "minutes": round((now - begun) / 60, 1), "goal tokens": tokens}
            print(json.dumps(told | {k: round(v, 3) for k, v in running.items()}), flush=True)
        if rank == 0 and now - kept > SAVED:
            save(checkpoint, network, optimiser, average, now - begun, step)
            kept = now
    if rank == 0:
        save(checkpoint, network, optimiser, average, time.monotonic() - begun, step)
        network.load_state_dict(average)
        print(json.dumps(evaluate(network, examples, pieces, given.limit), indent=1), flush=True)
    if ranks > 1:
        dist.barrier()
        dist.destroy_process_group()


def save(
    path: Path, network: nn.Module, optimiser: torch.optim.Optimizer, average: dict[str, torch.Tensor],
    spent: float, step: int,
) -> None:  # fmt: skip
    """Write the checkpoint, whole or not at all."""
    state = {
        "network": network.state_dict(), "optimiser": optimiser.state_dict(), "average": average,
        "spent": spent, "step": step,
    }  # fmt: skip
    partial = path.with_suffix(".part")
    torch.save(state, partial)
    partial.replace(path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="the unpacked package of the base")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--limit", type=int, default=400, help="utterances a set measured at the end")
    parser.add_argument("--port", default="29517")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.processes == 1:
        work(0, 1, given)
    else:
        mp.spawn(work, (given.processes, given), nprocs=given.processes)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
