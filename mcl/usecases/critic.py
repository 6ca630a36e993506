"""The critic: what is tried where a run fails in a way that may be mended, before the intent ends as failed.

A small closed table of rules looks at what went wrong, and the first that knows something proposes a
correction. It is signed unseen and goes through materiality like any other: what is wider than what was
accepted waits for a new accept. How often that may be is `replans` of the core module `pipeline`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from executor.gate.context import Catalogue
from executor.gate.grants import workspace_of
from executor.store.home import Home
from executor.store.materiality.plans import has_effect, is_leaf
from executor.tools.manifest import Manifest
from executor.walker.criteria import Criterion
from executor.walker.engine import Failure
from executor.walker.interfaces import FailureMode, FailureModes, Replan
from ir import Intent, MclError, PlanNode, PlanTree, as_document
from mcl.usecases.corrections import Proposal, propose_correction, sign_correction

SIGNED: Final = "record.replan.signed"
REFUSED: Final = "record.replan.refused"
_MOST_NAMES: Final = 100  # names that are tried beside one that is taken

# What a skill says of a failure (`retry=` in §FAILURE_MODES) that lets the critic act on it.
AGAIN, ANOTHER_NAME = "again", "another_name"
_OF_MODELS: Final = ("MODEL_CRASHED",)  # failures of a step that another try may not have


@dataclass(frozen=True)
class Trouble:
    """What went wrong with a run.

    node: the one that failed, or that an unmet criterion looked at; None where none is known. mode: what the
    skill says of it. taken: is there something at a path?
    """

    intent: Intent
    plan: PlanTree
    code: str
    message: str
    passing: bool
    node: PlanNode | None
    mode: FailureMode
    manifest: Manifest | None
    taken: Callable[[str], bool]

    @property
    def says(self) -> str:
        """What went wrong, in a line."""
        return f"{self.node.id if self.node else 'its end'}: {self.code}: {self.message}"


@dataclass(frozen=True)
class Remedy:
    """What a rule proposes: patches of {"intent": …, "plan": …}, and the node from which it runs again."""

    rule: str
    says: str
    node: str
    patches: tuple[dict[str, Any], ...] = ()


# What has a plan written anew; None where there is none.
Rewrite: TypeAlias = Callable[[Trouble], PlanTree | None]


# ---- The rules: pure, in the order in which they are asked.


def next_alternative(trouble: Trouble) -> Remedy | None:
    """The node runs again with the next arguments that its plan offers; they were signed with it."""
    node = trouble.node
    if node is None or node.tool_call is None or not (left := _untried(node)):
        return None
    pointer = f"/plan{_pointer(trouble.plan.root, node.id)}/tool_call/args"
    patch = {"op": "replace", "path": pointer, "value": dict(left[0])}
    many = len(node.tool_call.alternatives)
    says = f"run {node.id} with the arguments {many - len(left) + 1} of {many} that the plan offers"
    return Remedy("alternative", says, node.id, (patch,))


def _untried(node: PlanNode) -> tuple[Mapping[str, str], ...]:
    """The arguments that the plan offers for a node, behind those that it has."""
    call = node.tool_call
    offered = call.alternatives if call is not None else ()
    taken = offered.index(call.args) + 1 if call is not None and call.args in offered else 0
    return offered[taken:]


def same_again(trouble: Trouble) -> Remedy | None:
    """The node runs again as it is: what went wrong passes, and doing it twice is doing it once."""
    node, manifest = trouble.node, trouble.manifest
    if node is None:
        return None
    told = trouble.mode.retry == AGAIN
    of_tool = manifest is not None and manifest.idempotent and (trouble.passing or told)
    of_model = node.step is not None and (trouble.code in _OF_MODELS or told)
    return Remedy("again", f"run {node.id} again", node.id) if of_tool or of_model else None


def another_name(trouble: Trouble) -> Remedy | None:
    """What was to be made is there already, and the skill lets it be called otherwise: the next free name, in
    the goal and in the plan."""
    call = trouble.node.tool_call if trouble.node is not None else None
    known = trouble.manifest is not None and trouble.mode.retry == ANOTHER_NAME
    if trouble.node is None or call is None or trouble.manifest is None or not known:
        return None
    modes = trouble.manifest.scope.paths
    paths = [call.args[name] for name, mode in modes.items() if mode != "read" and name in call.args]
    path = next((one for one in paths if "$" not in one and trouble.taken(one)), None)
    name = next((one for one in _names(path) if not trouble.taken(one)), None) if path else None
    if path is None or name is None:
        return None
    documents = {"intent": as_document(trouble.intent)["frame"], "plan": as_document(trouble.plan)["root"]}
    patches = [
        *_renamings(documents["intent"], "/intent/frame", path, name),
        *_renamings(documents["plan"], "/plan/root", path, name),
    ]
    return Remedy("another_name", f"call it {name}, as {path} is there already", trouble.node.id, (*patches,))


RULES: Final[tuple[Callable[[Trouble], Remedy | None], ...]] = (next_alternative, same_again, another_name)


def remedy_of(trouble: Trouble) -> Remedy | None:
    """What the first rule says that knows something."""
    return next((found for rule in RULES if (found := rule(trouble)) is not None), None)


def _names(path: str) -> Iterator[str]:
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.partition(".") if not name.startswith(".") else (name, "", "")
    number = re.fullmatch(r"(.*)-(\d{1,4})", stem)
    stem, first = (number[1], int(number[2]) + 1) if number else (stem, 2)
    yield from (f"{folder}{slash}{stem}-{one}{dot}{ending}" for one in range(first, first + _MOST_NAMES))


def _renamings(value: object, pointer: str, old: str, new: str) -> Iterator[dict[str, Any]]:
    if value == old:
        yield {"op": "replace", "path": pointer, "value": new}
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _renamings(item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", old, new)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _renamings(item, f"{pointer}/{place}", old, new)


def _pointer(root: PlanNode, node_id: str) -> str:
    """The JSON pointer of a node, from the plan on."""
    waiting = [(root, "/root")]
    while waiting:
        node, pointer = waiting.pop()
        if node.id == node_id:
            return pointer
        waiting += [(child, f"{pointer}/children/{place}") for place, child in enumerate(node.children)]
    raise AssertionError(f"{node_id} is a node of the plan")


# ---- The critic of a run.


class RunCritic:
    """Proposes corrections of the runs of one home.

    tools: all that a plan may call. failures: what skills say of failures. workspace: where the run works.
    most: how often a run may be corrected so. rewrite: writes another plan, where no rule knows anything.
    skills: folders of skills beside those of the home.
    """

    def __init__(
        self,
        home: Home,
        tools: Catalogue,
        failures: FailureModes,
        workspace: Path,
        *,
        most: int,
        rewrite: Rewrite | None = None,
        skills: Sequence[Path] = (),
    ) -> None:
        self._home, self._tools, self._failures = home, tools, failures
        self._workspace, self._most, self._rewrite = workspace, most, rewrite
        self._skills = skills

    def replan(self, intent_id: str, failure: Failure | None, criteria: Sequence[Criterion]) -> Replan | None:
        """What might mend a run that is about to end as failed; None where nothing is known, or it was tried
        often enough. Nothing is signed yet."""
        made = len(self._home.journal.rows(intent_id, kind=SIGNED))
        trouble = self._trouble(intent_id, failure, criteria) if made < self._most else None
        remedy = (remedy_of(trouble) or self._rewritten(trouble)) if trouble is not None else None
        if trouble is None or remedy is None:
            return None
        told = {
            "number": made + 1,
            "most": self._most,
            "rule": remedy.rule,
            "node": remedy.node,
            "code": trouble.code,
            "says": remedy.says,
        }
        try:
            proposal = propose_correction(
                intent_id,
                patches=remedy.patches,
                retry_from=remedy.node,
                reason=f"{trouble.code}: {remedy.says} ({made + 1} of {self._most})",
                skills=self._skills,
                home=self._home,
            )
        except MclError as problem:
            self._refused(intent_id, told, problem)
            return None
        if not self._may_repeat(proposal, remedy.node):
            return None
        says = f"re-plan {made + 1} of {self._most}: {remedy.says}"
        return Replan(
            proposal.intent,
            proposal.plan,
            frozenset(proposal.again),
            remedy.node,
            says,
            lambda: self._sign(proposal, told),
        )

    def _trouble(
        self, intent_id: str, failure: Failure | None, criteria: Sequence[Criterion]
    ) -> Trouble | None:
        view = self._home.journal.view(intent_id)
        if view.intent is None or view.plan is None:
            return None
        nodes = {node.id: node for node, _ in view.plan.root.walk()}
        if failure is not None:
            node, code, message = nodes.get(failure.node_id), failure.code, failure.message
            if node is None:  # below a dispatch: what that did already is not done again by itself
                return None
        else:
            unmet = next((one for one in criteria if not one.holds), None)
            if unmet is None:
                return None
            measured = str(unmet.evidence.get("by", "")).partition(".output.")[0]
            offering = [one.id for one in nodes.values() if _untried(one)]
            node = nodes.get(measured if measured in offering else offering[-1] if offering else measured)
            code, message = "CRITERION_NOT_MET", unmet.reason
        manifest = self._tools.find(node.tool_call.tool_ref) if node and node.tool_call else None
        return Trouble(
            view.intent,
            view.plan,
            code,
            message,
            failure is not None and failure.passing,
            node,
            self._mode(code, view.plan, node),
            manifest,
            self._taken,
        )

    def _rewritten(self, trouble: Trouble) -> Remedy | None:
        """A plan that a model wrote, written anew, and run from its beginning."""
        try:
            made = self._rewrite(trouble) if self._rewrite is not None else None
        except MclError:  # the model or the skill is not here any more
            made = None
        if made is None:
            return None
        patch = {"op": "replace", "path": "/plan/root", "value": as_document(made)["root"]}
        return Remedy("model", "run another plan, which the model wrote", made.root.id, (patch,))

    def _mode(self, code: str, plan: PlanTree, node: PlanNode | None) -> FailureMode:
        modes: Mapping[str, FailureMode] = self._failures.modes(plan.skill_ref)
        names = [code.lower(), *(["tool_failure"] if node is not None and node.tool_call else [])]
        return next((modes[name] for name in names if name in modes), FailureMode())

    def _taken(self, path: str) -> bool:
        with closing(workspace_of(self._home, self._workspace)) as workspace:
            try:
                return workspace.check(path) is not None
            except MclError:
                return True  # what may not be looked at may not be made either

    def _may_repeat(self, proposal: Proposal, node_id: str) -> bool:
        """Whether everything that runs again may: what is not idempotent is a person's to decide, but for the
        node that the rule is about."""
        again = set(proposal.again) - {node_id}
        for node, _ in proposal.plan.root.walk():
            if node.id not in again or not is_leaf(node) or not has_effect(node):
                continue
            manifest = self._tools.find(node.tool_call.tool_ref) if node.tool_call else None
            if manifest is None or not manifest.idempotent:
                return False
        return True

    def _sign(self, proposal: Proposal, told: dict[str, object]) -> bool:
        """Sign it, and say in the same commit why. False where that may not be, which is recorded."""
        try:
            with self._home.db.write():
                signed = sign_correction(proposal, home=self._home, unseen=True)
                body = {**told, "correction": signed.envelope, "material": signed.material}
                self._home.journal.record(SIGNED, body, intent=proposal.intent_id)
        except MclError as problem:
            self._refused(proposal.intent_id, told, problem)
            return False
        return True

    def _refused(self, intent_id: str, told: dict[str, object], problem: MclError) -> None:
        body = {**told, "refused": problem.code, "reason": problem.message}
        self._home.journal.record(REFUSED, body, intent=intent_id)
