"""Runs whose steps a plug-in answers, and which it follows: of plans that no goal is compiled to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from executor.walker.reasoner import Prompts, Reasoner
from mcl.plugins.hooks import load_named, plugins

if TYPE_CHECKING:
    from executor.store.home import Home
    from executor.walker import Outcome
    from mcl.model import Model
    from mcl.usecases.show import Shown


class Steps(Reasoner, Prompts, Protocol):
    """What asks the steps of a plan, and answers them."""


class Runs(Protocol):
    """A plug-in's own plans."""

    def fits(self, found: Shown) -> bool:
        """Is the plan of this intent one of them?"""
        ...

    def steps(self, home: Home, found: Shown, model: Path | Model | None, *, ai: bool) -> Steps:
        """What answers its steps; model, ai: as of ``run``."""
        ...

    def ended(self, home: Home, found: Shown, outcome: Outcome, workspace: Path) -> None:
        """A run of it ended: keep what is to be kept."""
        ...

    def exit(self, outputs: Mapping[str, object]) -> int:
        """The exit code of a run that completed."""
        ...

    def said(self, home: Home, found: Shown) -> tuple[dict[str, Any], str]:
        """What it came to, for the document of the intent and for the screen."""
        ...


def runs_of(found: Shown) -> Runs | None:
    """The plug-in's runs that an intent is of; None: the kernel's own."""
    if found.intent is None or found.plan is None:
        return None
    known = (load_named(plugin.runs) for plugin in plugins() if plugin.runs)
    return next((one for one in known if one.fits(found)), None)
