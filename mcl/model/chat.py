"""Any other GGUF: asked through its chat template, answering JSON under a grammar.

Whatever the weights, an answer is one of the given alternatives, or runs of whole words of the goal: the
grammar leaves nothing else to say.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from llguidance import LLMatcher

import grammars
from mcl.core.errors import ModelError
from mcl.model.answers import (
    frame_rules,
    marks,
    most,
    read_frame,
    separators,
    shown,
    span_rules,
)
from mcl.model.form import VERBS
from mcl.model.limits import sayable, values_of
from mcl.model.llama.context import ContextSize, ModelContext, Prefixes
from mcl.model.llama.decoder import Decoder
from mcl.model.llama.vocabulary import Grammars, Vocabulary
from mcl.model.llama.weights import NO_AI, Weights
from mcl.model.plan_answers import SYSTEM, plan_prompt, plan_rules, plan_sizes
from mcl.model.protocol import (
    Candidate,
    Choice,
    ExtractForm,
    PlanForm,
    SlotForm,
    Span,
    WritingRequest,
    WrittenStep,
    WrittenText,
    literal,
)

# ---- A model's chat template, rendered in a sandbox, with the contents kept apart from the template's own
# marks.

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
        # The template is rendered once, with marks of the private area in the place of what is said: so no
        # text of a goal or skill is ever read as a part of the template.
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
        # Only the template's own parts may spell control tokens; what people say is tokenised as text.
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


_LONGEST_CONTEXT = 8192
_BATCH = 512
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXY"
_NONE = "Z"
_LONGEST_VERB = 64
_LONGEST_SPAN, _SHORTEST_SPAN = 320, 8
_LONGEST_OUTPUT, _SHORTEST_OUTPUT = 1500, 16
_MOST_BYTES = 4  # of one character, and so the most tokens of it
_STEP_GRAMMAR = "step_outputs@1"
_GRAMMARS = ("verb_vocab@1", "intent_frame@1", _STEP_GRAMMAR)  # what an Intent depends on
_PLAN_GRAMMAR = "plan_tree@1"

_CHOOSE = (
    "You are given a goal and a list of skills. Answer with the letter of the one skill that the goal asks "
    f"for, or {_NONE} when none of them fits, and with the verb that says what is to be done. Answer in JSON."
)
_EXTRACT = (
    "You are given a goal. Copy the words that fill each slot, exactly as they stand in the goal; null where "
    "the goal does not say. Under constraints, copy only what the goal demands: budget (an amount of money), "
    "deadline (when it must be done), jurisdiction_allow and jurisdiction_deny (countries), quality (a "
    "measure), rule, delivered, signed_off (by whom), external, attestation, preference, recurrence (how "
    "often). Answer in JSON."
)
_REASON = "Do what is asked with the text you are given. Answer in JSON with these keys: "


class ChatModel:
    """A GGUF without a form of its own."""

    writes_plans = True

    def __init__(
        self,
        weights: Weights,
        *,
        digest: str,
        cache: Path | None,
        spaced: bool = False,
        limits: bool = True,
    ) -> None:
        """spaced: JSON with a blank behind `,` and `:`, which some models write better. limits: whether it is
        asked for a goal's limits too.

        cache: folder for the KV cache of prefixes. Raises ModelError MODEL_KIND, MODEL_TEMPLATE,
        MODEL_BROKEN.
        """
        self.digest = digest
        self.version = f"{weights.meta('general.name') or weights.path.stem}/chat"
        texts = [grammars.load(id) for id in _GRAMMARS]
        self._texts = {grammar.id: grammar.text for grammar in texts}
        together = hashlib.sha256("".join(grammar.digest for grammar in texts).encode()).hexdigest()
        self.grammar = f"intent_frame@1 {'spaced ' if spaced else ''}sha256:{together}"
        self._step_grammar = next(f"{one.id} sha256:{one.digest}" for one in texts if one.id == _STEP_GRAMMAR)
        plan = grammars.load(_PLAN_GRAMMAR)
        self._texts[plan.id] = plan.text
        self.plan_grammar = f"{plan.id} sha256:{plan.digest}"
        self._weights = weights
        self._vocabulary = Vocabulary.of(weights)
        self._template = ChatTemplate(weights, self._vocabulary)
        cells = min(weights.context_length, _LONGEST_CONTEXT)
        self._context = ModelContext(weights, ContextSize(tokens=cells, batch=min(_BATCH, cells), flash=True))
        self._prefixes = Prefixes(self._context, model_digest=digest, folder=cache)
        self._grammars = Grammars(weights, self._vocabulary)
        self._decoder = Decoder(self._context, self._vocabulary)
        self._spaced, self._limits = spaced, limits

    def prepare(self, question: Sequence[Candidate] | ExtractForm) -> None:
        """Evaluate the fixed part of a question; one that does not fit is told when it is asked."""
        prefix, _ = self._template.prompt(*_fixed(question), "", "")
        if len(prefix) < self._context.size.tokens:
            self._prefixes.hold(prefix, whole=False)

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose among at most 25 candidates. Raises ModelError MODEL_CANDIDATES for more."""
        if len(candidates) > len(_LETTERS):
            raise ModelError(
                "MODEL_CANDIDATES",
                f"at most {len(_LETTERS)} skills can be shown to a model at once, not {len(candidates)}",
                fix="rank the skills first and show the best",
            )
        lettered = list(zip(_LETTERS, candidates, strict=False))
        blank = " " if self._spaced else ""
        # The blank goes with the goal's first word, as in any text: mostly one token stands for both.
        rest = self._hold(*_fixed(candidates), f" {prose}", f'{{"choice":{blank}"')
        # All alternatives differ in their first byte, so one look gives the probability of every skill.
        verbs = {letter: " | ".join(map(literal, candidate.verbs or VERBS)) for letter, candidate in lettered}
        ways = [f'"{letter}" between ({words}) close' for letter, words in verbs.items()]
        ways.append(f'"{_NONE}" close')
        matcher = self._matcher("verb_vocab@1", f"start: {' | '.join(ways)}\n")
        chances = dict.fromkeys([*verbs, _NONE], 0.0)
        for token, chance in self._decoder.first(rest, matcher).items():
            chances[self._vocabulary.pieces[token][:1].decode()] += chance
        best = max(chances, key=chances.__getitem__)
        probabilities = (
            *((candidate.skill_id, chances[letter]) for letter, candidate in lettered),
            ("", chances[_NONE]),
        )
        if best == _NONE:
            return Choice(None, "", chances[best], 1.0, probabilities)
        chosen = candidates[_LETTERS.index(best)]
        after = self._weights.tokens(f'{best}",{blank}"verb":{blank}"')
        matcher = self._matcher("verb_vocab@1", f"start: ({verbs[best]}) close\n")
        answer = self._decoder.answer(after, matcher, budget=_LONGEST_VERB, weigh=True)
        verb = self._vocabulary.text(answer.tokens).partition('"')[0]
        return Choice(chosen.skill_id, verb, chances[best], math.prod(answer.probabilities), probabilities)

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Slots and constraints as spans of `prose`. Raises ModelError MODEL_CONTEXT when it does not fit."""
        text = shown(prose)
        if not text.strip():
            return ()
        rest = self._hold(*_fixed(form), f" {text}", "")
        room = self._context.size.tokens - self._context.used - len(rest)
        fields = sayable(text) if self._limits else ()
        values = sum(most(slot) for slot in form.slots if not slot.options) + values_of(fields)
        bytes_each = max(len(character.encode()) for character in set(text))
        longest = min(_LONGEST_SPAN, (room - marks(form.slots)) // max(values, 1) // bytes_each)
        if longest < _SHORTEST_SPAN:
            raise self._too_long()
        matcher = self._matcher("intent_frame@1", frame_rules(text, form.slots, fields, longest))
        answer = self._decoder.answer(rest, matcher, budget=room, weigh=True)
        return tuple(read_frame(answer, self._vocabulary, prose, form))

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """One text for each output, written by the model, at most 1,500 characters each."""
        return self.write_step(system, user, outputs, kind).outputs

    def write_step(
        self,
        system: str,
        user: str,
        outputs: Sequence[str],
        kind: str,
        tell: Callable[[bytes], None] | None = None,
    ) -> WrittenStep:
        """The same, and what it took; told piece by piece."""
        if not outputs:
            return WrittenStep({}, self._step_grammar, 0)
        keys = f"{_REASON}{', '.join(outputs)}."
        rest = self._hold(f"{system}\n\n{keys}".strip(), f"({kind or 'reason'})", f" {user}", "")
        room = self._context.size.tokens - self._context.used - len(rest)
        overhead = sum(len(json.dumps(output).encode()) + 8 for output in outputs) + 8
        longest = min(_LONGEST_OUTPUT, (room - overhead) // len(outputs) // _MOST_BYTES)
        if longest < _SHORTEST_OUTPUT:
            raise self._too_long()
        pairs = " COMMA ".join(f"{literal(json.dumps(output))} COLON text" for output in outputs)
        rules = f'start: "{{" {pairs} "}}"\nCHARACTERS: CHARACTER{{0,{longest}}}\n'
        matcher = self._matcher(_STEP_GRAMMAR, rules)
        answer = self._decoder.answer(rest, matcher, budget=room, weigh=False, tell=tell)
        said = json.loads(self._vocabulary.text(answer.tokens))
        return WrittenStep(said, self._step_grammar, len(answer.tokens))

    def write_plan(self, prose: str, form: PlanForm) -> str:
        """A plan as JSON, of at most `form.nodes` nodes. Raises ModelError MODEL_CONTEXT when it does not
        fit."""
        text = shown(prose)
        fixed, said = plan_prompt(prose, form)
        rest = self._hold(SYSTEM, fixed, said, "")
        room = self._context.size.tokens - self._context.used - len(rest)
        sizes = plan_sizes(form, room, 1 if text.isascii() else _MOST_BYTES)
        if sizes is None:
            raise self._too_long()
        nodes, longest = sizes
        matcher = self._matcher(_PLAN_GRAMMAR, plan_rules(form, nodes) + span_rules(text, longest))
        answer = self._decoder.answer(rest, matcher, budget=room, weigh=False)
        return self._vocabulary.text(answer.tokens)

    def write(self, request: WritingRequest) -> WrittenText:
        """Whatever the request's grammar allows. Raises LookupError for a grammar that is not shipped,
        ModelError MODEL_CONTEXT where the longest answer does not fit."""
        if request.grammar not in self._texts:
            self._texts[request.grammar] = grammars.load(request.grammar).text
        rest = self._hold(request.system, request.fixed, request.user, "", most=request.most)
        matcher = self._matcher(request.grammar, request.rules)
        # The end of an answer is asked for too, as one token more.
        answer = self._decoder.answer(rest, matcher, budget=request.most + 1, weigh=True)
        pieces = (self._vocabulary.pieces[token] for token in answer.tokens)
        parts = tuple(zip(pieces, answer.probabilities, strict=True))
        return WrittenText(self._vocabulary.text(answer.tokens), parts)

    def _hold(self, system: str, fixed: str, user: str, start: str, *, most: int = 1) -> list[int]:
        """Make the context hold what does not change; the tokens of what does. most: tokens of the answer
        that there must be room for, which is seen before anything is evaluated."""
        prefix, rest = self._template.prompt(system, fixed, user, start)
        if len(prefix) + len(rest) + most > self._context.size.tokens:
            raise self._too_long()
        self._prefixes.hold(prefix, whole=False)
        return rest

    def _matcher(self, grammar: str, rules: str) -> LLMatcher:
        text = f"{self._texts[grammar]}\n{separators(self._spaced)}{rules}"
        return self._grammars.matcher(text, name=grammar)

    def _too_long(self) -> ModelError:
        return ModelError(
            "MODEL_CONTEXT",
            f"the request does not fit into this model's context of {self._context.size.tokens} tokens",
            place=str(self._weights.path),
            fix="shorten the goal or the skill's texts, or choose a model with a longer context",
        )


def _fixed(question: Sequence[Candidate] | ExtractForm) -> tuple[str, str]:
    """What a question says before the goal: the system text, and the skills or the slots of one."""
    if isinstance(question, ExtractForm):
        slots = map(_described, question.slots)
        said = "\n".join([question.description, "Slots:", *slots, "", "Goal:"])
        return f"{question.system}\n\n{_EXTRACT}".strip(), said
    lines = [_offered(letter, candidate) for letter, candidate in zip(_LETTERS, question, strict=False)]
    return _CHOOSE, "\n".join(["Skills:", *lines, f"{_NONE}) none of these", "", "Goal:"])


def _offered(letter: str, candidate: Candidate) -> str:
    examples = "".join(f"\n   e.g. {example}" for example in candidate.examples[:2])
    verbs = ", ".join(candidate.verbs or VERBS)
    return f"{letter}) {candidate.display}: {candidate.description} (verbs: {verbs}){examples}"


def _described(slot: SlotForm) -> str:
    limits = [slot.type]
    if slot.options:
        limits.append("one of " + ", ".join(slot.options))
    if slot.many > 1:
        limits.append(f"a list of at most {most(slot)}")
    return f"- {slot.name} ({'; '.join(limits)}): {slot.hint}"
