"""Classes that are made quickly are what the standard library makes of the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

import ir.dataclass as quick

Body = dict[str, Any]


def made(by: Any, bases: tuple[type, ...] = (), /, body: Body | None = None, **options: Any) -> Any:
    """The same class, by one of both."""
    hints = {"a": int, "b": str, "c": list[int], "d": int, "e": int}
    default = {
        "b": "x",
        "c": dataclasses.field(default_factory=lambda: [1]),
        "d": dataclasses.field(default=7, kw_only=True, repr=False, hash=False),
        "e": dataclasses.field(default=3, init=False, compare=False),
    }
    kind = type("Kind", bases, {"__annotations__": hints, "__module__": __name__, **default, **(body or {})})
    return by(**options)(kind)


def said(work: Any) -> Any:
    """What a piece of work gives, or what it is refused with."""
    try:
        return work()
    except (TypeError, AttributeError) as problem:
        return type(problem), str(problem)


def post(self: Any) -> None:
    object.__setattr__(self, "b", self.b * 2)


BODIES: dict[str, Body] = {
    "plain": {},
    "post": {"__post_init__": post},
    "own equality": {"__eq__": lambda self, other: self.b == getattr(other, "b", "")},
    "own hash": {"__hash__": lambda self: 4},
    "own repr": {"__repr__": lambda self: "mine"},
}
OPTIONS: list[Body] = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True},
    {"frozen": True, "eq": False, "repr": False},
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_does_what_the_library_says(options: Body, body: str) -> None:
    both = [made(by, body=BODIES[body], **options) for by in (dataclasses.dataclass, quick.dataclass)]
    one = {"a": 1, "b": "y", "c": (2,), "d": 8}

    def shown(kind: type) -> list[Any]:
        first, same, other = kind(**one), kind(**one), kind(**{**one, "b": "z"})
        found = [dataclasses.asdict(first), first == same, first == other, first != same, first == 4]
        found += [said(lambda: hash(first) == hash(same)), kind.__hash__ is None, kind.__match_args__]  # type: ignore[attr-defined]
        found += [said(lambda: kind(1).b), said(lambda: kind(1).c is kind(1).c), said(kind)]
        found += [said(lambda: kind(1, "y", (2,), 8).a), said(lambda: kind(e=3, **one).a)]
        found += [said(lambda: setattr(first, "a", 2)), said(lambda: delattr(same, "b"))]
        found += [said(lambda: setattr(first, "more", 2)) if "slots" not in options else ""]
        found += [dataclasses.replace(first, b="new").b]
        found += [copy.copy(other).a, copy.deepcopy(other).c, hasattr(first, "__dict__")]
        plain = body == "own repr" or options.get("repr", True)
        return [*found, *map(repr, (first, kind(**{**one, "c": [kind(**one)]})) if plain else ())]

    assert shown(both[1]) == shown(both[0])


def test_what_inherits_is_made_of_all_fields_and_frozen_as_a_whole() -> None:
    @quick.dataclass(frozen=True)
    class Below:
        a: int
        more: int = quick.field(default=2, kw_only=True)

    @quick.dataclass(frozen=True)
    class Above(Below):
        b: str = ""

    class Own(Below):
        pass

    one, own = Above(1, "y", more=3), Own(1)
    assert (one.a, one.b, one.more) == (1, "y", 3)
    assert one != Below(1, more=3)
    own.extra = 5  # type: ignore[attr-defined]
    for held in (one, own):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
            held.a = 2  # type: ignore[misc]


@quick.dataclass(frozen=True, slots=True)
class Sent:
    a: int
    b: tuple[int, ...] = ()


def test_what_is_sent_to_another_process_comes_back_the_same() -> None:
    assert pickle.loads(pickle.dumps(Sent(1, (2,)))) == Sent(1, (2,))
