"""Hold an exported GGUF against the checkpoint: the same tokens on thousands of texts, the same logits.

python -m training.check --data ../shared/data --out /path
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mcl.model import form
from mcl.model.llama.weights import Weights
from mcl.model.protocol import Candidate, ExtractForm, SlotForm
from mcl.plugins.train.tuner.network import Asker, inputs
from mcl.plugins.train.tuner.rows import TrainingRow, body_of, collate, tokens_of
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from training import corpora
from training.export import CONTEXT, TYPES, export

GGML_F16, GGML_F32 = 1, 0


@dataclass(frozen=True)
class Difference:
    """What the check found: texts with other tokens, largest difference of a logit and of a probability."""

    texts: int
    differing: int
    logit: float
    probability: float


class Llama:
    """llama.cpp over a file, KV cells as f32 or f16."""

    def __init__(self, path: Path, *, precise: bool) -> None:
        self.weights = Weights(path)
        c = self.weights.library.c
        params = c.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = CONTEXT
        params.n_threads = params.n_threads_batch = 1
        params.type_k = params.type_v = GGML_F32 if precise else GGML_F16
        if precise:  # flash attention would compute in half precision
            params.flash_attn_type = 0
        self.context = c.llama_init_from_model(self.weights.model, params)
        self.batch: Any = c.llama_batch_init(CONTEXT, 0, 1)

    def logits(self, header: Sequence[int], body: Sequence[int], reads: Sequence[int]) -> np.ndarray:
        """Logits [reads, vocabulary] of a body behind a header."""
        c = self.weights.library.c
        c.llama_memory_clear(c.llama_get_memory(self.context), True)
        self._feed(header, 0, ())
        self._feed(body, len(header), reads)
        size = self.weights.vocab_size
        rows = [np.ctypeslib.as_array(c.llama_get_logits_ith(self.context, i), (size,)).copy() for i in reads]
        return np.stack(rows)

    def _feed(self, tokens: Sequence[int], at: int, reads: Sequence[int]) -> None:
        self.batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            self.batch.token[i], self.batch.pos[i] = token, at + i
            self.batch.n_seq_id[i], self.batch.seq_id[i][0] = 1, 0
            self.batch.logits[i] = i in reads
        if status := self.weights.library.c.llama_decode(self.context, self.batch):
            raise RuntimeError(f"llama_decode: {status}")


def prompts_of(
    utterances: Sequence[Utterance], skills: dict[tuple[str, str], CorpusSkill]
) -> list[form.Prompt]:
    """Choices and extractions over real utterances."""
    names = sorted(skills)
    prompts = []
    for i, utterance in enumerate(utterances):
        skill = skills[utterance.skill]
        shown = [
            Candidate(k[1], form.plain(k[1]), skills[k].description, (), ())
            for k in names[i % 50 : i % 50 + 7]
        ]
        prompts.append(form.choose_prompt(utterance.text, shown))
        units = form.windows(form.words(utterance.text))[0]
        slots = skill.slots or (SlotForm("what", "string", "the thing meant"),)
        prompts.append(
            form.extract_prompt(utterance.text, units, ExtractForm(skill.name, skill.description, slots))
        )
    return prompts


def compare(asker: Asker, llama: Llama, prompts: Sequence[form.Prompt]) -> tuple[float, float]:
    """Largest difference over the whole vocabulary: of a logit, of a probability."""
    worst, worst_p = 0.0, 0.0
    for prompt in prompts:
        row = TrainingRow(tokens_of(prompt.header, asker.vocabulary))
        body = body_of(prompt.body, [(read, None, 0.0) for read in prompt.reads], asker.vocabulary)
        row.add(body)
        batch = collate([row], row.length, asker.vocabulary)
        with torch.no_grad():
            hidden = asker.network(*inputs(batch, asker.shape))[0, batch.where]
            ours = (hidden @ asker.network.embedding.weight.T).numpy()
        theirs = llama.logits(row.header, body.tokens, [read[0] for read in body.reads])
        worst = max(worst, float(np.abs(ours - theirs).max()))
        ours, theirs = (np.exp(x - x.max(-1, keepdims=True)) for x in (ours, theirs))
        gap = ours / ours.sum(-1, keepdims=True) - theirs / theirs.sum(-1, keepdims=True)
        worst_p = max(worst_p, float(np.abs(gap).max()))
    return worst, worst_p


def check(asker: Asker, data: Path, kind: str, texts: int = 5000, prompts: int = 100) -> Difference:
    """Export the checkpoint as `kind` to a temporary file and compare (f32 with f32 KV cells)."""
    corpus = corpora.load(data)
    utterances = random.Random(3).sample([u for u in corpus.dev if u.skill[1] != "oos"], texts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        export(asker, path, kind)
        llama = Llama(path, precise=kind == "f32")
        pieces = {
            p
            for u in utterances
            for p in form.extract_prompt(u.text, form.words(u.text), ExtractForm("x", "x", ())).body
            if not p.special
        }
        pieces |= {form.Piece(f" {t}", special=False) for t in corpora.open_texts(data)[:texts]}
        differing = sum(tuple(llama.weights.tokens(p.text)) != asker.vocabulary.ids(p) for p in pieces)
        logit, probability = compare(asker, llama, prompts_of(utterances[:prompts], corpus.skills))
    return Difference(len(pieces), differing, logit, probability)


def main() -> None:
    """Command line. Exits with 1 where tokens differ or f32 logits differ by more than 1e-3."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    torch.set_num_threads(1)
    asker = Asker(given.out)
    bad = False
    for kind in TYPES:
        found = check(asker, given.data, kind)
        print(kind, found, flush=True)
        bad |= found.differing > 0 or (kind == "f32" and found.logit > 1e-3)
    raise SystemExit(int(bad))


if __name__ == "__main__":
    main()
