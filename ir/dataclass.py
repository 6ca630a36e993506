"""Dataclasses that are quickly made: the standard library compiles up to six functions for each class, and a
command makes hundreds of classes before it does anything. Here it is one; the others are shared.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, asdict, astuple, field, fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["MISSING", "asdict", "astuple", "dataclass", "field", "fields", "replace"]


def _dataclass(cls: type | None = None, /, **given: Any) -> Any:
    """Without `order` and InitVar, which those of the library have. A frozen one and one of the library do
    not inherit from each other."""
    return (lambda cls: _made(cls, **given)) if cls is None else _made(cls, **given)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


def _made(cls: type, *, frozen: bool = False, eq: bool = True, repr: bool = True, **given: Any) -> Any:
    own = {name for name, value in vars(cls).items() if value is not None}  # __eq__ alone makes __hash__ None
    cls.__doc__ = cls.__doc__ or cls.__name__  # else it is made of what `inspect` finds
    made: Any = dataclasses.dataclass(**given, init=False, repr=False, eq=False)(cls)
    methods = {"__init__": _init(made, frozen=frozen)}
    if repr:
        methods["__repr__"] = _repr
    if eq:
        compared = _values(made, lambda one: one.compare)
        hashed = _values(made, lambda one: one.compare if one.hash is None else one.hash)
        methods["__eq__"] = lambda self, other: (
            compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented
        )
        methods["__hash__"] = (lambda self: hash(hashed(self))) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refused, "__delattr__": _refused}
    if frozen and given.get("slots"):  # else no copy of it could be made
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _init(made: type, *, frozen: bool) -> Any:
    names: dict[str, Any] = {"_set": object.__setattr__, "_none": MISSING}
    words, lines = ["self"], ""
    for one in sorted(fields(made), key=lambda one: one.kw_only is True):
        name, default, is_made = one.name, f"_of_{one.name}", one.default_factory is not MISSING
        value = f"{default}()" if is_made else default
        names[default] = one.default_factory if is_made else one.default
        if one.init:
            words += ["*"] * (one.kw_only is True and "*" not in words)
            words.append(name if names[default] is MISSING else f"{name}={'_none' if is_made else default}")
            value = f"{value} if {name} is _none else {name}" if is_made else name
        if one.init or names[default] is not MISSING:
            lines += f" _set(self, {name!r}, {value})\n" if frozen else f" self.{name} = {value}\n"
    lines += " self.__post_init__()\n" if hasattr(made, "__post_init__") else " pass\n" * (not lines)
    exec(f"def __init__({', '.join(words)}):\n{lines}", names)  # noqa: S102 - nothing in it is from outside
    names["__init__"].__qualname__ = f"{made.__qualname__}.__init__"
    return names["__init__"]


def _values(made: type, kept: Callable[[Any], bool]) -> Callable[[Any], Any]:
    names = [one.name for one in fields(made) if kept(one)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _repr(self: Any) -> str:
    said = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(said)})"


def _refused(self: Any, name: str, *value: Any) -> None:
    kind = type(self)
    if "__dataclass_fields__" in vars(kind) or name in kind.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")
    (object.__setattr__ if value else object.__delattr__)(self, name, *value)


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
