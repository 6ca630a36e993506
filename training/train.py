"""Tune the encoder on CPU, in two processes of one thread each; a run that was stopped goes on.

python -m training.train --data ../shared/data --base PACKAGE --out training/out --steps 4500
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from training.batches import UNKNOWN, ChoosingBatch, MarkingBatch, Sampler, tag_targets
from training.bert import pretrained
from training.examples import load
from training.network import EncoderNetwork, mean, nearest_word, within
from training.pieces import pieces_of
from training.vocabulary import prepare

RATE, WORDS_RATE, HEADS_RATE, SCALE_RATE = 1.5e-4, 2e-4, 9e-4, 0.02
WARM_UP = 60  # steps
CHOOSE_SHARE = 0.45
STILL_SHARE = 0.6
"""Of the batches, those in which nothing is learned of the texts that goals are compared with: half the
work."""
SAVED, SHOWN = 96, 50  # steps
STEPS = 4500
TOGETHER = 8
"""Steps that each process takes by itself before all go on from the mean of their weights."""
SEED = 7
AVERAGED_FROM, AVERAGE = 0.3, 0.96
"""From which share of a run on the weights are averaged, and how much of the average stays each time."""


def texts_of(network: EncoderNetwork, rows: list[list[int]], still: bool) -> torch.Tensor:
    """Mean vectors of texts. still: nothing is learned of them."""
    with torch.set_grad_enabled(not still):
        return network.texts(rows)


def choosing_loss(network: EncoderNetwork, batch: ChoosingBatch, still: bool) -> dict[str, torch.Tensor]:
    """Losses of a batch of choices."""
    vectors, mask = network.encode(batch.goals)
    units = max(len(row) for row in batch.begins)
    words = within(vectors, batch.places, units)
    part = torch.zeros(len(batch.wishes), vectors.shape[1], dtype=torch.bool)
    for i, (goal, first, last) in enumerate(batch.wishes):
        places = batch.places[goal]
        part[i, : len(places)] = torch.tensor([place < 0 or first <= place < last for place in places])
    wished = mean(vectors[torch.tensor([goal for goal, _, _ in batch.wishes])], part)
    scores = network.choices(wished, batch.candidates, texts_of(network, batch.candidates.pieces, still))
    losses = {"pick": nn.functional.cross_entropy(scores, torch.tensor(batch.right), ignore_index=UNKNOWN)}
    verbs = torch.tensor(batch.verbs)
    if (verbs != UNKNOWN).any():
        losses["verb"] = 0.7 * nn.functional.cross_entropy(
            network.heads.verb(wished).float(), verbs, ignore_index=UNKNOWN
        )
    kinds = torch.tensor(batch.kinds)
    if (kinds != UNKNOWN).any():
        whole = mean(vectors, mask)
        losses["kind"] = 0.3 * nn.functional.cross_entropy(
            network.heads.kind(whole).float(), kinds, ignore_index=UNKNOWN
        )
        changes = torch.tensor(batch.changes)
        if (changes != UNKNOWN).any():
            losses["change"] = 0.3 * nn.functional.cross_entropy(
                network.heads.change(whole).float(), changes, ignore_index=UNKNOWN
            )
        begins = torch.full((len(batch.begins), units), UNKNOWN)
        for i, row in enumerate(batch.begins):
            begins[i, : len(row)] = torch.tensor(row)
        if (begins != UNKNOWN).any():
            losses["wish"] = nn.functional.cross_entropy(
                network.heads.wish(words).float().flatten(0, 1), begins.flatten(), ignore_index=UNKNOWN
            )
    return losses


def marking_loss(network: EncoderNetwork, batch: MarkingBatch, still: bool) -> dict[str, torch.Tensor]:
    """Losses of a batch of goals with values."""
    vectors, _ = network.encode(batch.goals)
    units = max(len(row) for row in batch.tags)
    words = within(vectors, batch.places, units)
    there = torch.zeros(len(batch.goals), units, dtype=torch.bool)
    for i, row in enumerate(batch.tags):
        there[i, : len(row)] = True
    table = texts_of(network, batch.texts, still)
    seen, items = network.joined(words, there, batch.items, table)
    scores = network.tags(seen, items)
    target, legal = tag_targets(batch, units, items.shape[1])
    scores = scores.masked_fill(~legal[:, None], -1e4)
    losses = {
        "tag": nn.functional.cross_entropy(scores.flatten(0, 1), target.flatten(), ignore_index=UNKNOWN)
    }
    if batch.options:
        most = max(len(places) for _, _, places, _ in batch.options)
        goals, slots, right = (torch.tensor([row[i] for row in batch.options]) for i in (0, 1, 3))
        places = torch.tensor([(row[2] + [-1] * most)[:most] for row in batch.options])
        rows = torch.tensor(
            [
                [batch.items[goal].rows[max(0, at)] for at in row]
                for goal, row in zip(goals, places, strict=True)
            ]
        )
        named = nearest_word(words[goals], there[goals], table[rows])
        said = network.options(items[goals, slots], items[goals[:, None], places.clamp(min=0)], named)
        closed = torch.cat([torch.zeros(len(places), 1, dtype=torch.bool), places < 0], 1)
        losses["option"] = 0.5 * nn.functional.cross_entropy(said.masked_fill(closed, -1e4), right)
    return losses


def step_losses(network: EncoderNetwork, sampler: Sampler) -> tuple[dict[str, torch.Tensor], int]:
    """Losses of the next batch, and the number of its goals."""
    choose, still = sampler.random.random() < CHOOSE_SHARE, sampler.random.random() < STILL_SHARE
    if choose:
        choices = sampler.choosing()
        return choosing_loss(network, choices, still), len(choices.goals)
    marks = sampler.marking()
    return marking_loss(network, marks, still), len(marks.goals)


def groups(network: EncoderNetwork) -> list[dict[str, object]]:
    """Parameters by rate; the tables of places and types stay as they are. That of words learns: the base has
    hardly seen Swedish, German or French."""
    encoder = network.encoder
    for table in (encoder.pos, encoder.typ):
        table.weight.requires_grad_(False)
    own = [p for name, p in encoder.named_parameters() if p.requires_grad and name != "word.weight"]
    scalars = [network.heads.scale, network.heads.example]
    heads = [p for name, p in network.heads.named_parameters() if name not in ("scale", "example")]
    return [
        {"params": [encoder.word.weight], "lr": WORDS_RATE, "weight_decay": 0.0},
        {"params": own, "lr": RATE},
        {"params": heads, "lr": HEADS_RATE},
        {"params": scalars[:1], "lr": SCALE_RATE},
        {"params": scalars[1:], "lr": HEADS_RATE},
    ]


def rate(progress: float, step: int) -> float:
    """Share of the full rate: up, then down to nothing."""
    return min(1.0, (step + 1) / WARM_UP) * max(0.01, 1 - progress)


def checkpoint_of(out: Path) -> dict[str, Any]:
    """What a run has come to. Raises FileNotFoundError."""
    saved: dict[str, Any] = torch.load(out / "checkpoint.pt", weights_only=True)
    return saved


def work(rank: int, ranks: int, given: argparse.Namespace) -> None:
    """One of the processes."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    if ranks > 1:
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": given.port}
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
    network = EncoderNetwork(pretrained(given.base))
    optimiser = torch.optim.AdamW(groups(network), weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    full = [group["lr"] for group in optimiser.param_groups]
    parts = [p for p in network.parameters() if p.requires_grad]
    average = {name: p.detach().clone() for name, p in network.state_dict().items()}
    spent, step, goals = 0.0, 0, 0
    if (given.out / "checkpoint.pt").exists():
        saved = checkpoint_of(given.out)
        network.load_state_dict(saved["network"])
        average, spent, step, goals = saved["average"], saved["spent"], saved["step"], saved["goals"]
        optimiser.load_state_dict(torch.load(given.out / f"optimiser-{rank}-{step}.pt", weights_only=True))
    sampler = Sampler(load(given.data), pieces_of(given.base), SEED)
    begun = time.monotonic() - spent
    running: dict[str, float] = defaultdict(float)
    while step < given.steps:
        # So a run that was stopped goes on as it would have gone on.
        sampler.random.seed(f"{SEED} {rank} {step}")
        progress = step / given.steps
        share = rate(progress, step)
        for group, lr in zip(optimiser.param_groups, full, strict=True):
            group["lr"] = lr * share
        losses, read = step_losses(network, sampler)
        optimiser.zero_grad(set_to_none=False)
        torch.stack(list(losses.values())).sum().backward()
        nn.utils.clip_grad_norm_(parts, 1.0)
        optimiser.step()
        step, goals = step + 1, goals + ranks * read
        together = step % TOGETHER == 0 or step == given.steps
        if ranks > 1 and together:
            _averaged(parts, ranks)
        if rank == 0 and together:
            with torch.no_grad():
                for name, p in network.state_dict().items():
                    average[name].lerp_(p, 1 - AVERAGE if progress > AVERAGED_FROM else 1.0)
        for name, loss in losses.items():
            running[name] = 0.97 * running[name] + 0.03 * loss.item() if running[name] else loss.item()
        now = time.monotonic()
        if rank == 0 and step % SHOWN == 0:
            told = {"step": step, "minutes": round((now - begun) / 60, 1), "goals": goals}
            print(json.dumps(told | {k: round(v, 3) for k, v in running.items()}), flush=True)
        if step % SAVED == 0 or step == given.steps:
            save(given.out / f"optimiser-{rank}-{step}.pt", optimiser.state_dict())
            if ranks > 1:
                dist.barrier()  # a checkpoint that is there has the state of every process beside it
            if rank == 0:
                told = {"spent": now - begun, "step": step, "goals": goals, "average": average}
                save(given.out / "checkpoint.pt", told | {"network": network.state_dict()})
            if ranks > 1:
                dist.barrier()
            for old in given.out.glob(f"optimiser-{rank}-*.pt"):
                if old.name != f"optimiser-{rank}-{step}.pt":
                    old.unlink()
    if ranks > 1:
        dist.barrier()
        dist.destroy_process_group()


def _averaged(parts: list[nn.Parameter], ranks: int) -> None:
    """Make the weights of all processes their mean."""
    with torch.no_grad():
        flat = torch.cat([p.flatten() for p in parts])
        dist.all_reduce(flat)
        at = 0
        for p in parts:
            p.copy_((flat[at : at + p.numel()] / ranks).view_as(p))
            at += p.numel()


def save(path: Path, state: dict[str, Any]) -> None:
    """Write the checkpoint, whole or not at all."""
    partial = path.with_suffix(".part")
    torch.save(state, partial)
    partial.replace(path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="the unpacked package of the base")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--port", default="29517")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    prepare(given.base, given.data)
    if given.processes == 1:
        work(0, 1, given)
    else:
        mp.spawn(work, (given.processes, given), nprocs=given.processes)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
