"""`mcl review decide`, `decisions`, `remember`, `recall`, `bootstrap`: what reviews are told; `history`,
`dismiss`, `dismissals`: what they found, and what of it was set aside."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from mcl.cli.arguments import AsJson, Workspace, argument, option, typed_text
from mcl.cli.home import use_home
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from executor.sandbox.paths import Workspace as OpenFolder
    from executor.store.home import Home
    from mcl.plugins.review.memory.history import ReviewMemories
_Word = TypeVar("_Word", bound=str)


def _memories(workspace: Path | None, home: "Home") -> "ReviewMemories":
    from mcl.plugins.review.memory.history import ReviewMemories

    return ReviewMemories(home, workspace or Path.cwd())


def _folder(workspace: Path | None, home: "Home") -> "OpenFolder":
    from executor.sandbox.paths import Workspace as OpenFolder

    return OpenFolder(workspace or Path.cwd(), forbidden=(home.path,))


def _one_of(word: str, words: "tuple[_Word, ...]", code: str, place: str) -> "_Word":
    from mcl.core.errors import ReviewError

    if word not in words:
        raise ReviewError(code, f"{word[:40]!r} is none", place=place, fix=", ".join(words))
    return words[words.index(word)]


def bootstrap_command(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Remember what README, ROADMAP, contracts, safety documents and settings of the workspace say.

    They are cut into sections, each with its place. Done again, it changes what they say otherwise now, and
    forgets what they say no more.
    """
    from mcl.plugins.review.cli.views import bootstrap_view
    from mcl.plugins.review.memory.documents import bootstrap

    memories, opened = _memories(workspace, home := use_home(signs=True)), _folder(workspace, home)
    with closing(opened):
        done = bootstrap(memories, opened)
    Output(as_json).show(done, bootstrap_view(done))


# ---- `mcl review decide`: a decision of architecture is written down.

_MOST_BYTES = 64_000  # of standard input


