"""Adds up numbers, and tells their mean, least and greatest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.arithmetic import CONTEXT, plain_number, read_figure


async def run(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    """Answer with the figures of all."""
    numbers = [read_figure(str(one)) for one in args["numbers"]]
    total = CONTEXT.create_decimal(0)
    for number in numbers:
        total = CONTEXT.add(total, number)
    mean = CONTEXT.divide(total, CONTEXT.create_decimal(len(numbers)))
    found = {"sum": total, "mean": mean, "min": min(numbers), "max": max(numbers)}
    plain = {name: plain_number(value) for name, value in found.items()}
    what = str(args.get("figure", "sum"))
    told = f"{what} of {counted(len(numbers), 'number')}: {plain[what]}"
    return {"count": len(numbers), **plain, "text": told}
