"""The encoder with its heads: what is chosen, marked and told apart, all from one pass over the goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import nn

from mcl.model import form
from mcl.model.form import FIELDS
from mcl.model.heads import CHANGES, FIELD, KINDS, WORD
from training.bert import Bert, Layer, outside

JOINT_HEADS, JOINT_FEED_FORWARD = 6, 768
MATCH = 256
"""Width in which words meet slots, and slots meet options."""
FIELD_TEXTS = {
    "budget": "budget: the most that it may cost",
    "deadline": "deadline: until when it must be done",
    "jurisdiction_allow": "only in these countries or regions",
    "jurisdiction_deny": "not in these countries or regions",
    "quality": "quality: how good it must be, a figure or a grade",
    "rule": "rule: what must be kept to or must not be done",
    "delivered": "delivered: where or to whom the result goes",
    "signed_off": "signed off: who has to approve it",
    "external": "check: what has to pass or be green",
    "attestation": "proof: the document or certificate that proves it",
    "preference": "preference: what would be liked better, if possible",
    "recurrence": "recurrence: how often it is repeated",
}


@dataclass
class MarkItems:
    """What words of one goal are compared with: rows of a table of vectors. open: takes words; of: for an
    option the place of its slot within `rows`, else -1."""

    rows: list[int]
    kinds: list[int]
    of: list[int]


@dataclass
class SkillTexts:
    """Texts of skills: pieces, whose each is, and whether it is an example."""

    pieces: list[list[int]] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    examples: list[bool] = field(default_factory=list)
    skills: int = 0

    def add(self, skill: Sequence[int], examples: Sequence[list[int]] = ()) -> None:
        """One more skill."""
        self.pieces += [list(skill), *examples]
        self.of += [self.skills] * (1 + len(examples))
        self.examples += [False, *[True] * len(examples)]
        self.skills += 1


class HeadLayers(nn.Module):
    """All that stands on the encoder's vectors."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(20.0))
        self.none = nn.Linear(width, 1)
        self.example = nn.Parameter(torch.tensor(-0.05))
        self.verb = nn.Linear(width, len(form.VERBS))
        self.kind = nn.Linear(width, len(KINDS))
        self.change = nn.Linear(width, len(CHANGES))
        self.wish = nn.Linear(width, 2)
        self.types = nn.Parameter(torch.zeros(4, width))
        self.fields = nn.Parameter(torch.zeros(len(FIELDS), width))
        self.joint = Layer(width, JOINT_HEADS, JOINT_FEED_FORWARD)
        self.outside_tag = nn.Linear(width, 2)  # none, goes on
        self.word_match, self.slot_match = nn.Linear(width, MATCH), nn.Linear(width, MATCH)
        self.slot_bias = nn.Linear(width, 1)
        self.asking, self.offered = nn.Linear(width, MATCH), nn.Linear(width, MATCH)
        self.unsaid = nn.Linear(width, 1)
        self.named = nn.Parameter(torch.tensor(4.0))
        nn.init.zeros_(self.none.weight)
        nn.init.constant_(self.none.bias, 0.35)


