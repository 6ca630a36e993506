"""Which model answers the steps of a plan: a table (the core module `step`) routes them by their kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.store.home import Home
from executor.tools.tool import unheard
from executor.walker.interfaces import StepAnswer, StepModel
from ir import STEP_KINDS, PlanTree
from mcl.compiler.execution import ModelReasoner
from mcl.core.errors import ModelError
from mcl.language.mtx.core import Core, core_of
from mcl.model.protocol import copies_only
from mcl.usecases.models import KnownModel, Models

if TYPE_CHECKING:
    from mcl.model import Model

USED, ADDED = "used", "added"
_NEEDS: Final = ("copy", "write")
_FIX: Final = "mcl model add FILE.gguf, or name one with --model; mcl model list shows what is here"


@dataclass(frozen=True)
class StepRules:
    """The table. needs: what a model must be able to do for a kind of step. ask: whom, in this order."""

    needs: dict[str, str]
    ask: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, core: Core) -> StepRules:
        """Read it. Raises SkillError NO_SETTING, BAD_SETTING."""
        module = core["step"]
        needs, ask = {kind: module.text(f"needs.{kind}") for kind in STEP_KINDS}, {}
        for kind in STEP_KINDS:
            if needs[kind] not in _NEEDS:
                raise module.bad(f"needs.{kind}", "is none of copy, write", "write copy or write")
            ask[kind] = tuple(module.text(f"ask.{kind}").split())
            if not ask[kind]:
                raise module.bad(f"ask.{kind}", "names nobody", "name used, added or a model")
        for key in (f"{family}.{name}" for family in ("needs", "ask") for name in module.family(family)):
            if key.partition(".")[2] not in STEP_KINDS:
                raise module.bad(key, "is no kind of step", f"kinds: {' '.join(STEP_KINDS)}")
        return cls(needs, ask)


@dataclass(frozen=True)
class _Candidate:
    """A model that may be asked. model: where it is open already."""

    name: str
    digest: str
    writes: bool
    path: Path | None = None
    model: Model | None = None


class StepModels:
    """Whom the steps of a run are asked of; a Reasoner of the walker.

    given: the model that was named for this run, which alone is asked then; ai: False for the matcher alone.
    """

    def __init__(self, home: Home, given: Path | Model | None = None, *, ai: bool = True) -> None:
        self._home, self._given, self._ai = home, given, ai
        self._reasoners: dict[str, ModelReasoner] = {}

    @cached_property
    def _rules(self) -> StepRules:
        return core_of(self._home.path).once(StepRules.of)

    @cached_property
    def _models(self) -> Models:
        return Models(self._home)

    def model_for(self, kind: str) -> StepModel:
        """Which model is asked for a step of a kind ("" for `reason`).

        Raises ModelError NO_MODEL where none that is here can answer it; SkillError of the table.
        """
        found = self._choose(kind or "reason")
        return StepModel(found.name, found.digest, found.writes)

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> StepAnswer:
        """See `ModelReasoner`; raises as `model_for` too."""
        return await self.reason_live(system=system, user=user, outputs=outputs, kind=kind, tell=unheard)

    async def reason_live(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str, tell: Callable[[bytes], None]
    ) -> StepAnswer:
        """The same, told as it is written."""
        chosen = self._choose(kind or "reason")
        reasoner = self._reasoners.get(chosen.digest)
        if reasoner is None:
            reasoner = self._reasoners[chosen.digest] = ModelReasoner(lambda: self._open(chosen))
        return await reasoner.reason_live(system=system, user=user, outputs=outputs, kind=kind, tell=tell)

    def _open(self, chosen: _Candidate) -> Model:
        if chosen.model is not None:
            return chosen.model
        return self._models.open(path=chosen.path, ai=chosen.path is not None)

    def _choose(self, kind: str) -> _Candidate:
        need = self._rules.needs.get(kind, "write")
        refused: list[str] = []
        for word in self._rules.ask.get(kind, (USED,)):
            for one in self._candidates(word):
                if need == "copy" or one.writes:
                    return one
                refused.append(f"{one.name} copies words of what it is given, and does not write")
        why = "; ".join(dict.fromkeys(refused)) or "none of those that the table names is here"
        message = f"no model here can answer a step of the kind {kind}: {why}"
        raise ModelError("NO_MODEL", message, fix=_FIX)

    def _candidates(self, word: str) -> Iterator[_Candidate]:
        if word == USED:
            yield self._used
        elif self._given is None and self._ai:  # who names one means that one
            for name, one in self._added.items():
                if word in (ADDED, name):
                    yield one

    @cached_property
    def _used(self) -> _Candidate:
        if self._given is not None and not isinstance(self._given, Path):
            model = self._given
            return _Candidate(model.version, model.digest, not copies_only(model), model=model)
        known = self._models.list()
        if not self._ai:
            return next(_candidate(one) for one in known if one.path is None)
        if self._given is None:
            found = next((one for one in known if one.in_use), None)
            if found is None:
                raise ModelError("MODEL_MISSING", "the model in use is not here", fix=_FIX)
            return _candidate(found)
        from mcl.model.files import open_model_file

        place = self._models.named(self._given)
        file = open_model_file(place, home_path=self._home.path)
        name = next((one.name for one in known if one.digest == file.digest), place.name)
        return _Candidate(name, file.digest, _writes(file.path), place)

    @cached_property
    def _added(self) -> dict[str, _Candidate]:
        """The others, by their names: those whose file is there as it was added."""
        others = [one for one in self._models.list() if not one.in_use and one.path is not None]
        return {one.name: _candidate(one) for one in others if not one.fault}


def unanswerable(
    home: Home, plan: PlanTree, given: Path | Model | None = None, *, ai: bool = True
) -> Iterator[tuple[str, ModelError]]:
    """The steps of a plan that no model of a home can answer, each with why. given, ai: as of StepModels."""
    models = StepModels(home, given, ai=ai)
    for node, _ in plan.root.walk():
        if node.step is not None:
            try:
                models.model_for(node.step.kind)
            except ModelError as problem:
                yield node.id, problem


def _candidate(known: KnownModel) -> _Candidate:
    writes = known.path is not None and not known.fault and _writes(known.path)
    return _Candidate(known.name, known.digest, writes, known.path)


def _writes(path: Path) -> bool:
    """Whether a model writes text of its own: one with a form of ours marks and copies."""
    from mcl.model.files import read_header

    return read_header(path).metadata.get("mcl.form") is None
