"""Arguments of a plan.yaml that are objects and lists: their places are values, and never text to be read.

A PlanTree holds each argument as a text; that of such an argument is its canonical JSON, and `documents` of
the call names it. A value that fills a place is written as JSON writes it, so nothing of it becomes form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ir import DocumentError, canonical_bytes
from mcl.core.errors import SkillError

NOTHING: Final = object()  # fills a place that nothing fills: the entry is left out


def as_written(
    call: Mapping[str, Any], fill: Callable[[str], object], exact: Callable[[str, str], bool] | None = None
) -> dict[str, Any]:
    """A call of a template as a PlanTree has it, its objects and lists as JSON.

    fill: what a text of such an argument becomes, `NOTHING` where it is left out. exact: says of the name and
    text of any other argument whether it is a value too; the rest is left alone. Raises SkillError
    PLAN_FLAWED for values that are no JSON.
    """
    args = call.get("args")
    if not isinstance(args, Mapping):
        return dict(call)
    filled = {
        name: _filled(value, fill)
        for name, value in args.items()
        if isinstance(value, dict | list) or (exact is not None and exact(name, value))
    }
    documents = sorted(name for name, value in filled.items() if value is not NOTHING)
    written = {name: _text(name, filled[name]) for name in documents}
    more = {"documents": documents} if documents else {}
    rest = {name: value for name, value in args.items() if name not in filled}
    return {**call, "args": {**rest, **written}, **more}


def _filled(value: Any, fill: Callable[[str], object]) -> Any:
    if isinstance(value, dict):
        entries = ((name, _filled(item, fill)) for name, item in value.items())
        return {name: item for name, item in entries if item is not NOTHING}
    if isinstance(value, list):
        return [item for item in (_filled(one, fill) for one in value) if item is not NOTHING]
    return fill(value) if isinstance(value, str) else value


def _text(name: str, value: object) -> str:
    try:
        return canonical_bytes(value).decode()
    except DocumentError as problem:
        message = f"the argument {name} is no JSON: {problem.message}"
        raise SkillError("PLAN_FLAWED", message, place=name, fix=problem.fix) from problem
