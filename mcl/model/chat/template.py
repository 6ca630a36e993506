"""A model's chat template, rendered in a sandbox, with the contents kept apart from the template's own marks.

Contents are tokenised with control tokens off: a goal that spells `<|im_end|>` stays text.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from mcl.core.errors import ModelError
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.llama.weights import NO_AI, Weights

_SYSTEM, _USER = "\ue000system\ue001", "\ue000user\ue001"
# What an expression of a template can raise; MemoryError too, of `"x" * 10**12`.
_TEMPLATE_FAULTS = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError,
    MemoryError,
)  # fmt: skip
_THINKING = re.compile(r"<think>\s*\Z")
_DAY = datetime(2026, 1, 1)  # what a template that asks for today gets: an answer depends on no clock
_PLAIN = f"{_SYSTEM}\n\n{_USER}\n\nAnswer:\n"


class ChatTemplate:
    """The frame around a system text and a user text."""

    def __init__(self, weights: Weights, vocabulary: Vocabulary) -> None:
        """Render the template of the file's metadata. Raises ModelError MODEL_TEMPLATE when it cannot be."""
        self._weights = weights
        source = weights.meta("tokenizer.chat_template")
        text = _PLAIN if source is None else _render(source, weights, vocabulary)
        head, found, rest = text.partition(_SYSTEM)
        if not found:  # no system message in this template: its text goes before the user's
            head, found, rest = text.partition(_USER)
            middle, tail = "\n\n", rest
        else:
            middle, found, tail = rest.partition(_USER)
        if not found:
            raise _unusable(weights, "it leaves out what the user says")
        if any(mark in part for mark in (_SYSTEM, _USER) for part in (head, middle, tail)):
            raise _unusable(weights, "it says the same text twice")
        if _THINKING.search(tail):  # an answer under a grammar has no room for thoughts
            tail += "\n</think>\n\n"
        begins = vocabulary.bos
        bos = vocabulary.pieces[begins].decode("utf-8", "replace") if begins >= 0 else ""
        self._head = weights.tokens(head, specials=True, begin=not (bos and head.startswith(bos)))
        self._middle = weights.tokens(middle, specials=True)
        self._tail = weights.tokens(tail, specials=True)

    def prompt(self, system: str, fixed: str, user: str, start: str) -> tuple[list[int], list[int]]:
        """(prefix, rest): `system` and `fixed` are the same for many requests, `user` is this one's.

        `start` is how the answer begins, so that the model goes on from there.
        """
        tokens = self._weights.tokens
        prefix = [*self._head, *tokens(system), *self._middle, *tokens(fixed)]
        return prefix, [*tokens(user), *self._tail, *tokens(start)]


class _Generation(Extension):
    """`{% generation %}…{% endgeneration %}`, with which templates mark what is trained on: its body."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The body alone."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _render(source: str, weights: Weights, vocabulary: Vocabulary) -> str:
    def refuse(message: str) -> NoReturn:
        raise TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    pieces = {"bos_token": vocabulary.bos, "eos_token": vocabulary.eos}
    names: dict[str, Any] = {
        name: vocabulary.pieces[token].decode("utf-8", "replace") if token >= 0 else ""
        for name, token in pieces.items()
    }
    names |= {"add_generation_prompt": True, "raise_exception": refuse, "enable_thinking": False}
    names["strftime_now"] = _DAY.strftime
    user = {"role": "user", "content": _USER}
    conversations: Sequence[list[dict[str, str]]] = ([{"role": "system", "content": _SYSTEM}, user], [user])
    problem: Exception | None = None
    for messages in conversations:  # some templates refuse a system message
        try:
            text = environment.from_string(source).render(messages=messages, **names)
        except _TEMPLATE_FAULTS as error:
            problem = error
        else:
            return text
    raise _unusable(weights, str(problem) or type(problem).__name__)


def _unusable(weights: Weights, why: str) -> ModelError:
    return ModelError(
        "MODEL_TEMPLATE", f"the chat template cannot be used: {why}", place=str(weights.path), fix=NO_AI
    )
