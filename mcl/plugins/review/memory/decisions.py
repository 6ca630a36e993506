"""Decisions of architecture: each a memory with an id that is never given again, and a Markdown file."""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from executor.core.errors import ScopeError
from executor.core.globs import Glob
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.sandbox.writing import alone
from ir.inline_secrets import without_secrets
from mcl.core.errors import ReviewError
from mcl.memory.memory import Memory
from mcl.plugins.review.memory.decision import (
    FOLDER,
    ID,
    KINDS,
    MAX_BYTES,
    STANDING,
    ArchitectureDecision,
    Kind,
    Status,
    body_of,
    checked,
    read_adr,
    write_adr,
)
from mcl.plugins.review.memory.place import TAG, WorkspaceMemory, file_name

RELEVANT: Final = 3  # decisions that a review is told
MOST: Final = 2_000  # files of decisions in one workspace
_KIND: Final = f"{TAG}.decision"
_TYPE: Final = "Constraint"
_FILE: Final = re.compile(rf"({ID.pattern})(?:-[^/]*)?\.md")
_MOST_ERRORS: Final = 20
_IDS: Final = 100_000_000  # an id has at most eight digits


@dataclass(frozen=True)
class DecisionDifference:
    """What files and memory do not agree on.

    what: `new` (a file that is not remembered), `changed` (both are there and say different things),
    `missing` (remembered, and its file is gone), `forgotten` (a file of what was forgotten), `unreadable`.
    path: the file, with a line where one cannot be read; id: "" where none is known.
    """

    what: Literal["new", "changed", "missing", "forgotten", "unreadable"]
    path: str
    id: str = ""
    why: str = ""


