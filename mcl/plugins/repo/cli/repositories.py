"""`mcl repo add`, `list`, `switch` and `remove`: the repositories that there are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, argument, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_line
from mcl.cli.views.layout import BAD, DIM, STRONG, listing
from mcl.plugins.repo.cli.contracts import complete_key, repo_verbs

if TYPE_CHECKING:
    from mcl.plugins.repo.usecases import ChangedRepository

Key = Annotated[
    str,
    argument("KEY", "The short name of a repository.", autocompletion=complete_key),
]


@verb(repo_verbs, "add")
def add_command(
    key: Key,
    path: Annotated[Path, argument("[PATH]", "Its folder (default: this one).")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Name a repository. The first one becomes the active one."""
    from mcl.plugins.repo import usecases

    changed = usecases.add_repository(key, path, home=use_home(signs=True))
    _changed(changed, "added", as_json=as_json)
    if changed.history is not None:
        note(f"its history lies in {changed.history}, and is read and written there")
    if changed.problem is not None and changed.problem.code == "NOT_A_REPOSITORY":
        note(
            "git can tell nothing of it: it is no folder that holds .git (one inside a repository and a bare "
            "repository are none); git init makes a repository"
        )
    elif changed.problem is not None:
        note(f"git is not asked there: {changed.problem.message}; {changed.problem.fix}")


@verb(repo_verbs, "list")
def list_command(as_json: AsJson = False) -> None:
    """List the repositories; the active one has a mark."""
    from mcl.core.home import locate
    from mcl.core.repositories import Repositories

    out, known = Output(as_json), Repositories(locate())
    active = known.active()
    found = known.all()
    out.document(
        {
            "repositories": [
                {"key": one.key, "path": str(one.path), "active": one == active, "there": one.path.is_dir()}
                for one in found
            ],
            "active": active.key if active else "",
        }
    )
    if not found:
        note("no repository is known; name one: mcl repo add KEY PATH")
        return
    lines = [
        (
            ("*" if one == active else "", STRONG),
            (one.key, ""),
            (str(one.path), DIM),
            ("" if one.path.is_dir() else "not there", BAD),
        )
        for one in found
    ]
    out.view([listing(("", "repository", "folder", ""), lines)])
    if active is None:
        note("none is active; choose one: mcl repo switch KEY")


@verb(repo_verbs, "switch")
def switch_command(key: Key, as_json: AsJson = False) -> None:
    """Make a repository the active one: the one that is meant where none is named."""
    from mcl.plugins.repo import usecases

    _changed(usecases.switch_repository(key, home=use_home(signs=True)), "switched to", as_json=as_json)


@verb(repo_verbs, "remove")
def remove_command(key: Key, as_json: AsJson = False) -> None:
    """Forget a repository. Nothing in its folder is touched."""
    from mcl.plugins.repo import usecases

    _changed(usecases.remove_repository(key, home=use_home(signs=True)), "removed", as_json=as_json)


def _changed(changed: "ChangedRepository", what: str, *, as_json: bool) -> None:
    one, active = changed.repository, changed.active
    out = Output(as_json)
    out.document({"key": one.key, "path": str(one.path), "active": active.key if active else ""})
    if as_json:
        return
    write_line(f"{what} {one.key}: {one.path}")
    if active is None:
        note("none is active now; choose one, or name one: mcl repo switch KEY, mcl repo add KEY PATH")
    elif what == "added":
        note("it is the active one" if active == one else f"the active one is {active.key}")
