"""All checks of a release, in the order of rules.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from executor.core.clock import Clock
from executor.core.errors import ScopeError, ToolError
from executor.tools.project.changes import CONFLICTS
from executor.tools.project.sources import language_of
from executor.tools.tool import Bench
from mcl.core.errors import ReviewError
from mcl.core.event_loop import at_once
from mcl.core.text import counted
from mcl.plugins.review.drift.drift import DriftReport
from mcl.plugins.review.drift.project import ProjectVersion, version_of
from mcl.plugins.review.drift.rules import RepositoryFlaw, bounded
from mcl.plugins.review.drift.tools import ToolDocuments
from mcl.plugins.review.drift.tree import GitState, Progress, RepositoryTree, plain_files, quiet, size_of
from mcl.plugins.review.release.compilation import compile_flaws, python_files
from mcl.plugins.review.release.report import (
    CheckKind,
    ReleaseCheck,
    ReleaseReport,
    ReleaseRules,
    Status,
    release_rules,
    status_of,
)

if TYPE_CHECKING:
    from mcl.plugins.review.memory.history import ReviewMemories
    from mcl.plugins.review.piece import ReviewTarget
    from mcl.plugins.review.scan.weights import KnownMarks


_STRONG: Final = ("CRITICAL", "RISK", "ARCHITECTURE")
_MOST: Final = 5000  # files that are scanned
_UNSEEN: Final = ("name", "unreadable", "too deep")  # reasons why a file that may be code was not scanned …
_UNSEEN_CODE: Final = ("too large", "binary")  # … and such as many files have that are none
_SECRET: Final = "secret"  # noqa: S105  # what the rules for secrets begin with


def review_flaws(
    tree: RepositoryTree, memories: ReviewMemories, rules: ReleaseRules
) -> Iterator[RepositoryFlaw]:
    """Blocking findings of the last review of each file that is still there."""
    for review in memories.history.open():
        if review.file not in tree.known:
            continue
        for one in review.findings:
            if one.blocking:
                code = "OPEN_FINDING" if one.severity in _STRONG else "OPEN_WARNING"
                said = f"{one.severity} in a {review.mode} review: {_first(one.body)}"
                yield rules.flaws.flaw(code, one.location, said, mild=rules.places.is_mild(one.file))
        if review.left_out:
            said = f"{review.left_out} more findings of a {review.mode} review"
            yield rules.flaws.flaw("OPEN_WARNING", review.file, said)


@dataclass(frozen=True)
class ChangesToScan:
    """What is to be scanned: since a tag, or all ("" then); None where nothing changed."""

    since: str
    target: ReviewTarget | None


async def changed(tree: RepositoryTree, clock: Clock) -> ChangesToScan:
    """What changed since the last tag; where there is none, all.

    Raises:
        ReviewError, ScopeError, ToolError: as ``look_at``.
    """
    from mcl.plugins.review.target import look_at

    bench = Bench(tree.workspace, clock, "read", 1 << 20, "")
    since = tree.checkout.last_tag if tree.checkout else ""
    try:
        return ChangesToScan(
            since, await look_at(bench, base=since) if since else await look_at(bench, path=".")
        )
    except ReviewError as problem:
        if problem.code in ("NOTHING_CHANGED", "NO_SOURCE"):
            return ChangesToScan(since, None)
        raise


def scan_flaws(
    scanned: ChangesToScan, rules: ReleaseRules, progress: Progress = quiet, known: KnownMarks | None = None
) -> Iterator[RepositoryFlaw]:
    """What the scan finds in the lines that changed and a reader should judge. known: what was dismissed on
    this machine, which is told and counts all the same."""
    from mcl.plugins.review.scan.patterns import ScanSource, scan_source

    target = scanned.target
    if target is None:
        return
    pieces = target.pieces[:_MOST]
    for number, piece in enumerate(pieces):
        progress(number, len(pieces), piece.path)
        lines = None if piece.whole else piece.judged
        for one in scan_source(ScanSource(piece.path, piece.text), lines=lines, known=known):
            if one.blocking:
                secret = one.rule.startswith(_SECRET) and one.severity in _STRONG
                code = "SCAN_SECRET" if secret else "SCAN_FINDING"
                dismissed = " (dismissed on this machine)" if known and known.is_gone(one.mark) else ""
                said = f"{one.rule}: {_first(one.body)}{dismissed}"
                yield rules.flaws.flaw(code, one.location, said, mild=rules.places.is_mild(piece.path))
    for skipped in target.skipped:
        if skipped.why in _UNSEEN or (skipped.why in _UNSEEN_CODE and language_of(skipped.path)):
            yield rules.flaws.flaw("SCAN_PARTIAL", skipped.path, f"it was not scanned: {skipped.why}")
    if len(target.pieces) > _MOST or target.truncated:
        said = f"{len(pieces):,} files were scanned; there are more"
        yield rules.flaws.flaw("SCAN_PARTIAL", ".", said)


def _first(body: str) -> str:
    return body.partition("\n")[0]


# ---- Is there a licence?

_BEGINNINGS: Final = ("license", "licence", "copying", "unlicense", "mit-license")


def licence_file(tree: RepositoryTree) -> str:
    """The first file with a licence, "" where there is none."""
    top = [path for name, path in sorted(tree.folded.items()) if name.startswith(_BEGINNINGS)]
    top += [path for path in tree.files if path.casefold().startswith("licenses/")]
    return top[0] if top else ""


def licence_flaws(tree: RepositoryTree, rules: ReleaseRules) -> Iterator[RepositoryFlaw]:
    """A warning where there is none."""
    if not licence_file(tree):
        yield rules.flaws.flaw("NO_LICENCE", ".", "no file LICENSE, COPYING or the like is there")


# ---- What version control holds and says: what is not committed, marks of merges, secret and big files.

_MARKS: Final = ("<<<<<<< ", "=======", ">>>>>>> ")
_FENCES: Final = ("```", "~~~")
_PAGES: Final = (".md", ".rst", ".markdown", ".txt", ".adoc")
_MODULE: Final = "160000"  # git's mode of a submodule
_EVERY: Final = 100  # files between two words of progress


def clean_flaws(checkout: GitState, version: str, rules: ReleaseRules) -> Iterator[RepositoryFlaw]:
    """What is not committed, what was begun and not ended, submodules, and a version that is another commit's
    already."""
    flaw = rules.flaws.flaw
    if checkout.under_way:
        yield flaw("UNDER_WAY", ".git", f"{checkout.under_way} is under way")
    for code, path in checkout.changes:
        if code == "??":
            yield flaw("UNTRACKED", path, "it is not in version control")
        else:
            said = (
                "it is in conflict"
                if code in CONFLICTS
                else f"it is changed and not committed ({code.strip()})"
            )
            yield flaw("UNCOMMITTED", path, said)
    for path in sorted(path for path, mode in checkout.tracked.items() if mode == _MODULE):
        said = "it is a repository of its own: neither what is in it was looked at, nor which commit it is at"
        yield flaw("SUBMODULE_UNSEEN", path, said)
    number = version_of(version) if version else None
    for tag, commit in checkout.tags.items() if number and not number.under_way else ():
        found = _released(tag)
        if found is not None and number is not None and found.same(number) and commit != checkout.head:
            said = f"version {version} has the tag {tag} at {commit[:12]}; this is {checkout.head[:12]}"
            yield flaw("ALREADY_RELEASED", tag, said)


def _released(tag: str) -> ProjectVersion | None:
    """The version that a tag stands for: v1.2.3, 1.2.3, release-1.2.3."""
    return version_of(tag) or version_of(tag.rpartition("-")[2] if tag.startswith("release-") else "")


def merge_flaws(
    tree: RepositoryTree, rules: ReleaseRules, progress: Progress = quiet
) -> Iterator[RepositoryFlaw]:
    """Files with both sides of a merge in them: the three marks at the beginnings of lines, in order."""
    paths = plain_files(tree.checkout) if tree.checkout else tree.files
    for number, path in enumerate(paths):
        if number % _EVERY == 0:
            progress(number, len(paths), path)
        found = tree.beginning(path)
        data = found[0] if found is not None else b""
        if b"<<<<<<< " not in data or b">>>>>>> " not in data:
            continue
        line, quoted = _marks(data.decode("utf-8", "replace"), page=path.endswith(_PAGES))
        if line:
            mild = quoted or rules.places.is_mild(path)
            said = "both sides of a merge are in the file"
            yield rules.flaws.flaw("MERGE_MARKS", f"{path}:{line}", said, mild=mild)
    if tree.spent or tree.cut:
        yield rules.flaws.flaw("NOT_READ", ".", "there are more files, or larger ones, than are looked at")


def _marks(text: str, *, page: bool) -> tuple[int, bool]:
    """The line of the first mark of a merge, 0 where there is none; and whether a page shows it as code."""
    wanted, first, fenced, quoted = 0, 0, False, False
    for number, line in enumerate(text.splitlines(), 1):
        if page and line.lstrip().startswith(_FENCES):
            fenced = not fenced
        mark = _MARKS[wanted]
        if line == mark if wanted == 1 else line.startswith(mark):
            first, quoted = (number, fenced) if wanted == 0 else (first, quoted)
            wanted += 1
            if wanted == len(_MARKS):
                return first, quoted
    return 0, False


def tracked_flaws(tree: RepositoryTree, rules: ReleaseRules) -> Iterator[RepositoryFlaw]:
    """Files that should not be in version control: secret by their name, or big."""
    flaw, places = rules.flaws.flaw, rules.places
    for path in plain_files(tree.checkout) if tree.checkout else tree.files:
        if code := places.secret(path):
            yield flaw(code, path, "its name is that of a file with secrets", mild=places.is_mild(path))
        elif (size := size_of(tree, path)) > places.big:
            yield flaw("BIG_FILE", path, f"it has {size:,} bytes")


Step = Callable[[str, int, int, str], None]
"""Told which check is made, how much of how much of it is done, and of what."""

_ELSEWHERE: Final = ("maps", "documents")  # parts of the drift that are one check


@dataclass(frozen=True)
class TestResult:
    """What became of the tests. intent: of the call that ran them or was refused, "" where there was none."""

    status: Status
    said: str
    flaws: tuple[RepositoryFlaw, ...] = ()
    intent: str = ""


@dataclass(frozen=True)
class ReleaseInputs:
    """What the checks look at. tests: runs them, or says why not."""

    tree: RepositoryTree
    drift: DriftReport
    memories: ReviewMemories
    clock: Clock
    tests: Callable[[], TestResult]

    def check(self, step: Step) -> ReleaseReport:
        """Make all checks. The tests run last: they may leave files behind."""
        made: dict[str, ReleaseCheck] = {}
        ways: dict[str, Callable[[CheckKind, Step], ReleaseCheck]] = {
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
        made["tests"] = ReleaseCheck(by_id["tests"], tested.status, tested.said, tested.flaws)
        checks = tuple(made[looked.id] for looked in rules.checks)
        return ReleaseReport(self.tree.workspace.root, self.drift.version, checks, tested.intent)

    def _versions(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        flaws = self.drift.of("versions")
        if not self.drift.version and not flaws:
            return ReleaseCheck(looked, "does not apply", "no file tells a version")
        return _made(looked, flaws, f"version {self.drift.version or 'not known'}")

    def _tools(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        if not ToolDocuments(self.tree).there:
            return ReleaseCheck(looked, "does not apply", "no tool_contracts.json and no TOOL_SAFETY.md")
        return _made(looked, self.drift.of("tools"), "tools, documents and pages name the same")

    def _compile(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        files = python_files(self.tree)
        if not files:
            return ReleaseCheck(looked, "does not apply", "no Python files")
        flaws = compile_flaws(self.tree, release_rules(), _of(step, looked))
        said = counted(len(files), "Python file")
        return _made(looked, flaws, said, of=f"in {said}")

    def _drift(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        flaws = [one for part in _ELSEWHERE for one in self.drift.of(part)]
        return _made(looked, flaws, "pages and maps say how it is")

    def _clean(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        checkout = self.tree.checkout
        if checkout is None and not self.tree.closed:
            return ReleaseCheck(looked, "does not apply", "no git repository")
        if checkout is None:
            flaw = release_rules().flaws.flaw("GIT_UNREADABLE", ".", self.tree.closed, fix=self.tree.way_out)
            return _made(looked, [flaw], "")
        flaws = clean_flaws(checkout, self.drift.version, release_rules())
        return _made(looked, flaws, f"all is committed, at {checkout.head[:12] or 'no commit'}")

    def _merges(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        return _made(looked, merge_flaws(self.tree, release_rules(), _of(step, looked)), "no mark of a merge")

    def _tracked(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        return _made(looked, tracked_flaws(self.tree, release_rules()), "no secret file, no big file")

    def _licence(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        return _made(looked, licence_flaws(self.tree, release_rules()), licence_file(self.tree))

    def _reviews(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        known, decisions = self.memories.history.files(), self.drift.of("decisions")
        if not known and not decisions:
            return ReleaseCheck(looked, "does not apply", "nothing was reviewed on this machine")
        flaws = (*review_flaws(self.tree, self.memories, release_rules()), *decisions)
        made = _made(looked, flaws, f"{len(known):,} files were reviewed")
        return replace(made, status="noted") if made.flaws else made

    def _scan(self, looked: CheckKind, step: Step) -> ReleaseCheck:
        try:
            found = at_once(partial(changed, self.tree, self.clock))
        except (ReviewError, ScopeError, ToolError) as problem:
            flaw = release_rules().flaws.flaw("SCAN_PARTIAL", ".", problem.message, fix=problem.fix)
            return _made(looked, [flaw], "")
        files = len(found.target.pieces) if found.target else 0
        since = f"changed since {found.since}" if found.since else "in all"
        flaws = scan_flaws(found, release_rules(), _of(step, looked), self.memories.dismissals.known())
        said = f"{counted(files, 'file')} {since}"
        return _made(looked, flaws, said, of=f"in {said}")


def _made(looked: CheckKind, flaws: Iterable[RepositoryFlaw], said: str, *, of: str = "") -> ReleaseCheck:
    """A check that was made. said: told where there is no flaw; else how many there are, and of what."""
    found = list(flaws)
    if not found:
        return ReleaseCheck(looked, "pass", said)
    told = bounded(found, release_rules().flaws, more="MORE_FLAWS")
    return ReleaseCheck(looked, status_of(found), f"{counted(len(found), 'flaw')} {of}".rstrip(), told)


def _of(step: Step, looked: CheckKind) -> Callable[[int, int, str], None]:
    return lambda done, total, what: step(looked.title, done, total, what)
