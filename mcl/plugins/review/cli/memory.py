"""`mcl review decide`, `decisions`, `remember`, `recall` and `bootstrap`: what reviews are told."""

import sys
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace
from mcl.cli.output import Output, note


def bootstrap_command(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Remember what README, ROADMAP, contracts, safety documents and settings of the workspace say.

    They are cut into sections, each with its place. Done again, it changes what they say otherwise now, and
    forgets what they say no more.
    """
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import bootstrap_view
    from mcl.plugins.review.usecases.memory import review_bootstrap

    done = review_bootstrap(workspace=workspace, home=use_home(signs=True))
    out = Output(as_json)
    out.document(done.to_json())
    out.view(bootstrap_view(done))


# ---- `mcl review decide`: a decision of architecture is written down.

_MOST_BYTES = 64_000  # of standard input


def decide_command(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What was decided, in a few words.")],
    decision: Annotated[
        str, typer.Option("--decision", metavar="TEXT", help="The decision; - reads standard input.")
    ],
    context: Annotated[str, typer.Option("--context", metavar="TEXT", help="Why it was needed.")] = "",
    consequences: Annotated[
        str, typer.Option("--consequences", metavar="TEXT", help="What follows from it.")
    ] = "",
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about",
            metavar="GLOB",
            help="Paths that it is about, such as src/**; may be given several times (default: all).",
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="decisions, boundaries, philosophy or rejected."),
    ] = "decisions",
    status: Annotated[
        str,
        typer.Option(
            "--status", metavar="STATUS", help="proposed, accepted, superseded, deprecated or rejected."
        ),
    ] = "accepted",
    no_file: Annotated[
        bool, typer.Option("--no-file", help="Remember it, and write no Markdown file.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Write a decision of architecture down, under the next id (ADR-0001 …).

    It becomes a memory that reviews of these paths are told, and a new Markdown file below
    architecture_memory/ in the workspace. No file is written over. The same decision, word for word, is not
    written twice.
    """
    from mcl.cli.compile import as_typed
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import decision_view
    from mcl.plugins.review.usecases.memory import review_decide

    made, new = review_decide(
        as_typed(title),
        decision=said(decision),
        context=as_typed(context),
        consequences=as_typed(consequences),
        about=about or (),
        kind=kind,
        status=status,
        write=not no_file,
        workspace=workspace,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document({**made.to_json(), "new": new})
    if not new:
        note(f"{made.id} says this already")
    if not as_json:
        out.tell(decision_view(made))


def said(text: str) -> str:
    """A text as typed, or what standard input says where it is -."""
    from mcl.cli.compile import as_typed
    from mcl.core.errors import ReviewError

    if text != "-":
        return as_typed(text)
    if sys.stdin is None:  # a process may be started without one
        raise ReviewError("TEXT_UNREADABLE", "standard input is closed", fix="give the text itself")
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        message = f"more than {_MOST_BYTES:,} bytes on standard input"
        raise ReviewError("TEXT_UNREADABLE", message, place="-", fix="say less, and name where the rest is")
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        message = f"byte {error.start} of standard input is not UTF-8"
        raise ReviewError("TEXT_UNREADABLE", message, place="-", fix="give text") from error


# ---- `mcl review decisions`: what was decided, and whether its files say the same.


def decisions_command(
    id: Annotated[str, typer.Argument(metavar="[ID]", help="One decision, such as ADR-0001.")] = "",
    about: Annotated[
        str, typer.Option("--about", metavar="FILE", help="Those that a review of this file is told.")
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Compare the files below architecture_memory/ with the memory.")
    ] = False,
    read: Annotated[
        bool, typer.Option("--read", help="Remember what these files say that is not remembered.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """List the decisions of architecture, show one, or compare them with their files.

    Exit codes: 0; with --check 1 where files and memory differ.
    """
    from mcl.plugins.review.cli.views import decision_view, decisions_view, differences_view

    if sum(map(bool, (id, about, check, read))) > 1:
        raise typer.BadParameter("ID, --about, --check and --read go one at a time")
    from mcl.cli.home import use_home
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.usecases.memory import review_decisions, review_decisions_differ

    home, out = use_home(signs=read), Output(as_json)
    if check or read:
        found = review_decisions_differ(read=read, workspace=workspace, home=home)
        shown = [{"what": one.what, "path": one.path, "id": one.id, "why": one.why} for one in found]
        out.document({"differences": shown, "read": read})
        out.view(differences_view(found, read=read))
        return 1 if found and check else 0
    listed = review_decisions(about, workspace=workspace, home=home)
    if not id:
        out.document({"decisions": [one.to_json() for one in listed]})
        out.view(decisions_view(listed))
        return 0
    one = next((one for one in listed if one.id == id.upper()), None)
    if one is None:
        raise ReviewError("DECISION_UNKNOWN", "no such decision", place=id, fix="mcl review decisions")
    out.document(one.to_json())
    out.view(decision_view(one))
    return 0


# ---- `mcl review recall`: what is known of a workspace.


def recall_command(
    words: Annotated[
        str, typer.Argument(metavar="[WORDS]", help="What it should be about; all of it where left out.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many; 0: all.")] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Find what is remembered about the workspace that shares words with WORDS, the best first."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import meanings_view
    from mcl.plugins.review.usecases.memory import review_recall

    found = review_recall(words, limit=limit, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"meanings": [one.to_json() for one in found]})
    out.view(meanings_view(found))


# ---- `mcl review remember`: something about a workspace that reviews are told.


def remember_command(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads standard input.")],
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="fact, decision, convention, summary or warning.")
    ] = "fact",
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="May be given several times.")
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="TEXT", help="Where it comes from.")] = "",
    id: Annotated[
        str, typer.Option("--id", metavar="ID", help="The same id again makes the next version.")
    ] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Remember a text about the workspace. Reviews of files that share words with it are told."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.views import meanings_view
    from mcl.plugins.review.usecases.memory import review_remember

    given = said(text)
    made = review_remember(
        given,
        kind=kind,
        tags=tag or (),
        source=source,
        id=id,
        workspace=workspace,
        home=use_home(signs=True),
    )
    out = Output(as_json)
    out.document(made.to_json())
    if "[redacted: " in made.text and "[redacted: " not in given:
        note("a secret was taken out of it")
    if not as_json:
        out.tell(meanings_view([made]))
