"""A quality that a plan measures: a number in the output of one of its calls, as the tool's manifest says.

The words of the constraint name it ("rows", "number of rows"), or its whole place (`count.output.rows`). Of a
list it is how many are in it. What a model answers at a step measures nothing. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ir import PlanTree, QualityConstraint

if TYPE_CHECKING:  # a compile looks here too, and has no use for manifests
    from executor.tools.manifest import Manifest

Find: TypeAlias = "Callable[[str], Manifest | None]"


def nothing_found(reference: str) -> Manifest | None:
    """For whom no tool is known."""
    return None


_DEPTH: Final = 4  # objects in one another that are looked into
_MANY: Final = 256  # numbers of one output
_TOLD: Final = 6
_PLACE: Final = re.compile(r"\$?\{?(?P<node>.+?)\.output\.(?P<path>[A-Za-z_][\w.-]*)\}?", re.ASCII)
_COUNT: Final = re.compile(r"(?:the_)?(?:number|count|amount|antal)_(?:of_)?")


@dataclass(frozen=True, slots=True)
class Measure:
    """Where the number stands: the node, the fields down to it, its type, its declared maximum."""

    node: str
    path: tuple[str, ...]
    kind: str
    most: float | None = None

    def __str__(self) -> str:
        return f"{self.node}.output.{'.'.join(self.path)}"

    def unfit(self, wanted: QualityConstraint) -> str:
        """Why it cannot be held against what is wanted, whatever it turns out to be; "" where it can."""
        percent = self.most == 100
        most = 1 if wanted.share else self.most
        if wanted.share and (self.kind == "array" or (self.kind == "integer" and not percent)):
            return f"{self} is a count, and no share of a whole"
        if wanted.share and self.most not in (None, 1, 100):
            return f"{self} goes up to {self.most:g}, and is no share of a whole"
        if not wanted.share and 0 < wanted.min < 1 and percent:
            return f"{self} is given in percent: say the least as a percentage"
        if most is not None and wanted.min > most:
            return f"{self} goes up to {most:g}, and never reaches {wanted.min:g}"
        return ""

    def look(self, wanted: QualityConstraint, outputs: Mapping[str, object]) -> tuple[object, str]:
        """The number in the outputs of a run, None where there is none, and why it is not enough; "" where
        it is."""
        value: Any = outputs.get(self.node)
        for step in self.path:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, list):
            value = len(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None, f"{self} is no number"
        reached = value / 100 if wanted.share and self.most == 100 else value
        if wanted.share and not 0 <= reached <= 1:
            return value, f"{self} is {value:g}, which is no share of a whole"
        return value, "" if reached >= wanted.min else f"{self} is {value:g}"


def find_measure(wanted: QualityConstraint, plan: PlanTree | None, find: Find) -> Measure | str:
    """What measures a quality in a plan, or why nothing does. find: the manifest at a pinned address."""
    if not wanted.metric.strip():
        return "it names no measure"
    numbers = list(_numbers(plan, find)) if plan is not None else []
    fitting = [one for one in numbers if _names(wanted.metric, one)]
    if len(fitting) == 1:
        return fitting[0].unfit(wanted) or fitting[0]
    if fitting:
        return f"several calls of the plan give it, name one: {', '.join(map(str, fitting[:_TOLD]))}"
    known = ", ".join(map(str, numbers[:_TOLD]))
    return f"no call of the plan measures it{f'; measured are {known}' if known else ''}"


def _names(metric: str, measure: Measure) -> bool:
    if place := _PLACE.fullmatch(metric.strip()):
        return (place["node"], tuple(place["path"].split("."))) == (measure.node, measure.path)
    return _plain(_COUNT.sub("", _joined(metric), count=1)) == _plain(_joined(measure.path[-1]))


def _joined(words: str) -> str:
    return re.sub(r"[\W_]+", "_", words.casefold()).strip("_")


def _plain(name: str) -> str:
    return name[:-1] if name.endswith("s") else name  # "at least 1 row" is said of `rows`


def _numbers(plan: PlanTree, find: Find) -> Iterator[Measure]:
    mapped = {id(one) for node, _ in plan.root.walk() if node.map is not None for one, _ in node.walk()}
    for node, _ in plan.root.walk():
        if id(node) in mapped:  # it gives a number for each member
            continue
        if node.tool_call is not None and (manifest := find(node.tool_call.tool_ref)) is not None:
            for many, one in enumerate(_below(node.id, manifest.output, ())):
                if many >= _MANY:
                    break
                yield one


def _below(node: str, schema: Mapping[str, object], path: tuple[str, ...]) -> Iterator[Measure]:
    """The numbers and lists of an output, by its schema."""
    fields = schema.get("properties")
    for name, one in fields.items() if isinstance(fields, dict) and len(path) < _DEPTH else ():
        kind = one.get("type") if isinstance(one, dict) else None
        if kind == "object":
            yield from _below(node, one, (*path, name))
        elif kind in ("integer", "number", "array"):
            most = one.get("maximum")
            known = isinstance(most, int | float) and not isinstance(most, bool)
            yield Measure(node, (*path, name), kind, float(most) if known else None)