class EncoderNetwork(nn.Module):
    """Encoder and heads."""

    def __init__(self, encoder: Bert) -> None:
        super().__init__()
        self.encoder = encoder
        self.heads = HeadLayers(encoder.word.embedding_dim)

    def encode(self, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Pieces of texts -> vectors [B, n, width] and mask."""
        ids, mask = padded(rows)
        return self.encoder(ids, mask), mask

    def texts(self, rows: list[list[int]]) -> torch.Tensor:
        """Mean vectors of texts, [B, width]."""
        return mean(*self.encode(rows))

    def choices(self, goals: torch.Tensor, cards: SkillTexts, texts: torch.Tensor) -> torch.Tensor:
        """goals [B, width], texts of S skills [T, width] -> scores [B, 1 + S], the first of `none of these`.

        A skill is as near as the nearest of its texts; an example counts a little less, which is learned.
        """
        goals, texts = (nn.functional.normalize(v.float(), dim=-1) for v in (goals, texts))
        alike = goals @ texts.T + self.heads.example * torch.tensor(cards.examples, dtype=torch.float32)
        of = torch.tensor(cards.of).expand(len(goals), -1)
        best = torch.full((len(goals), cards.skills), -2.0).scatter_reduce(1, of, alike, "amax")
        return torch.cat([self.heads.none(goals), best], 1) * self.heads.scale

    def joined(
        self, words: torch.Tensor, mask: torch.Tensor, items: list[MarkItems], table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Words [B, n, width] and what they are compared with, having seen one another.

        Gives words [B, n, width] and items [B, m, width]; the last len(FIELDS) items are the constraints.
        """
        heads = self.heads
        most = max(len(one.rows) for one in items)
        rows = torch.zeros(len(items), most, dtype=torch.long)
        kinds = torch.zeros(len(items), most, dtype=torch.long)
        there = torch.zeros(len(items), most, dtype=torch.bool)
        for i, one in enumerate(items):
            rows[i, : len(one.rows)] = torch.tensor(one.rows, dtype=torch.long)
            kinds[i, : len(one.rows)] = torch.tensor(one.kinds, dtype=torch.long)
            there[i, : len(one.rows)] = True
        shown = table[rows] + heads.types[kinds]
        fields = (heads.fields + heads.types[FIELD]).expand(len(items), -1, -1)
        x = torch.cat([words + heads.types[WORD], shown, fields.to(words.dtype)], 1)
        seen = torch.cat([mask, there, torch.ones(len(items), len(FIELDS), dtype=torch.bool)], 1)
        x = heads.joint(x, outside(seen, x.dtype))
        return x[:, : words.shape[1]], x[:, words.shape[1] :]

    def tags(self, words: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        """words [B, n, width], items [B, m, width] -> scores [B, n, 2 + m]: none, goes on, begins item j."""
        heads = self.heads
        met = heads.word_match(words) @ heads.slot_match(items).transpose(1, 2)
        begins = met.float() / MATCH**0.5 + heads.slot_bias(items).float().transpose(1, 2)
        return torch.cat([heads.outside_tag(words).float(), begins], -1)

    def options(self, slots: torch.Tensor, options: torch.Tensor, named: torch.Tensor) -> torch.Tensor:
        """slots [R, width], options of each [R, k, width], how nearly a word of the goal is each of them
        [R, k] -> scores [R, 1 + k], the first of `not said`."""
        heads = self.heads
        met = (heads.offered(options) @ heads.asking(slots)[..., None])[..., 0]
        return torch.cat([heads.unsaid(slots), met / MATCH**0.5 + heads.named * named], 1)


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Pieces as ids and mask, [B, n]."""
    longest = max(map(len, rows))
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = True
    return ids, mask


def nearest_word(words: torch.Tensor, there: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
    """words [R, n, width], there [R, n], texts [R, k, width] -> cosine of each with the word nearest to it,
    [R, k]."""
    words, texts = (nn.functional.normalize(v, dim=-1) for v in (words, texts))
    alike = texts @ words.transpose(1, 2)
    return alike.masked_fill(~there[:, None], -1.0).amax(2)


def mean(vectors: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean over what stands there: [B, n, width], [B, n] -> [B, width]."""
    there = mask[..., None].to(vectors.dtype)
    return (vectors * there).sum(1) / there.sum(1).clamp(min=1)


def within(vectors: torch.Tensor, places: list[list[int]], count: int) -> torch.Tensor:
    """Vectors of units: the mean of their pieces. places: of each piece its unit (-1: none)."""
    share = torch.zeros(vectors.shape[0], count, vectors.shape[1])
    for i, row in enumerate(places):
        for piece, unit in enumerate(row):
            if unit >= 0:
                share[i, unit, piece] = 1
    share /= share.sum(-1, keepdim=True).clamp(min=1)
    return torch.bmm(share.to(vectors.dtype), vectors)
