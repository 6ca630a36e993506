"""Expressions in figures and words, computed exactly: a closed grammar, and nothing is evaluated as code."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Final, NoReturn

from executor.core.errors import ToolError
from mcl.values.numbers import read_number

CONTEXT: Final = Context(prec=28, traps=[InvalidOperation, DivisionByZero, Overflow])
_MOST_DEEP: Final = 50
_MOST_POWER: Final = 10_000
# Longer ones first: "divided by" before "by".
_WORDS: Final = (
    (r"to the power of|upphöjt till|\*\*", "^"),
    (r"multiplied (?:by|with)|multiplicerat med|times|gånger|×|·|x(?=\s*\d)", "*"),
    (r"divided by|divided with|delat (?:med|på)|dividerat med|over|÷|:", "/"),
    (r"plus|added to|adderat med", "+"),
    (r"minus|less|subtraherat med|−|–", "-"),
    (r"per ?cent|procent", "%"),
    (r"(?:the )?square root of|roten ur|kvadratroten ur|√|sqrt", "root"),
    (r"of|av|(?:moms|vat|tax|dricks|tip) (?:på|on)", "of"),
)
_NOISE: Final = re.compile(
    r"^(?:\s*(?:what(?:'s| is| are)?|how much (?:is|are)|calculate|compute|work out|vad är|vad blir"
    r"|hur mycket är|räkna ut|beräkna|the|sum of|result of)\b)+|[=?!]+\s*$"
    r"|\s*(?:kronor|kr|sek|eur|euros?|dollars?|usd|pounds?)\b|[$€£]",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(r"\s*(?:(?P<number>\d+(?:[.,'’\u00a0 ]\d+)*|[.,]\d+)|(?P<op>root|of|[-+*/^%()]))")
_WORD_NUMBER: Final = re.compile(r"(?<![\w.,])[^\W\d_]+(?:[ -]+[^\W\d_]+)*", re.UNICODE)


def compute(said: str) -> Decimal:
    """The value of an expression. Raises ToolError BAD_EXPRESSION, NO_VALUE."""
    try:
        return _Reader(_in_figures(said), said).whole()
    except (DivisionByZero, InvalidOperation, Overflow) as problem:
        message = f"{said[:80]!r} has no value that can be written"
        raise ToolError("NO_VALUE", message, place="expression", fix="divide by something else") from problem


def read_figure(text: str) -> Decimal:
    """One number, as it is written. Raises ToolError BAD_EXPRESSION."""
    sign = -1 if text.strip().startswith(("-", "−")) else 1
    found = read_number(text.strip().lstrip("+-−"))
    if found is None:
        _bad(text)
    return sign * found


def plain_number(value: Decimal) -> str:
    """A number without an exponent and without zeros at its end."""
    rounded = value.normalize()
    text = format(rounded, "f")
    return text if text != "-0" else "0"


def _in_figures(said: str) -> str:
    text = f" {said.casefold().strip()} "
    while (shorter := _NOISE.sub(" ", text)) != text:
        text = shorter
    for words, sign in _WORDS:
        edged = rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])"
        text = re.sub(edged, f" {sign} ", text)
    text = _WORD_NUMBER.sub(lambda match: _figure(match[0]), text)
    return re.sub(r"(?<!\w)(?:and|och)(?!\w)", "+", text)


def _figure(words: str) -> str:
    if words in ("of", "root"):
        return words
    pieces = re.split(r"\b(of|root)\b", words)
    if len(pieces) > 1:
        return " ".join(_figure(piece.strip()) for piece in pieces if piece.strip())
    found = read_number(words)
    return words if found is None else format(found, "f")


class _Reader:
    """Reads an expression by what binds less and less."""

    def __init__(self, text: str, said: str) -> None:
        self._said, self._tokens, self._at, self._deep = said, list(_tokens(text, said)), 0, 0

    def whole(self) -> Decimal:
        """Its value."""
        if not self._tokens:
            _bad(self._said)
        found = self._sum()
        if self._at < len(self._tokens):
            _bad(self._said)
        return found

    def _next(self, *signs: str) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at] in signs:
            self._at += 1
            return str(self._tokens[self._at - 1])
        return ""

    def _sum(self) -> Decimal:
        found = self._product()
        while sign := self._next("+", "-"):
            start = self._at
            other = self._product()
            if self._is_share(start):  # "80 + 25 %" is a quarter more
                other = CONTEXT.multiply(found, other)
            found = (CONTEXT.add if sign == "+" else CONTEXT.subtract)(found, other)
        return found

    def _is_share(self, start: int) -> bool:
        """Whether what was read since is a percentage alone."""
        return self._at - start == 2 and self._tokens[self._at - 1] == "%"

    def _product(self) -> Decimal:
        found = self._power()
        ways: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
            "*": CONTEXT.multiply, "/": CONTEXT.divide, "of": CONTEXT.multiply
        }  # fmt: skip
        while sign := self._next(*ways):
            found = ways[sign](found, self._power())
        return found

    def _power(self) -> Decimal:
        found = self._signed()
        if self._next("^"):
            power = self._power()
            if abs(power) > _MOST_POWER:
                _bad(self._said)
            found = CONTEXT.power(found, power)
        return found

    def _signed(self) -> Decimal:
        if self._next("-"):
            return -self._signed()
        self._next("+")
        return self._share()

    def _share(self) -> Decimal:
        found = self._single()
        while self._next("%"):
            found = CONTEXT.divide(found, Decimal(100))
        return found

    def _single(self) -> Decimal:
        self._deep += 1
        if self._deep > _MOST_DEEP or self._at >= len(self._tokens):
            _bad(self._said)
        try:
            if self._next("root"):
                return CONTEXT.sqrt(self._single())
            if self._next("("):
                found = self._sum()
                if not self._next(")"):
                    _bad(self._said)
                return found
            token = self._tokens[self._at]
            if isinstance(token, str):
                _bad(self._said)
            self._at += 1
            return token
        finally:
            self._deep -= 1


def _tokens(text: str, said: str) -> list[Decimal | str]:
    found: list[Decimal | str] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            _bad(said)
        if match["number"]:
            number = match["number"].lstrip() if match["number"][0] not in ".," else f"0{match['number']}"
            value = read_number(number) or _pointed(number)
            if value is None:
                _bad(said)
            found.append(CONTEXT.plus(value))
        else:
            found.append(match["op"])
        at = match.end()
    return found


def _pointed(text: str) -> Decimal | None:
    """A number with one point, however many digits follow: in an expression "1.250" is no thousand."""
    return Decimal(text) if re.fullmatch(r"\d+\.\d+", text, re.ASCII) else read_number(text)


def _bad(said: str) -> NoReturn:
    message = f"{said[:80]!r} cannot be computed"
    fix = "write numbers with + - * / ^ % and brackets, such as (3 + 4) * 2.5"
    raise ToolError("BAD_EXPRESSION", message, place="expression", fix=fix)
