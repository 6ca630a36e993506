"""`mcl review context` and `next`: the maps of a workspace, and what to review first by them."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.errors import ScopeError
from executor.gate.grants import workspace_of
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from ir.errors import MclError
from mcl.core.errors import ReviewError
from mcl.core.event_loop import at_once
from mcl.core.home import open_home
from mcl.core.text import some
from mcl.plugins.review.maps.documents import differing, load
from mcl.plugins.review.maps.files import read_all, stale
from mcl.plugins.review.maps.maps import FOLDER, IGNORE, AgedMaps, MappedFile, Maps, StaleEntry
from mcl.plugins.review.maps.ownership import uncommitted
from mcl.plugins.review.maps.survey import DueFile, Progress, due, survey
from mcl.plugins.review.memory.history import ReviewMemories

if TYPE_CHECKING:
    from mcl.usecases.call import Called
    from mcl.usecases.plans import Planned


TOOL: Final = "review/map"
_BUILD: Final = "mcl review context build"


@dataclass(frozen=True)
class MapsBuild:
    """What became of making the maps.

    maps: of the workspace as it is. differing: the files that were not there as these maps have them. called:
    the call that wrote them; None where there was nothing to write.
    """

    maps: Maps
    differing: tuple[str, ...]
    called: "Called | None" = None


@dataclass(frozen=True)
class MappedContext:
    """What the maps say of a file. stale: in what the file differs from them, "" where it does not. told:
    what a review of it is told first."""

    file: MappedFile
    why: str
    stale: str
    told: str


@dataclass(frozen=True)
class FileContext:
    """What a review of a file is told first. text: "" where nothing is known. without: why nothing of it is
    from the maps, "" where they know the file."""

    path: str
    text: str
    without: str


def build_context(
    *,
    agree: "Callable[[Planned, Maps, tuple[str, ...]], bool]",
    workspace: Path | None = None,
    progress: Progress = lambda done, total, what: None,
    home: Home | None = None,
) -> MapsBuild:
    """Make the maps of a workspace (default: the current folder) by a signed call of `review/map`; where they
    are there already, nothing is signed or written.

    agree: is shown the plan with the gate's verdict, the maps, and the files that would be written; only its
    True signs and runs it. progress: as for `mcl.plugins.review.maps.survey.survey`.

    Raises:
        ScopeError: the folder may not be opened, or what lies in the maps' place is no plain file.
        What `call_tool` raises.
    """
    home = home or open_home()
    place = workspace or Path.cwd()
    with closing(workspace_of(home, place)) as opened:
        seen = at_once(partial(survey, opened, cache=home.path / "cache", progress=progress))
        maps = seen.maps(ReviewMemories(home, opened.root).history.moments())
        wanted = tuple(differing(opened, maps))
    if not wanted:
        return MapsBuild(maps, ())
    from mcl.usecases.call import call_tool  # which is not needed where nothing is written

    called = call_tool(
        TOOL,
        {"folder": FOLDER, "ignore": IGNORE},
        agree=lambda planned: agree(planned, maps, wanted),
        workspace=place,
        home=home,
    )
    return MapsBuild(maps, wanted, called)


def show_context(
    file: str, *, mode: str = "comment", workspace: Path | None = None, home: Home | None = None
) -> MappedContext:
    """What the maps of a workspace say of one file, and what a review of it is told first.

    Args:
        file: below the workspace, or a path to it.
        mode: of the review.

    Raises:
        ReviewError: NO_MAPS, NOT_MAPPED, BAD_MAPS. ScopeError: the folder may not be opened.
    """
    from mcl.plugins.review.context import context_for

    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as opened:
        maps = _maps(opened)
        name = _named(file, opened)
        if (found := maps.files.get(name)) is None:
            raise ReviewError(
                "NOT_MAPPED",
                f"the maps of this workspace do not know {name!r}",
                place=name,
                fix=f"name a source file of it; if it is new: {_BUILD}",
            )
        now = read_all(opened, [name], lambda path, stamp: None, lambda done: None).files.get(name)
        old = "gone" if now is None else "changed" if now.sha256 != found.sha256 else ""
        known = AgedMaps(maps, {name: now.sha256 if now else ""})
        told = context_for(ReviewMemories(home, opened.root), known, name, mode)
        return MappedContext(found, maps.why(name), old, told.text)


def told_context(
    file: str, *, mode: str = "comment", workspace: Path | None = None, home: Home | None = None
) -> FileContext:
    """What a review of one file is told first, whether the maps know it or there are none.

    Raises:
        ReviewError: NOT_FOUND, UNKNOWN_MODE. ScopeError: the folder or the file may not be opened.
    """
    from mcl.plugins.review.context import context_for
    from mcl.plugins.review.contract import contract

    home, mode = home or open_home(), contract(mode).mode
    with closing(workspace_of(home, workspace or Path.cwd())) as opened:
        name = _named(file, opened)
        if opened.check(name) is None:
            raise ReviewError(
                "NOT_FOUND",
                f"there is no {name!r} in {opened.root}",
                place=name,
                fix="name a file of this folder, or the folder to work in: --workspace DIR",
            )
        now = read_all(opened, [name], lambda path, stamp: None, lambda done: None).files.get(name)
        try:
            maps, state = load(opened), ""
        except ReviewError as problem:
            maps, state = None, f"{problem.message}: {problem.place}"
        known = AgedMaps(maps, {name: now.sha256} if now else {}) if maps else None
        text = context_for(ReviewMemories(home, opened.root), known, name, mode).text
        if maps is None:
            state = state or "there are no maps"
        elif name not in maps.files:
            state = f"the maps do not know {name}"
        return FileContext(name, text, state)


def context_status(
    *, workspace: Path | None = None, home: Home | None = None
) -> tuple[Maps | None, tuple[StaleEntry, ...]]:
    """The maps of a workspace, None where there are none, and in what they differ from it. Nothing is written
    there.

    Raises:
        ReviewError: BAD_MAPS. ScopeError: the folder may not be opened.
    """
    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as opened:
        maps = load(opened)
        return maps, stale(opened, maps, cache=home.path / "cache") if maps else ()


def _maps(opened: Workspace) -> Maps:
    if (maps := load(opened)) is None:
        raise ReviewError("NO_MAPS", "this workspace has no maps yet", place=str(opened.root), fix=_BUILD)
    return maps


def _named(file: str, opened: Workspace) -> str:
    """The path of a file below the workspace, as the maps have it."""
    path = Path(file)
    if path.is_absolute():
        try:
            return path.relative_to(opened.root).as_posix()
        except ValueError:
            pass
    try:
        return "/".join(opened.split(file))
    except ScopeError:
        return file


def next_reviews(
    *,
    workspace: Path | None = None,
    progress: Progress = lambda done, total, what: None,
    home: Home | None = None,
) -> tuple[DueFile, ...]:
    """The files of a workspace (default: the current folder) that changed since their last review, those
    first that matter most. Nothing is written there, and maps need not have been made.

    Raises:
        ScopeError: the folder may not be opened.
    """
    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as opened:
        seen = at_once(partial(survey, opened, cache=home.path / "cache", progress=progress))
        dirty = at_once(partial(uncommitted, opened))
        return due(seen, ReviewMemories(home, opened.root).history.moments(), dirty)


# ---- What is to be known of the maps that a model was told of in a review.

_NAMED: Final = 3
_AGAIN: Final = "make them again: mcl review context build"


def maps_note(root: Path, told: Mapping[str, Any], looked: Mapping[str, Any]) -> str:
    """A sentence where the maps could not be read, or say of reviewed files what these were; else "".

    told: the output of review/context, {} where no model was asked. looked: that of review/look.
    """
    state = str(told.get("maps", ""))
    if state.startswith("unreadable"):
        return f"the model was told nothing of roles and symbols, {state}"
    if state != "read":
        return ""
    try:
        with closing(Workspace(root)) as workspace:
            maps = load(workspace)
    except MclError:  # they were there when the review began
        return ""
    known = maps.files if maps else {}
    old = [
        one["path"]
        for one in looked.get("files", ())
        if "sha256" in one and (one["path"] not in known or known[one["path"]].sha256 != one["sha256"])
    ]
    if not old:
        return ""
    return f"the maps are old for {some(old, _NAMED)}, and the model was told no symbols of them; {_AGAIN}"
