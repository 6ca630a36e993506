"""`mcl release check` and `mcl review drift`: may this repository be released, and does it say how it is?"""

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from executor.core.errors import ToolError
from executor.gate.grants import workspace_of
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.project.suites import Folder, detect
from mcl.catalog.contracts import contracts_of
from mcl.catalog.tools import registry
from mcl.core.event_loop import at_once, outside_loop
from mcl.core.home import open_home
from mcl.plugins.review.drift.drift import DriftReport, find_drift
from mcl.plugins.review.drift.tree import Progress, RepositoryTree, look, quiet
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.release.checks import ReleaseInputs, Step, TestResult
from mcl.plugins.review.release.report import ReleaseReport, release_rules
from mcl.usecases.call import Called, call_tool

if TYPE_CHECKING:
    from executor.walker.questions import People
    from mcl.usecases.plans import Planned


def review_drift(
    workspace: Path | None = None, *, progress: Progress = quiet, home: Home | None = None
) -> DriftReport:
    """Look for drift in a repository (default: the current folder). Nothing is written, signed or run.

    progress: told how many of how many parts are done, and which is next.

    Raises:
        ScopeError: the folder may not be opened. ReviewError: TREE_TOO_LARGE. MemoryStoreError, HomeError.
    """
    outside_loop("review_drift", plugin=True)
    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as place:
        tree = at_once(partial(look, place, home.clock))
        return _drift(home, tree, ReviewMemories(home, place.root), progress)


def _drift(home: Home, tree: RepositoryTree, memories: ReviewMemories, progress: Progress) -> DriftReport:
    known, cache = contracts_of(registry()), home.path / "cache"
    return find_drift(tree, contracts=known, memories=memories, cache=cache, progress=progress)


_TOOL = "process/tests"
_SAID = 200  # characters of the line that a suite ends with


def check_release(
    workspace: Path | None = None,
    *,
    tests: bool = True,
    people: "People | None" = None,
    step: Step = lambda title, done, total, what: None,
    home: Home | None = None,
) -> ReleaseReport:
    """Look at a repository (default: the current folder) as it would be released.

    All but the tests only reads. The tests are programs of the repository: they are one call of process/tests
    that is signed, judged by the gate, run and kept in the journal like any other. Where the gate refuses it
    (the agent may not run programs: `mcl grant add shell`), that is kept too, and the check says "not run".

    Args:
        tests: False: do not run them. people: who is asked where the gate wants it. step: told which check is
            made, and how far it is.

    Raises:
        ScopeError: the folder may not be opened. ReviewError: TREE_TOO_LARGE. MemoryStoreError, HomeError.
    """
    outside_loop("check_release", plugin=True)
    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as place:
        tree = at_once(partial(look, place, home.clock))
        memories = ReviewMemories(home, place.root)
        drift = _drift(home, tree, memories, partial(step, "drift"))
        release = ReleaseInputs(
            tree, drift, memories, home.clock, lambda: _tested(place, home, people) if tests else _left_out()
        )
        return release.check(step)


def _left_out() -> TestResult:
    flaw = release_rules().flaws.flaw("TESTS_NOT_RUN", ".", "they were left out", fix="leave --no-tests out")
    return TestResult("not run", "left out", (flaw,))


def _tested(workspace: Workspace, home: Home, people: "People | None") -> TestResult:
    flaws = release_rules().flaws
    try:
        with workspace.open_folder(".") as descriptor:
            suite = detect(Folder(workspace, ".", descriptor))
    except ToolError:
        return TestResult(
            "warning", "no tests are known", (flaws.flaw("NO_TESTS", ".", "no tests are known"),)
        )

    def agree(seen: "Planned") -> bool:
        return True  # whoever asks for the check asks for the tests

    called = call_tool(_TOOL, {"path": "."}, agree=agree, workspace=workspace.root, people=people, home=home)
    if called.refused is not None:
        why = called.refused
        fix = why.example if why.code == "CAPABILITY_DENIED" else why.fix
        flaw = flaws.flaw("TESTS_NOT_RUN", ".", f"{why.code}: {why.reason}", fix=fix)
        return TestResult("not run", f"{suite}: not allowed", (flaw,), called.intent_id)
    return _ended(called, suite)


def _ended(called: Called, suite: str) -> TestResult:
    flaws, outcome, output = release_rules().flaws, called.outcome, called.output
    failure = outcome.failure if outcome else None
    if failure is not None:
        said = f"{failure.code}: {failure.message}"
        if failure.code in ("NO_TESTS",):
            return TestResult("warning", suite, (flaws.flaw("NO_TESTS", ".", said),), called.intent_id)
        if failure.code in ("GATE_DENIED", "GATE_TIMEOUT", "COMMAND_NOT_FOUND", "SCOPE_CONTENTION"):
            flaw = flaws.flaw("TESTS_NOT_RUN", ".", said, fix=failure.fix)
            return TestResult("not run", f"{suite}: not run", (flaw,), called.intent_id)
        return TestResult("blocked", suite, (flaws.flaw("TESTS_BROKEN", ".", said),), called.intent_id)
    if not isinstance(output, Mapping):
        flaw = flaws.flaw("TESTS_NOT_RUN", ".", f"the run ended as {outcome.state if outcome else 'nothing'}")
        return TestResult("not run", f"{suite}: not run", (flaw,), called.intent_id)
    line = str(output.get("text", "")).partition("\n")[0][:_SAID]
    if output.get("passed") is True:
        return TestResult("pass", line, (), called.intent_id)
    return TestResult("blocked", line, (flaws.flaw("TESTS_FAIL", ".", line),), called.intent_id)