class Decisions:
    """The decisions of a workspace."""

    def __init__(self, place: WorkspaceMemory) -> None:
        self._place = place

    def decide(
        self,
        title: str,
        *,
        context: str = "",
        decision: str,
        consequences: str = "",
        files: Sequence[str] = (),
        status: Status = "accepted",
        kind: Kind = "decisions",
        intent: str = "",
        node: str = "",
        workspace: Workspace | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> tuple[ArchitectureDecision, bool]:
        """Remember a decision under the next id, and write its file; and whether that was done. What stands
        already, word for word, is not decided twice; its file is written again where it is gone.

        files: patterns of the paths that it is about (none: all). workspace: where its file is written,
        which is new and whole, or nothing is remembered; None: no file. check: called while another writer is
        waited for. Secrets are taken out. Raises ReviewError DECISION_SHAPE, DECISION_FULL; ScopeError;
        MemoryStoreError MEMORY_SHAPE; HomeError.
        """
        said = ArchitectureDecision(
            "ADR-0001",
            " ".join(title.split()),
            body_of(context, decision, consequences),
            kind,
            status,
            self._place.home.clock.now()[:10],
            tuple(" ".join(one.split()) for one in files),
        )
        said = _plain(said)
        with self._place.home.db.write():
            known = next((one for one in self.all() if _same(one, said)), None)
            if workspace is None:
                return (known, False) if known else (self._keep(self._next(said), intent, node), True)
            workspace.make_folder(FOLDER)
            with workspace.open_folder(FOLDER) as folder, alone(folder, FOLDER, check):
                if known and known.number in _numbered(workspace):
                    return known, False
                if there := self._left(said, workspace):
                    return self._keep(there, intent, node), True
                made = known or self._next(said, _numbered(workspace))
                data = write_adr(made)
                put = workspace.write(made.path, data, replace=False, check=check)
                return self._keep(replace(made, sha256=put.sha256), intent, node), True

    def all(self) -> tuple[ArchitectureDecision, ...]:
        """All decisions that are remembered, in the order of their ids."""
        found = (_read(one) for one in self._place.all(_TYPE, _KIND))
        return tuple(sorted((one for one in found if one), key=lambda one: one.number))

    def get(self, id: str) -> ArchitectureDecision | None:
        """One decision; None where none with this id is remembered."""
        if not ID.fullmatch(id):
            return None
        found = self._place.now().resolve(f"matrix://cortex/{_TYPE}/{self._place.id(id)}")
        return _read(found) if found else None

    def forget(self, id: str) -> None:
        """Put a tombstone on a decision. Its id is not given again, and its file is not touched.

        Raises ReviewError DECISION_UNKNOWN.
        """
        if self.get(id) is None:
            raise ReviewError(
                "DECISION_UNKNOWN", "no such decision", place=id, fix="list them: mcl review decisions"
            )
        self._place.store.forget(f"matrix://cortex/{_TYPE}/{self._place.id(id)}")

    def relevant(self, files: str | Sequence[str], n: int = RELEVANT) -> tuple[ArchitectureDecision, ...]:
        """The standing decisions about a file, or about several, at most 3: those about most of them first,
        then those whose patterns name them most closely, then the newest. Raises ReviewError REVIEW_PATH."""
        names = tuple(map(file_name, [files] if isinstance(files, str) else files))
        found: list[tuple[int, int, ArchitectureDecision]] = []
        for one in self.all():
            near = _nearness(one, names)
            if near:
                found.append((len(near), max(near), one))
        found.sort(key=lambda each: (-each[0], -each[1], -each[2].number))
        return tuple(one for *_, one in found[: max(0, min(n, RELEVANT))])

    def compare(self, workspace: Workspace) -> tuple[DecisionDifference, ...]:
        """What the files of a workspace and the memory do not agree on, in the order of the paths."""
        differences = [one for one, _ in self._compared(workspace)]
        return tuple(sorted(differences, key=lambda one: (one.path, one.what)))

    def take_in(self, workspace: Workspace) -> tuple[DecisionDifference, ...]:
        """Remember what the files of a workspace say and the memory does not, all or nothing; what it was.

        What was forgotten stays forgotten. Raises ReviewError DECISION_FILE where a file cannot be read,
        with all of these in `data["errors"]`.
        """
        with self._place.home.db.write():
            found = list(self._compared(workspace))
            if wrong := [one for one, _ in found if one.what == "unreadable"]:
                raise _unreadable(wrong)
            taken = [(one, read) for one, read in found if read and one.what in ("new", "changed")]
            for _, read in taken:
                self._keep(read, "", "")
        return tuple(one for one, _ in taken)

    def _compared(
        self, workspace: Workspace
    ) -> Iterator[tuple[DecisionDifference, ArchitectureDecision | None]]:
        """Each difference, with what the file says."""
        seen, numbers, there = dict[str, str](), self._numbers(), set[str]()
        for path, read in _files(workspace):
            if named := _file_id(path.partition(":")[0]):
                there.add(named[1])
            if isinstance(read, str):
                yield DecisionDifference("unreadable", path, why=read), None
                continue
            if read.id in seen:
                yield (
                    DecisionDifference("unreadable", path, read.id, f"{seen[read.id]} has the same id"),
                    None,
                )
                continue
            seen[read.id] = path
            known = self.get(read.id)
            if known is None:
                yield (
                    DecisionDifference("forgotten" if read.number in numbers else "new", path, read.id),
                    read,
                )
            elif known.says != read.says:
                yield DecisionDifference("changed", path, read.id, _differing(known, read)), read
        for one in self.all():
            if one.sha256 and one.id not in there | seen.keys():
                yield DecisionDifference("missing", one.path, one.id), None

    def _left(self, said: ArchitectureDecision, workspace: Workspace) -> ArchitectureDecision | None:
        """The file of just this decision that is not remembered: of somebody who ended before that."""
        given = self._numbers()
        for _, read in _files(workspace, given):
            if isinstance(read, ArchitectureDecision) and _same(read, said):
                return read
        return None

    def _next(self, said: ArchitectureDecision, others: frozenset[int] = frozenset()) -> ArchitectureDecision:
        """It under the next id: one above the highest, or, where a stranger's file has the last that there
        is, above the highest with room. others: numbers of files."""
        given = self._numbers() | others | {0}
        number = next((one + 1 for one in sorted(given, reverse=True) if one + 1 not in given | {_IDS}), 0)
        if not number:
            fix = "start again in a new folder"
            raise ReviewError("DECISION_FULL", "there are no more ids", place=FOLDER, fix=fix)
        return replace(said, id=f"ADR-{number:04d}")

    def _numbers(self) -> frozenset[int]:
        """The numbers that were ever given, also to what was forgotten."""
        ids = self._place.now().ids(_TYPE, begin := self._place.id("ADR-"))
        return frozenset(int(one.removeprefix(begin)) for one in ids if one.removeprefix(begin).isdigit())

    def _keep(self, decision: ArchitectureDecision, intent: str, node: str) -> ArchitectureDecision:
        data = {
            **{name: getattr(decision, name) for name in ("title", "kind", "status", "date", "sha256")},
            "files": "\n".join(decision.files),
            **({"intent": intent, "node": visible(node)[:200]} if intent else {}),
        }
        given = {
            "type": _TYPE,
            "id": decision.id,
            "text": f"{decision.title}\n\n{decision.body}",
            "data": data,
            "importance": 0.8,
        }
        given |= {"source": f"matrix://intent/{intent}#{visible(node)[:200]}"} if intent else {}
        tags = (f"kind.{decision.kind}", f"status.{decision.status}")
        written = self._place.store.write([self._place.made(given, kind=_KIND, tags=tags)])[0]
        return _read(written) or decision


def _read(memory: Memory) -> ArchitectureDecision | None:
    """The decision that a memory says; None where a person made it something else."""
    data = dict(memory.data)
    title, _, body = memory.text.partition("\n\n")
    made = ArchitectureDecision(
        id=memory.id.rpartition(".")[2],
        title=title,
        body=body,
        kind=data.get("kind", "decisions"),  # type: ignore[arg-type]  # checked below
        status=data.get("status", "accepted"),  # type: ignore[arg-type]
        date=data.get("date", memory.at[:10]),
        files=tuple(one for one in data.get("files", "").split("\n") if one),
        uri=memory.uri,
        sha256=data.get("sha256", ""),
    )
    try:
        return checked(made)
    except ReviewError:
        return None


def _nearness(decision: ArchitectureDecision, names: Sequence[str]) -> list[int]:
    """How closely a standing decision is about those of the files that it is about: characters of its
    pattern that are written out, 0 where it is about all files."""
    if decision.status not in STANDING:
        return []
    if not decision.files:
        return [0] * len(names)
    globs = [(1 + sum(sign not in "*?[]{}!" for sign in one), Glob.read(one)) for one in decision.files]
    best = (max((weight for weight, one in globs if one.matches(name)), default=0) for name in names)
    return [weight for weight in best if weight]


def _numbered(workspace: Workspace) -> frozenset[int]:
    """The numbers that files of the workspace have in their names, whatever they say. Raises ScopeError."""
    names = (name for kind in KINDS for name in _names(workspace, kind))
    return frozenset(int(found[2]) for name in names if (found := _file_id(name)))


def _file_id(path: str) -> re.Match[str] | None:
    return _FILE.fullmatch(path.rpartition("/")[2])


def _names(workspace: Workspace, kind: Kind) -> list[str]:
    """What lies in the folder of a kind, but for folders, in order. Raises ScopeError."""
    try:
        found = workspace.walk(f"{FOLDER}/{kind}", check=lambda: None, recursive=False)
        return sorted(one.path for one in found if one.kind != "folder")
    except ScopeError as error:
        if error.code != "NOT_FOUND":
            raise
        return []


def _same(one: ArchitectureDecision, other: ArchitectureDecision) -> bool:
    """Do both say the same, whenever and under whatever id?"""
    return replace(one, date=other.date, id=other.id).says == other.says


def _files(
    workspace: Workspace, without: Container[int] = ()
) -> Iterator[tuple[str, ArchitectureDecision | str]]:
    """The files of decisions, each with what it says or why that cannot be read; with the line in its path
    then. without: numbers in the names of files that are not opened."""
    number = 0
    for kind in KINDS:
        try:
            names = _names(workspace, kind)
        except ScopeError as error:
            yield f"{FOLDER}/{kind}", error.message
            continue
        for path in names:
            if not path.endswith(".md") or ((found := _file_id(path)) and int(found[2]) in without):
                continue
            number += 1
            if number > MOST:
                yield path, f"more than {MOST:,} files of decisions"
                return
            yield _file(workspace, path, kind)


def _file(workspace: Workspace, path: str, kind: Kind) -> tuple[str, ArchitectureDecision | str]:
    try:
        read = _plain(read_adr(workspace.read(path, MAX_BYTES + 1)[0], path))
    except (ReviewError, ScopeError) as error:
        return (error.place or path), error.message
    named = _file_id(path)
    if named is None or named[1] != read.id:
        return path, f"its name does not begin with its id, {read.id}"
    return path, read if read.kind == kind else f"it lies in {kind} and says kind: {read.kind}"


def _plain(one: ArchitectureDecision) -> ArchitectureDecision:
    """A decision as it is remembered, without secrets. Raises ReviewError DECISION_SHAPE."""
    files = tuple(map(without_secrets, one.files))
    return checked(
        replace(one, title=without_secrets(one.title), body=without_secrets(one.body), files=files)
    )


def _differing(one: ArchitectureDecision, other: ArchitectureDecision) -> str:
    names = ("title", "body", "kind", "status", "date", "files")
    return ", ".join(name for name in names if getattr(one, name) != getattr(other, name))


def _unreadable(wrong: Sequence[DecisionDifference]) -> ReviewError:
    first = wrong[0]
    more = f" (and {len(wrong) - 1} more files are wrong)" if len(wrong) > 1 else ""
    return ReviewError(
        "DECISION_FILE",
        f"{first.why}{more}",
        place=first.path,
        fix="repair it and try again; nothing was remembered",
        data={"errors": [{"place": one.path, "message": one.why} for one in wrong[:_MOST_ERRORS]]},
    )
