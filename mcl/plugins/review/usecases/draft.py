"""What a review would look at, and the Intent and plan of it; nothing is stored or run."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import skills as shipped
from executor.gate.grants import workspace_of
from executor.store.home import Home
from executor.tools.tool import Bench
from ir.errors import MclError
from mcl.catalog.tools.foreign import all_tools
from mcl.core.errors import ReviewError
from mcl.core.event_loop import at_once, outside_loop
from mcl.core.home import open_home
from mcl.language.mtx.files import Cache
from mcl.language.skills import load_skill
from mcl.plugins.review.contract import Mode, contract
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.piece import ReviewTarget
from mcl.plugins.review.target import in_folder, look_at
from mcl.usecases.models import BUNDLED, Models
from mcl.usecases.packs import JudgedPack, PackOrigin, asked_of_gate, planned, without_secrets

if TYPE_CHECKING:
    from mcl.model import Model

PACK: Final = Path(shipped.__file__).parent / "review" / "review-code"
MOST_ASKED: Final = 100  # files that a model is asked about in one review
_BUNDLED: Final = (
    "by the rules alone: the model that comes with mcl cannot tell a defect from its absence. Any chat model "
    "as a GGUF reviews better (--model PATH, or mcl model add); --model bundled asks it all the same"
)
Passes = Literal["rules", "one", "deep"]


@dataclass(frozen=True)
class ReviewRequest:
    """What a person wants reviewed. path: "" where it is a difference. base: the commit, "" without one.
    memories: the root of the memories where something is dismissed in them: what is dismissed later, or
    counts again, makes no difference to this review."""

    path: str
    base: str
    staged: bool
    mode: Mode
    passes: Passes
    model: str = ""
    memories: str = ""

    @property
    def prose(self) -> str:
        """The same in words."""
        changed = "what is staged" if self.staged else "what changed"
        what = self.path or (f"{changed} since {self.base[:12]}" if self.base else changed)
        how = {"rules": "by fixed rules", "one": "by rules and a model", "deep": "in three passes"}
        return f"review {what} ({self.mode}, {how[self.passes]})"

    def objects(self, contract: str) -> dict[str, str]:
        """What fills the slots of the pack. contract: the digest of the mode's."""
        return {
            "path": self.path,
            "base": self.base,
            "staged": "true" if self.staged else "",
            "mode": self.mode,
            "passes": self.passes,
            "contract": contract,
            "model": self.model,
            "memories": self.memories,
        }


@dataclass(frozen=True, kw_only=True)
class DraftedReview(JudgedPack):
    """A review as it would be run. note: what else a person should know of it."""

    asked: ReviewRequest
    note: str = ""


def draft_review(
    target: str = "",
    *,
    base: str = "",
    staged: bool = False,
    mode: str = "comment",
    deep: bool = False,
    ai: bool = True,
    model: "Path | Model | None" = None,
    workspace: Path | None = None,
    home: Home | None = None,
) -> DraftedReview:
    """Look at what is to be reviewed, plan it, and ask the gate.

    target: a file or a folder; a relative one is looked for from here, then in the workspace. base: a
    revision in place of it. staged: what would be committed (against `base`, default: the last commit).
    mode: comment, architecture, security or risk. deep: three passes. ai: False for the rules alone. model:
    a GGUF, the name of a known model, or an open one (None: the one in use, but for the bundled one, which is
    asked by its name alone). workspace: default: the current folder.

    Raises ReviewError UNKNOWN_MODE, DEEP_NEEDS_MODEL, FOLDER_NEEDS_NO_AI, TOO_LARGE, OUTSIDE_WORKSPACE,
    NOTHING_NAMED, TWO_TARGETS, NOT_FOUND, NOT_TEXT, NO_SOURCE, NOTHING_CHANGED, NOT_A_REPOSITORY,
    UNKNOWN_REVISION, LOOKS_LIKE_OPTION, SECRET_INLINE, NOT_PLANNED; ScopeError; ToolError; ModelError.
    """
    outside_loop("draft_review", plugin=True)
    bound = contract(mode)
    home, root = home or open_home(), (workspace or Path.cwd())
    place = workspace_of(home, root)
    try:
        path = _inside(target, place.root) if target else ""
        seen = at_once(partial(_looked, Bench(place, home.clock, "read", 1 << 20, ""), path, base, staged))
    except MclError as problem:
        if (told := _told(problem, place.root)) is None:
            raise
        raise told from problem
    finally:
        place.close()
    memories = ReviewMemories(home, place.root).dismissals.root()
    if isinstance(model, Path):
        model = Models(home).named(model)
    known = _digest(home, model) if ai else None
    bundled = ai and model is None and known == _bundled(home)
    ai = ai and not bundled
    ai, note = _asked(seen, path, ai=ai, deep=deep, known=known)
    note = _BUNDLED if bundled else note
    if ai and not note:
        note = _noise(home, model, known or "")
    passes: Passes = "rules" if not ai else "deep" if deep else "one"
    commit = "" if path else seen.base if seen is not None and seen.base else base or "HEAD"
    asked = ReviewRequest(path, commit, staged, bound.mode, passes, known or "" if ai else "", memories)
    tools = all_tools(home)
    skill = load_skill(PACK, Cache(home.path / "cache"))
    without_secrets((asked.prose, asked.path, asked.base), ReviewError, "name it otherwise")
    intent, plan = planned(
        skill,
        "analyze",
        asked.objects(bound.digest),
        prose=asked.prose,
        origin=PackOrigin.of(home),
        tools=tools,
        refusal=ReviewError,
    )
    verdicts = asked_of_gate(home, tools, root, intent, plan, _Later())
    return DraftedReview(workspace=root, intent=intent, plan=plan, verdicts=verdicts, asked=asked, note=note)


