"""Whether an exported model says what the trained one says."""

from __future__ import annotations

from pathlib import Path

import torch

from mcl.model import form
from mcl.model.encoder import EncoderModel
from mcl.model.heads import OPTION, SLOT
from mcl.model.loader import load_model
from mcl.model.protocol import ExtractForm, SlotForm
from mcl.model.text_vectors import option_text, slot_text
from training import written
from training.calibrate import RawAnswers
from training.network import EncoderNetwork, MarkItems, within
from training.pieces import pieces_of

FORM = ExtractForm(
    "order-things",
    "orders things",
    (SlotForm("item", "string", "what to get"), SlotForm("size", "enum", "how large", ("S", "M", "L"))),
)
GOALS = 60


def largest_difference(network: EncoderNetwork, package: Path, gguf: Path) -> float:
    """Of the probability of a tag, over goals by hand: PyTorch in float32 beside llama.cpp and numpy."""
    model = load_model(gguf, home_path=None)
    assert isinstance(model, EncoderModel)
    pieces, worst = pieces_of(package), 0.0
    item, size = FORM.slots
    texts = [slot_text(FORM.skill_id, one) for one in (item, size)]
    texts += [option_text(size, option) for option in size.options]
    items = MarkItems([0, 1, 2, 3, 4], [SLOT, SLOT, OPTION, OPTION, OPTION], [-1, -1, 1, 1, 1])
    goals = [goal.text for writer in written.writers(parts=("development",)) for goal in writer.goals][:GOALS]
    with torch.no_grad():
        table = network.texts([pieces.of_text(text) for text in texts])
        for goal in goals:
            told = RawAnswers(model, goal)
            ids, places = pieces.of_units(form.spaced(told.units))
            vectors, _ = network.encode([ids])
            count = len(told.units)
            words = within(vectors, [places], count)
            seen, met = network.joined(words, torch.ones(1, count, dtype=torch.bool), [items], table)
            # The columns that the model answers with: no slot with options, no option.
            columns = [0, 1, 2, *range(2 + len(items.rows), 2 + met.shape[1])]
            mine = network.tags(seen, met)[0][:, columns].softmax(-1)
            other = torch.tensor(told.marked(FORM)[0]).softmax(-1)
            worst = max(worst, float((mine - other).abs().max()))
    return worst
