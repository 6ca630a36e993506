"""`mcl review context` and `next`: maps of a repository, and what to review first by them."""

from typing import TYPE_CHECKING, Annotated, Final

from mcl.cli.arguments import AsJson, Workspace, argument, option
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_document, write_text
from mcl.cli.people import agreed
from mcl.cli.progress import nobody, progress_bar
from mcl.cli.views.layout import DIM, columns, listing, plain, rows
from mcl.core.text import one_line, safe

if TYPE_CHECKING:
    from mcl.plugins.review.maps.maps import Maps, StaleEntry
    from mcl.plugins.review.maps.survey import DueFile
    from mcl.plugins.review.usecases.maps import FileContext, MappedContext, MapsBuild
    from mcl.usecases.plans import Planned

_TOLD: Final = 20  # lines of a list that people are shown


def build_command(
    yes: Annotated[bool, option("--yes", "Sign without being asked.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Make the maps, in generated/architecture. What would be written is shown, you sign it, it is written.

    Where the maps are there as they would be made, nothing is signed or written.

    Exit codes: 0 done, 4 refused or not agreed to, 5 failed.
    """
    from mcl.cli.tool_call import ended
    from mcl.cli.views.plan import plan_view
    from mcl.plugins.review.usecases.maps import build_context

    out = Output(as_json)

    def agree(seen: "Planned", maps: "Maps", paths: tuple[str, ...]) -> bool:
        if not (yes and as_json):
            out.tell(plan_view(seen, out.people))
            out.tell([rows([("would write", plain(path)) for path in paths])])
        return yes or agreed("Sign this and write the maps?")

    home = use_home(signs=True)
    with progress_bar(quiet=as_json) as progress:
        built = build_context(agree=agree, workspace=workspace, progress=progress or nobody, home=home)
    out.document(_built(built))
    called = built.called
    if called is None:
        out.view(_counted(built.maps))
        out.view(["the maps are as they were; nothing was written"])
        return 0
    return ended(called, out, undone="written")


def show_command(
    file: Annotated[str, argument("FILE", "A file of the workspace.")],
    told: Annotated[
        bool, option("--told", "Print what a review of the file is told first, and nothing else.")
    ] = False,
    mode: Annotated[str, option("--mode MODE", "Of the review that is told.")] = "comment",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what the maps say of a file: its role and why, symbols, who imports and who owns it.

    --told needs no maps: without them a review is told what is remembered.
    """
    from mcl.plugins.review.usecases.maps import show_context, told_context

    if told:
        first = told_context(file, mode=mode, workspace=workspace, home=use_home())
        if as_json:
            write_document({"path": first.path, "told": first.text, "without": first.without or None})
        else:
            _tell_first(first)
        return
    found = show_context(file, mode=mode, workspace=workspace, home=use_home())
    if as_json:
        write_document(_looked(found))
    else:
        _tell(found)


def _tell_first(first: "FileContext") -> None:
    """What a review is told, and on standard error what is missing in it."""
    write_text(safe(first.text) + "\n" if first.text else "")
    if first.without:
        note(f"{one_line(first.without)}, so nothing is told of role and symbols: mcl review context build")
    if not first.text:
        note(f"a review of {one_line(first.path)} is told nothing: nothing is remembered of it")


def status_command(workspace: Workspace = None, as_json: AsJson = False) -> int:
    """Compare the maps with the files. Nothing is written.

    Exit codes: 0 they are as the files are, 1 they are old, or there are none.
    """
    from mcl.plugins.review.usecases.maps import context_status

    maps, stale = context_status(workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document(
        {
            "maps": maps is not None,
            "files": len(maps.files) if maps else 0,
            "head": maps.head if maps else "",
            "stale": [{"path": one.path, "why": one.why} for one in stale],
        }
    )
    if maps is None:
        note("there are no maps yet: mcl review context build")
        return 1
    out.view(_counted(maps))
    out.view(_stale(stale))
    return 1 if stale else 0


def _counted(maps: "Maps") -> list[str]:
    from collections import Counter

    counted = Counter(one.role for one in maps.files.values())
    roles = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    at = f" at {maps.head[:12]}" if maps.head else ""
    lines = [f"{len(maps.files):,} files{at}: " + ", ".join(f"{role} {count:,}" for role, count in roles)]
    return [*lines, *(f"left out: {count:,}, {why}" for why, count in maps.left_out.items())]


def _stale(stale: "tuple[StaleEntry, ...]") -> list[str]:
    if not stale:
        return ["the maps are as the files are"]
    lines = [safe(f"  {one.why:<8}{one.path}".rstrip()) for one in stale[:_TOLD]]
    more = [f"  … and {len(stale) - _TOLD:,} more"] if len(stale) > _TOLD else []
    return ["the maps are old:", *lines, *more, "make them again: mcl review context build"]


def _built(built: "MapsBuild") -> dict[str, object]:
    told = dict.fromkeys(("intent_id", "output", "failure")) | {"state": "unchanged"}
    called, maps = built.called.to_json() if built.called else told, built.maps
    return {
        "state": called["state"],
        "intent_id": called["intent_id"],
        "files": len(maps.files),
        "head": maps.head,
        "tree": maps.tree,
        "history": maps.history,
        "left_out": maps.left_out,
        "differing": built.differing,
        "output": called["output"],
        "failure": called["failure"],
    }


def _looked(found: "MappedContext") -> dict[str, object]:
    one = found.file
    return {
        "path": one.path,
        "role": one.role,
        "why": found.why,
        "language": one.language,
        "lines": one.lines,
        "size": one.size,
        "sha256": one.sha256,
        "symbols": one.symbols,
        "hub_score": one.hub,
        "importers": one.importers,
        "author": one.author or None,
        "change_frequency": one.changes,
        "last_modified": one.modified or None,
        "last_review_timestamp": one.reviewed or None,
        "stale": found.stale or None,
        "told": found.told,
    }


def _tell(found: "MappedContext") -> None:
    one, out = found.file, Output()
    commits = "1 commit" if one.changes == 1 else f"{one.changes:,} commits"
    changed = f"{commits}, the last {one.modified[:10]}" if one.changes else "git knows of none"
    pairs = [
        ("role", plain(f"{one.role}: {found.why}")),
        ("language", plain(f"{one.language or 'none known'}, {one.lines:,} lines, {one.size:,} bytes")),
        ("hub score", plain(f"{one.hub:g}, {_importing(one.importers)}")),
        ("changes", plain(changed)),
        ("author", plain(one.author or "nobody known")),
        ("last review", plain(one.reviewed or "never")),
    ]
    if found.stale:
        pairs.append(
            ("stale", plain(f"it {'is gone' if found.stale == 'gone' else 'changed'} since", "yellow"))
        )
    out.tell([plain(one.path), rows(pairs)])
    cells = [
        [(f"  {each.line}", DIM), (each.kind, DIM), (each.signature or each.name, "")] for each in one.symbols
    ]
    if cells:
        out.tell(
            [f"  {len(cells)} public symbols" if len(cells) > 1 else "  1 public symbol", columns(cells)]
        )


def _importing(count: int) -> str:
    return "nothing imports it" if not count else f"{count:,} import it" if count > 1 else "1 imports it"


# ---- `mcl review next`: what to review first.


def next_command(
    limit: Annotated[int, option("--limit N", "At most so many.", min=1, max=1000)] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what to review first: what much depends on, and what changed much since its last review.

    Files of code alone; one that nobody changed since its last review is not shown. The score is (hub score
    + 0.1) × changes.
    """
    from mcl.plugins.review.usecases.maps import next_reviews

    home = use_home()
    with progress_bar(quiet=as_json) as progress:
        found = next_reviews(workspace=workspace, progress=progress or nobody, home=home)
    out = Output(as_json)
    out.document({"files": found[:limit], "count": len(found)})
    if not found:
        note("nothing changed since its last review")
        return
    lines = [
        [
            (f"{one.score:.2f}", ""),
            (one.file.path, ""),
            (one.file.role, DIM),
            (_why(one), DIM),
        ]
        for one in found[:limit]
    ]
    out.view([listing(("score", "file", "role", "why"), lines)])
    if len(found) > limit:
        out.view([f"… and {len(found) - limit:,} more"])


def _why(one: "DueFile") -> str:
    since = f"since {one.reviewed[:10]}" if one.reviewed else "never reviewed"
    changes = "1 change" if one.changes == 1 else f"{one.changes:,} changes"
    count = one.file.importers
    imported = f", {count:,} import{'s' * (count == 1)} it" if count else ""
    return f"{changes} {since}{imported}" if one.reviewed else f"{since}, {changes}{imported}"
