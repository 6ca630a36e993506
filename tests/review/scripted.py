"""Models that write what a test tells them, or anything that the grammar of a request allows."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from llguidance import LLMatcher, LLTokenizer

import grammars
from mcl.core.errors import ModelError
from mcl.model import Candidate, Choice, ExtractForm, Span
from mcl.model.answers import separators
from mcl.model.protocol import WritingRequest, WrittenText
from mcl.plugins.review.contract import contract

BYTES = LLTokenizer("byte")


def held(request: WritingRequest) -> LLMatcher:
    """The grammar of one request, over single bytes."""
    lark = f"{grammars.load(request.grammar).text}\n{separators(False)}{request.rules}"
    matcher = LLMatcher(BYTES, LLMatcher.grammar_from_lark(lark), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


def says(request: WritingRequest, text: str) -> bool:
    """Whether a text is a whole sentence of a request's grammar, however many tokens it has."""
    uncounted = replace(request, rules=re.sub(r"\[max_tokens=[0-9]+\]", "", request.rules))
    matcher, data = held(uncounted), list(text.encode())
    return matcher.validate_tokens(data) == len(data) and (
        matcher.consume_tokens(data) and matcher.is_accepting()
    )


def lines_of(request: WritingRequest) -> list[int]:
    """The lines that can be found at."""
    rule = request.rules.split("LINE: ")[1].split("\n")[0]
    return [int(part.strip('"')) for part in rule.split(" | ")]


@dataclass
class Scripted:
    """A model that answers with what `answer` makes of a request. room: characters of its context."""

    answer: Callable[[WritingRequest], str]
    room: int = 10**9
    digest: str = ""
    version: str = "scripted/1"
    grammar: str = "scripted"
    requests: list[WritingRequest] = field(default_factory=list)

    def write(self, request: WritingRequest) -> WrittenText:
        said = len(request.system) + len(request.fixed) + len(request.user)
        if said + 4 * request.most > self.room:
            raise ModelError("MODEL_CONTEXT", "it does not fit")
        self.requests.append(request)
        return WrittenText(self.answer(request), ())

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        raise AssertionError("a model that writes is asked to write")

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        raise AssertionError("nothing is extracted from code")

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        raise AssertionError("answers of a review have a form")


@dataclass
class Wanderer(Scripted):
    """A model that writes any sentence of a request's grammar, byte by byte: each byte is a token to it."""

    rng: random.Random = field(default_factory=lambda: random.Random(1))
    longest: int = 0

    def write(self, request: WritingRequest) -> WrittenText:
        self.requests.append(request)
        matcher, said = held(request), bytearray()
        while not matcher.is_stopped():
            bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
            allowed = [token for token in np.flatnonzero(bits).tolist() if token < 256]
            assert allowed, matcher.get_error()
            if matcher.is_accepting() and self.rng.random() < 0.01:
                break
            # Line ends, brackets and what labels are made of more often than chance has them.
            marks = [token for token in allowed if token in b"\n[]*-: RISKrisk.py1"]
            said.append(self.rng.choice(marks if marks and self.rng.random() < 0.5 else allowed))
            assert matcher.consume_tokens([said[-1]])
        assert not matcher.is_error(), matcher.get_error()
        assert matcher.is_accepting(), bytes(said)
        self.longest = max(self.longest, len(said))
        assert len(said) <= request.most
        return WrittenText(said.decode("utf-8", "replace"), ())


@dataclass
class Tagger(Scripted):
    """A model that chooses what it is told to, with the probability it is told."""

    pick: str | None = None
    share: float = 1.0
    grammar: str = "enc@1 sha256:0"
    prose: list[str] = field(default_factory=list)
    write: None = None  # type: ignore[assignment]  # it is no Writer

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        self.prose.append(prose)
        return Choice(self.pick, "analyze", self.share, 1.0, ())


def piece(
    text: str,
    path: str = "src/a.py",
    lines: Sequence[tuple[int, int]] | None = None,
    removed: Sequence[tuple[int, Sequence[str]]] = (),
) -> dict[str, object]:
    """A piece as a plan hands it to a step."""
    total = len(text.split("\n")) - text.endswith("\n") if text else 0
    told = {"path": path, "text": text, "total": total, "sha256": "0" * 64}
    ranges = lines if lines is not None else ([(1, total)] if total else [])
    gone = [{"after": after, "text": list(rows)} for after, rows in removed]
    return {**told, "lines": [list(pair) for pair in ranges], **({"removed": gone} if gone else {})}


def inputs(*pieces: dict[str, object], mode: str = "risk", **more: str) -> dict[str, str]:
    """The texts of a step."""
    return {"mode": mode, "contract": contract(mode).digest, "pieces": json.dumps(pieces), **more}
