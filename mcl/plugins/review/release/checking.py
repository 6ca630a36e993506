"""All checks of a release, in the order of rules.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from executor.core.clock import Clock
from executor.core.errors import ScopeError, ToolError
from mcl.core.errors import ReviewError
from mcl.core.loops import at_once
from mcl.plugins.review.drift.drift import DriftReport
from mcl.plugins.review.drift.rules import Flaw, bounded
from mcl.plugins.review.drift.tools import ToolDocuments
from mcl.plugins.review.drift.tree import Tree
from mcl.plugins.review.release.compiling import compile_flaws, python_files
from mcl.plugins.review.release.licence import licence_file, licence_flaws
from mcl.plugins.review.release.report import Check, ReleaseReport, Status, status_of
from mcl.plugins.review.release.reviewed import changed, review_flaws, scan_flaws
from mcl.plugins.review.release.rules import Looked, release_rules
from mcl.plugins.review.release.tracked import clean_flaws, merge_flaws, tracked_flaws

if TYPE_CHECKING:
    from mcl.plugins.review.memory import Memories

Step = Callable[[str, int, int, str], None]
"""Told which check is made, how much of how much of it is done, and of what."""

_ELSEWHERE: Final = ("maps", "documents")  # parts of the drift that are one check


@dataclass(frozen=True)
class Tested:
    """What became of the tests. intent: of the call that ran them or was refused, "" where there was none."""

    status: Status
    said: str
    flaws: tuple[Flaw, ...] = ()
    intent: str = ""


@dataclass(frozen=True)
class Release:
    """What the checks look at. tests: runs them, or says why not."""

    tree: Tree
    drift: DriftReport
    memories: Memories
    clock: Clock
    tests: Callable[[], Tested]

    def check(self, step: Step) -> ReleaseReport:
        """Make all checks. The tests run last: they may leave files behind."""
        made: dict[str, Check] = {}
        ways: dict[str, Callable[[Looked, Step], Check]] = {
            "versions": self._versions,
            "tools": self._tools,
            "compile": self._compile,
            "drift": self._drift,
            "clean": self._clean,
            "merges": self._merges,
            "tracked": self._tracked,
            "licence": self._licence,
            "reviews": self._reviews,
            "scan": self._scan,
        }
        rules = release_rules()
        for looked in rules.checks:
            if looked.id in ways:
                step(looked.title, 0, 1, "")
                made[looked.id] = ways[looked.id](looked, step)
        by_id = {looked.id: looked for looked in rules.checks}
        step(by_id["tests"].title, 0, 1, "")
        tested = self.tests()
        made["tests"] = Check(by_id["tests"], tested.status, tested.said, tested.flaws)
        checks = tuple(made[looked.id] for looked in rules.checks)
        return ReleaseReport(self.tree.workspace.root, self.drift.version, checks, tested.intent)

    def _versions(self, looked: Looked, step: Step) -> Check:
        flaws = self.drift.of("versions")
        if not self.drift.version and not flaws:
            return Check(looked, "does not apply", "no file tells a version")
        return _made(looked, flaws, f"version {self.drift.version or 'not known'}")

    def _tools(self, looked: Looked, step: Step) -> Check:
        if not ToolDocuments(self.tree).there:
            return Check(looked, "does not apply", "no tool_contracts.json and no TOOL_SAFETY.md")
        return _made(looked, self.drift.of("tools"), "tools, documents and pages name the same")

    def _compile(self, looked: Looked, step: Step) -> Check:
        files = python_files(self.tree)
        if not files:
            return Check(looked, "does not apply", "no Python files")
        flaws = compile_flaws(self.tree, release_rules(), _of(step, looked))
        said = _many(len(files), "Python file")
        return _made(looked, flaws, said, of=f"in {said}")

    def _drift(self, looked: Looked, step: Step) -> Check:
        flaws = [one for part in _ELSEWHERE for one in self.drift.of(part)]
        return _made(looked, flaws, "pages and maps say how it is")

    def _clean(self, looked: Looked, step: Step) -> Check:
        checkout = self.tree.checkout
        if checkout is None and not self.tree.closed:
            return Check(looked, "does not apply", "no git repository")
        if checkout is None:
            flaw = release_rules().flaws.flaw("GIT_UNREADABLE", ".", self.tree.closed, fix=self.tree.way_out)
            return _made(looked, [flaw], "")
        flaws = clean_flaws(checkout, self.drift.version, release_rules())
        return _made(looked, flaws, f"all is committed, at {checkout.head[:12] or 'no commit'}")

    def _merges(self, looked: Looked, step: Step) -> Check:
        return _made(looked, merge_flaws(self.tree, release_rules(), _of(step, looked)), "no mark of a merge")

    def _tracked(self, looked: Looked, step: Step) -> Check:
        return _made(looked, tracked_flaws(self.tree, release_rules()), "no secret file, no big file")

    def _licence(self, looked: Looked, step: Step) -> Check:
        return _made(looked, licence_flaws(self.tree, release_rules()), licence_file(self.tree))

    def _reviews(self, looked: Looked, step: Step) -> Check:
        known, decisions = self.memories.history.files(), self.drift.of("decisions")
        if not known and not decisions:
            return Check(looked, "does not apply", "nothing was reviewed on this machine")
        flaws = (*review_flaws(self.tree, self.memories, release_rules()), *decisions)
        made = _made(looked, flaws, f"{len(known):,} files were reviewed")
        return replace(made, status="noted") if made.flaws else made

    def _scan(self, looked: Looked, step: Step) -> Check:
        try:
            found = at_once(partial(changed, self.tree, self.clock))
        except (ReviewError, ScopeError, ToolError) as problem:
            flaw = release_rules().flaws.flaw("SCAN_PARTIAL", ".", problem.message, fix=problem.fix)
            return _made(looked, [flaw], "")
        files = len(found.target.pieces) if found.target else 0
        since = f"changed since {found.since}" if found.since else "in all"
        flaws = scan_flaws(found, release_rules(), _of(step, looked), self.memories.dismissals.known())
        said = f"{_many(files, 'file')} {since}"
        return _made(looked, flaws, said, of=f"in {said}")


def _made(looked: Looked, flaws: Iterable[Flaw], said: str, *, of: str = "") -> Check:
    """A check that was made. said: told where there is no flaw; else how many there are, and of what."""
    found = list(flaws)
    if not found:
        return Check(looked, "pass", said)
    told = bounded(found, release_rules().flaws, more="MORE_FLAWS")
    count = f"{len(found):,} flaw{'s' if len(found) > 1 else ''}"
    return Check(looked, status_of(found), f"{count} {of}".rstrip(), told)


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def _of(step: Step, looked: Looked) -> Callable[[int, int, str], None]:
    return lambda done, total, what: step(looked.title, done, total, what)