async def _looked(bench: Bench, path: str, base: str, staged: bool) -> ReviewTarget | None:
    """What is there to be reviewed; None for a folder, whose files are read when it is reviewed."""
    if path and not base and not staged and await in_folder(bench, path) is not None:
        return None
    return await look_at(bench, path=path, base=base, staged=staged)


def _told(problem: MclError, root: Path) -> ReviewError | None:
    """What cannot be looked at, as it is told to a person in place of an agent; None where it says enough."""
    if problem.code == "NOT_FOUND":
        return ReviewError(
            "NOT_FOUND",
            f"there is no {problem.place!r} in {root}",
            place=problem.place,
            fix="name a file of this folder, or the folder to work in: --workspace DIR",
        )
    if problem.code == "NOT_A_REPOSITORY":
        above = next((one for one in root.parents if (one / ".git").exists()), None)
        fix = f"name the folder that holds it: --workspace {above}" if above else problem.fix
        return ReviewError(problem.code, problem.message, place=str(root), fix=fix)
    if problem.code == "UNKNOWN_REVISION" and (root / problem.place).exists():
        return ReviewError(
            "UNKNOWN_REVISION",
            f"{problem.place!r} is a file, and --diff takes a revision",
            place=problem.place,
            fix=f"review the file: mcl review {problem.place}; or what changed: mcl review --diff",
        )
    return None


def _inside(target: str, root: Path) -> str:
    """A path as the workspace has it. Raises ReviewError OUTSIDE_WORKSPACE."""
    here = Path(os.path.abspath(target))  # noqa: PTH100 - no link is followed
    folder = Path(os.path.realpath(here.parent)) / here.name if here.name else here
    for place in (here, folder):
        if place.is_relative_to(root) and (Path(target).is_absolute() or os.path.lexists(place)):
            return place.relative_to(root).as_posix()
    if Path(target).is_absolute() or ".." in Path(target).parts:
        raise ReviewError(
            "OUTSIDE_WORKSPACE",
            f"{target!r} lies outside {root}",
            place=target,
            fix=f"name the folder to work in: --workspace {folder.parent}",
        )
    return target


def _digest(home: Home, model: "Path | Model | None") -> str | None:
    """The digest of the model that will be asked, None where the home uses none. Raises ModelError."""
    if model is not None and not isinstance(model, Path):
        return model.digest
    found = Models(home).unloaded(model)
    from mcl.compiler.tape import Unloaded

    return found.digest if isinstance(found, Unloaded) else None


def _bundled(home: Home) -> str:
    """The digest of the model that comes with mcl; "" where none does."""
    return next((one.digest for one in Models(home).list() if one.name == BUNDLED), "")


def _noise(home: Home, model: "Path | Model | None", digest: str) -> str:
    """What is to be said of a file's model before its findings are believed; "" of one that is open. Raises
    ModelError where the file cannot be read any more."""
    path = model if isinstance(model, Path) else None
    if model is None:
        path = next((one.path for one in Models(home).list() if one.digest == digest), None)
    if path is None:
        return ""
    from mcl.model.files import read_header
    from mcl.plugins.review.answer import noise_note

    said = noise_note(read_header(path))
    return f"{said}; rely on the rules, or name a larger one (--model PATH)" if said else ""


def _asked(
    seen: ReviewTarget | None, path: str, *, ai: bool, deep: bool, known: str | None
) -> tuple[bool, str]:
    """Whether a model is asked, and what is to be said of that. Raises ReviewError."""
    if deep and not ai:
        raise ReviewError(
            "DEEP_NEEDS_MODEL",
            "three passes are questions to a model, and none may be asked",
            place="--deep",
            fix="name a model (--model PATH) and leave out --no-ai, or leave out --deep",
        )
    if not ai:
        return False, ""
    if seen is None:
        raise ReviewError(
            "FOLDER_NEEDS_NO_AI",
            f"{path!r} is a folder, and a model is asked about files",
            place=path,
            fix="search it by the rules alone: --no-ai; mcl review next says which file to review first",
        )
    if len(seen.pieces) > MOST_ASKED:
        raise ReviewError(
            "TOO_LARGE",
            f"{len(seen.pieces):,} files changed; a model is asked about at most {MOST_ASKED}",
            place=seen.base,
            fix="review by the rules alone: --no-ai, or name a later revision",
        )
    if known is None:
        return False, "this home uses no model: the rules alone were asked"
    return bool(seen.pieces), ""


class _Later:
    """Stands for the model, which is opened by the run."""

    async def reason(self, **_: object) -> dict[str, object]:
        raise NotImplementedError  # a draft runs nothing