def decide_command(
    title: Annotated[str, argument("TITLE", "What was decided, in a few words.")],
    decision: Annotated[str, option("--decision TEXT", "The decision; - reads standard input.")],
    context: Annotated[str, option("--context TEXT", "Why it was needed.")] = "",
    consequences: Annotated[str, option("--consequences TEXT", "What follows from it.")] = "",
    about: Annotated[
        list[str] | None,
        option(
            "--about GLOB",
            "Paths that it is about, such as src/**; may be given several times (default: all).",
        ),
    ] = None,
    kind: Annotated[
        str,
        option("--kind KIND", "decisions, boundaries, philosophy or rejected."),
    ] = "decisions",
    status: Annotated[
        str,
        option("--status STATUS", "proposed, accepted, superseded, deprecated or rejected."),
    ] = "accepted",
    no_file: Annotated[bool, option("--no-file", "Remember it, and write no Markdown file.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Write a decision of architecture down, under the next id (ADR-0001 …).

    It becomes a memory that reviews of these paths are told, and a new Markdown file below
    architecture_memory/ in the workspace. No file is written over. The same decision, word for word, is not
    written twice.
    """
    from mcl.cli.arguments import as_typed
    from mcl.plugins.review.cli.views import decision_view
    from mcl.plugins.review.memory.decision import KINDS, STATUSES

    memories, opened = _memories(workspace, home := use_home(signs=True)), _folder(workspace, home)
    with closing(opened):
        made, new = memories.decisions.decide(
            as_typed(title),
            decision=said(decision),
            context=as_typed(context),
            consequences=as_typed(consequences),
            files=about or (),
            kind=_one_of(kind, KINDS, "DECISION_SHAPE", "kind"),
            status=_one_of(status, STATUSES, "DECISION_SHAPE", "status"),
            workspace=None if no_file else opened,
        )
    out = Output(as_json)
    out.document({**made.to_json(), "new": new})
    if not new:
        note(f"{made.id} says this already")
    if not as_json:
        out.tell(decision_view(made))


def said(text: str) -> str:
    """A text as typed, or what standard input says where it is -."""
    from mcl.core.errors import ReviewError

    refusal = partial(ReviewError, "TEXT_UNREADABLE", place="-")
    return typed_text(text, _MOST_BYTES, refusal, shorten="say less, and name where the rest is")


# ---- `mcl review decisions`: what was decided, and whether its files say the same.


def decisions_command(
    id: Annotated[str, argument("[ID]", "One decision, such as ADR-0001.")] = "",
    about: Annotated[str, option("--about FILE", "Those that a review of this file is told.")] = "",
    check: Annotated[
        bool, option("--check", "Compare the files below architecture_memory/ with the memory.")
    ] = False,
    read: Annotated[bool, option("--read", "Remember what these files say that is not remembered.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """List the decisions of architecture, show one, or compare them with their files.

    Exit codes: 0; with --check 1 where files and memory differ.
    """
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.cli.views import decision_view, decisions_view, differences_view

    if sum(map(bool, (id, about, check, read))) > 1:
        raise typer.BadParameter("ID, --about, --check and --read go one at a time")
    from mcl.plugins.review.usecases.memory import inside

    home, out = use_home(signs=read), Output(as_json)
    decisions = _memories(workspace, home).decisions
    if check or read:
        with closing(_folder(workspace, home)) as opened:
            found = decisions.take_in(opened) if read else decisions.compare(opened)
        out.show({"differences": found, "read": read}, differences_view(found, read=read))
        return 1 if found and check else 0
    listed = decisions.relevant(inside(about, workspace)) if about else decisions.all()
    if not id:
        out.show({"decisions": listed}, decisions_view(listed))
        return 0
    one = next((one for one in listed if one.id == id.upper()), None)
    if one is None:
        raise ReviewError("DECISION_UNKNOWN", "no such decision", place=id, fix="mcl review decisions")
    out.show(one, decision_view(one))
    return 0


# ---- `mcl review recall`: what is known of a workspace.


def recall_command(
    words: Annotated[str, argument("[WORDS]", "What it should be about; all of it where left out.")] = "",
    limit: Annotated[int, option("--limit N", "At most so many; 0: all.", min=0)] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Find what is remembered about the workspace that shares words with WORDS, the best first."""
    from mcl.plugins.review.cli.views import meanings_view

    meanings = _memories(workspace, use_home()).meanings
    found = meanings.recall(words, limit or len(meanings.all())) if words.strip() else meanings.all()
    found = found[:limit] if limit else found
    Output(as_json).show({"meanings": found}, meanings_view(found))


# ---- `mcl review remember`: something about a workspace that reviews are told.


def remember_command(
    text: Annotated[str, argument("TEXT", "What to remember; - reads standard input.")],
    kind: Annotated[str, option("--kind KIND", "fact, decision, convention, summary or warning.")] = "fact",
    tag: Annotated[list[str] | None, option("--tag TAG", "May be given several times.")] = None,
    source: Annotated[str, option("--source TEXT", "Where it comes from.")] = "",
    id: Annotated[str, option("--id ID", "The same id again makes the next version.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Remember a text about the workspace. Reviews of files that share words with it are told."""
    from mcl.plugins.review.cli.views import meanings_view
    from mcl.plugins.review.memory.meanings import MEANINGS

    given = said(text)
    meanings = _memories(workspace, use_home(signs=True)).meanings
    made = meanings.remember(
        given, kind=_one_of(kind, MEANINGS, "MEANING_SHAPE", "kind"), tags=tag or (), source=source, id=id
    )
    out = Output(as_json)
    out.document(made)
    if "[redacted: " in made.text and "[redacted: " not in given:
        note("a secret was taken out of it")
    if not as_json:
        out.tell(meanings_view([made]))


# ---- `mcl review history`: what the last reviews found.


def history_command(
    file: Annotated[str, argument("[FILE]", "A file of the workspace; all files where left out.")] = "",
    limit: Annotated[int, option("--limit N", "At most so many reviews of the file.", min=1, max=10)] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest reviews of a file, at most 10; or the last review of each file."""
    from mcl.plugins.review.cli.views import files_view, history_view
    from mcl.plugins.review.usecases.memory import inside

    history = _memories(workspace, use_home()).history
    found = history.last(inside(file, workspace), limit) if file else history.files()
    Output(as_json).show({"reviews": found}, history_view(found) if file else files_view(found))


# ---- `mcl review dismiss`: a person says that what a review found is no fault.


def complete_place(incomplete: str) -> Iterator[tuple[str, str]]:
    """Shell completion: where the last reviews of this folder found what blocks."""
    from ir.errors import MclError
    from mcl.core.home import locate, open_home

    if not locate().exists():
        return
    try:
        found = [
            one
            for review in _memories(None, open_home()).history.files()
            for one in review.findings
            if one.blocking
        ]
    except MclError:
        return
    for one in found:
        if one.location.startswith(incomplete):
            yield one.location, one.rule or one.severity


def dismiss_command(
    places: Annotated[
        list[str],
        argument(
            "FILE:LINE",
            "Where it stands, as the review told it; several are dismissed for one reason.",
            autocompletion=complete_place,
        ),
    ],
    why: Annotated[str, option("--why TEXT", "Why it is no fault.")] = "",
    rule: Annotated[str, option("--rule ID", "Which of several findings there.")] = "",
    mark: Annotated[str, option("--mark ID", "The same, by its mark (--json tells it) or a part.")] = "",
    forget: Annotated[bool, option("--forget", "Let it count again.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Dismiss findings of the last review of a file: they are told apart, and do not block.

    Each holds for this file, this rule and the text of the lines that it is about, wherever they move; where
    they change it counts again. What a model said holds for what it said, word for word. Agents cannot do
    this, and nothing that is written in a file does.
    """
    if forget == bool(why):
        raise typer.BadParameter("--why TEXT says why it is no fault; --forget lets it count again")
    from mcl.cli.arguments import as_typed
    from mcl.plugins.review.cli.views import dismissals_view
    from mcl.plugins.review.usecases.memory import review_dismiss, review_undismiss

    home, out = use_home(signs=True), Output(as_json)
    if forget:
        gone = review_undismiss(places, rule=rule, mark=mark, workspace=workspace, home=home)
        out.show({"forgotten": gone}, dismissals_view(gone))
        note("these count again")
        return
    words = as_typed(why)
    made = review_dismiss(places, words, rule=rule, mark=mark, workspace=workspace, home=home)
    out.document({"dismissals": made})
    if "[redacted: " in made[0].why and "[redacted: " not in words:
        note("a secret was taken out of it")
    out.view(dismissals_view(made))


# ---- `mcl review dismissals`: what was dismissed, and why.


def dismissals_command(
    file: Annotated[str, argument("[FILE]", "A file of the workspace; all files where left out.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the findings that were dismissed here: where they stood, by which rule, why and when.

    To let one count again: mcl review dismiss FILE:LINE --forget.
    """
    from mcl.plugins.review.cli.views import dismissals_view
    from mcl.plugins.review.usecases.memory import review_dismissals

    found = review_dismissals(file, workspace=workspace, home=use_home())
    Output(as_json).show({"dismissals": found}, dismissals_view(found))
