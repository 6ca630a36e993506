"""The extras of plug-ins: what is not installed, and what is said where it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.tools.names import short_name
from mcl.core.distribution import DISTRIBUTION, extra_missing, is_installed
from mcl.core.errors import InputError
from mcl.plugins.hooks import Plugin, plugins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ir import PlanTree


def require_extra(plugin: Plugin, what: str) -> None:
    """Raise InputError EXTRA_MISSING where what a plug-in needs is not installed. what: who needs it."""
    if is_installed(*plugin.needs):
        return
    of = plugin.distribution and f" of {plugin.distribution}"
    message = f"{what} needs what the extra {plugin.name}{of} brings, and that is not installed"
    raise extra_missing(plugin.name, message, place=what, of=plugin.distribution or DISTRIBUTION)


def require_extras(names: Iterable[str]) -> None:
    """The same for each of these tools, by their short names (data/chart)."""
    for name in sorted(names):
        for plugin in plugins():
            if name in plugin.tools or name in plugin.serves:
                require_extra(plugin, name)


def require_extras_of(plan: PlanTree, *, before: PlanTree | None = None) -> None:
    """The same for each tool of a plan. before: the plan that it takes the place of, whose tools were there
    already."""
    require_extras(_called(plan) - (_called(before) if before is not None else set()))


def _called(plan: PlanTree) -> set[str]:
    """The short names of the tools that a plan calls."""
    return {short_name(node.tool_call.tool_ref) for node, _ in plan.root.walk() if node.tool_call is not None}


def missing_for(plan: PlanTree | None) -> InputError | None:
    """What a plan cannot be run without, with the line that installs it; None where all is there."""
    return missing_of(_called(plan)) if plan is not None else None


def missing_of(names: Iterable[str]) -> InputError | None:
    """The same of tools, by their short names."""
    try:
        require_extras(names)
    except InputError as missing:
        return missing
    return None


def needs_extra(names: Iterable[str]) -> str:
    """In a few words, which extra has to be installed first for these tools; "" for none."""
    missing = missing_of(names)
    return f"needs the extra {missing.data['extra']}" if missing else ""
