"""Ask a network many questions at once: prompts with one header are packed behind it, as in training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from mcl.model import form
from mcl.plugins.train.tuner.network import Network, Shape, inputs
from mcl.plugins.train.tuner.rows import Body, Row, body_of, collate, tokens_of
from mcl.plugins.train.tuner.vocabulary import Vocabulary

WIDTH = 512
ROWS = 8


class Asker:
    """A checkpoint (its averaged weights unless `average` is false) with its vocabulary."""

    def __init__(self, folder: Path, *, average: bool = True) -> None:
        saved = torch.load(folder / "checkpoint.pt", weights_only=True)
        self.shape = Shape(**saved["shape"])
        self.vocabulary = Vocabulary(folder / "tokenizer.json")
        self.network = Network(self.shape)
        self.network.load_state_dict(saved["average" if average else "network"])
        self.network.eval()
        self.temperatures: dict[str, float] = {}  # by kind of answer; 1 where none is said
        self.step, self.minutes, self.examples = saved["step"], saved["spent"] / 60, saved["examples"]

    def answers(self, prompts: Sequence[form.Prompt]) -> list[list[list[float]]]:
        """Probabilities for each prompt: a row a read, in the order of `allowed`."""
        by_header: dict[tuple[form.Piece, ...], list[int]] = {}
        for i, prompt in enumerate(prompts):
            by_header.setdefault(prompt.header, []).append(i)
        rows: list[tuple[Row, list[int]]] = []
        for header, members in by_header.items():
            tokens = tokens_of(header, self.vocabulary)
            row, inside = Row(tokens), list[int]()
            for i in members:
                reads = [(read, None, 0.0) for read in prompts[i].reads]
                body: Body = body_of(prompts[i].body, reads, self.vocabulary)
                if row.bodies and not row.fits(body, WIDTH):
                    rows.append((row, inside))
                    row, inside = Row(tokens), []
                row.add(body)
                inside.append(i)
            rows.append((row, inside))
        out: list[list[list[float]]] = [[] for _ in prompts]
        rows.sort(key=lambda pair: pair[0].length)
        for start in range(0, len(rows), ROWS):
            part = rows[start : start + ROWS]
            self._ask([row for row, _ in part], [i for _, inside in part for i in inside], prompts, out)
        return out

    @torch.no_grad()
    def _ask(
        self,
        rows: list[Row],
        members: list[int],
        prompts: Sequence[form.Prompt],
        out: list[list[list[float]]],
    ) -> None:
        batch = collate(rows, max(row.length for row in rows), self.vocabulary)
        logits = self.network.logits(self.network(*inputs(batch, self.shape)), batch)
        kinds = [form.kind_of(read) for i in members for read in prompts[i].reads]
        temperatures = torch.tensor([self.temperatures.get(kind, 1.0) for kind in kinds])
        probabilities = (logits / temperatures[:, None]).softmax(-1)
        at = 0
        for i in members:
            for read in prompts[i].reads:
                out[i].append(probabilities[at, : len(read.allowed)].tolist())
                at += 1
