"""`mcl log`: the journal; `mcl replay` and `mcl verify`: is it still what it was, and is it what it says;
`mcl plan`: what would run, and what the gate says to it."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcl.cli.arguments import (
    AsJson,
    IntentId,
    ModelPath,
    ShowsByDefault,
    SkillDirectories,
    Workspace,
    Yes,
    argument,
    complete_intent,
    noun,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_bytes
from mcl.cli.people import agreed
from mcl.cli.views.layout import BAD, DIM, GOOD, joined, listing, plain, rows

if TYPE_CHECKING:
    from executor.store.home import Home
    from executor.store.journal.merkle import Head
    from executor.store.journal.rows import Row
    from ir import PublicKey
    from mcl.usecases.plans import Planned

_MAX_HEAD = 1 << 16  # bytes of a file that holds one
_ROW_DIGITS = 16  # of a longer number no row has so many; ids are longer, and begin with a zero
Seq = Annotated[int, argument("ROW", "The number of a row, as mcl log shows it.", min=1)]


log = noun(
    "log",
    "The journal. `mcl log [INTENT|ROW]` is `mcl log show [INTENT|ROW]`.",
    "mcl log",
    "mcl log @last",
    "mcl log verify",
    cls=ShowsByDefault,
    subcommand_metavar="[INTENT|ROW] | COMMAND [ARGS]...",
)


@verb(log, "show")
def show_log(
    intent: Annotated[
        str,
        argument(
            "[INTENT|ROW]",
            "Only the rows of this intent; or one row by its number, with its body.",
            autocompletion=complete_intent,
        ),
    ] = "",
    limit: Annotated[int, option("--limit N", "The last so many rows; 0: all.", min=0)] = 50,
    export: Annotated[
        Path | None, option("--export DIR", "Also write the signed bytes of each row to a file there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the rows of the journal, oldest first; or all that one row says.

    What is said in a body is shown as text and JSON where it is that; `--export` writes the signed bytes.
    """
    from mcl.plugins.checking.rows import row_document, row_line, whole_row, whole_row_view
    from mcl.usecases.intents import find_intent

    home, out = use_home(), Output(as_json)
    journal = home.journal
    number = int(intent) if intent.isdecimal() and len(intent) < _ROW_DIGITS and intent[0] != "0" else 0
    if number:
        rows = [journal.numbered(number)]
    elif intent:
        rows = journal.rows(find_intent(home, intent))[-limit if limit else 0 :]
    else:
        rows = journal.rows(after=max(0, journal.size() - limit) if limit else 0)
    if export is not None:
        export.mkdir(parents=True, exist_ok=True)
        for row in rows:
            (export / f"{row.seq:06}-{row.kind}.cbor").write_bytes(row.wire)
        note(f"wrote {len(rows)} files to {export}")
    if number:
        out.show(whole_row(journal, rows[0]), whole_row_view(journal, rows[0]))
        return
    out.document({"rows": [row_document(journal, row) for row in rows]})
    if not as_json:
        heads = ("row", "at", "kind", "says") if intent else ("row", "at", "kind", "intent", "says")
        out.tell([listing(heads, [row_line(journal, row, named=not intent) for row in rows])])


@verb(log, "verify")
def verify_log(
    head: Annotated[
        list[Path] | None,
        option("--head FILE", "A head kept from `mcl log head --json`; may be given several times."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check the whole journal again, from the bytes.

    Every signature, hash and transition, the Merkle tree, and the heads.

    Exit code 6 when anything does not hold.
    """
    from ir.errors import UNVERIFIED

    home, out = use_home(), Output(as_json)
    resolver = home.keyring.resolver
    report = home.journal.verify(heads=[_read_head(path, resolver) for path in head or ()])
    out.document(report)
    if not as_json:
        if report.ok:
            out.tell(
                [plain(f"{report.rows} rows, nothing wrong", GOOD), plain(f"root {report.root.hex()}", "dim")]
            )
            out.tell([plain(f"row {seq}: {told}") for seq, told in report.notes])
        else:
            lines = [
                ((str(finding.seq or "-"), ""), (finding.code, BAD), (finding.message, ""))
                for finding in report.findings
            ]
            out.tell([listing(("row", "code", "what is wrong"), lines), ""])
            many = len(report.findings)
            out.tell([plain(f"{report.rows} rows, {many} finding{'' if many == 1 else 's'}", BAD)])
            if any(finding.code == "TABLE_CHANGED" for finding in report.findings):
                out.tell([plain("  mcl log restore-tables  makes the tables what was signed", "dim")])
    return 0 if report.ok else UNVERIFIED


@verb(log, "head")
def sign_head(as_json: AsJson = False) -> None:
    """Sign the journal as it is now: its size and root.

    Kept elsewhere, a head shows any later change.
    """
    head, out = use_home(signs=True).journal.head().to_json(), Output(as_json)
    out.show(head, [rows([(name, str(value)) for name, value in head.items()])])


@verb(log, "prove")
def prove_row(
    row: Seq,
    since: Annotated[
        int, option("--since SIZE", "Also prove that the first SIZE rows are unchanged.", min=0)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Prove that a row is in the journal.

    Its path in the Merkle tree, and the signed head that it leads to.
    """
    journal, out = use_home(signs=True).journal, Output(as_json)
    head = journal.head()
    proof = journal.prove(row, size=head.size)
    document: dict[str, object] = {"head": head, "inclusion": proof}
    if since:
        document["consistency"] = journal.consistency(since, head.size)
    out.document(document)
    if not as_json:
        lines = [
            ("row", f"{row} of {head.size}"),
            ("leaf", proof.leaf.hex()),
            *(("path", step.hex()) for step in proof.path),
            ("root", head.root.hex()),
        ]
        out.tell([rows(lines)])


@verb(log, "accept-break")
def accept_break(row: Seq, as_json: AsJson = False) -> None:
    """Go on though the journal does not hold in a row.

    For a person who looked at what mcl log verify tells of it. It is signed, and shown ever after.
    """
    _tell_said(use_home(signs=True).journal.accept_break(row), as_json)


@verb(log, "forget")
def forget_body(row: Seq, yes: Yes = False, as_json: AsJson = False) -> int:
    """Remove what a node gave that lies beside a row, for good; its hash stays in the row.

    All rows with the same content lose it. That it was forgotten is signed, and shown ever after.

    Exit code 4 where you do not agree, or a run may still go on with it.
    """
    from ir.errors import REFUSED
    from mcl.plugins.checking.rows import row_document

    home = use_home(signs=True)
    told = row_document(home.journal, home.journal.numbered(row))
    if not yes and not agreed(f"Forget what lies beside row {row} ({told['kind']}: {told['says']})?"):
        note("nothing was forgotten")
        return REFUSED
    _tell_said(home.journal.forget(row), as_json)
    return 0


@verb(log, "restore-tables")
def restore_tables(as_json: AsJson = False) -> None:
    """Make grants, pins, servers and what else stands beside the journal what its rows say.

    For a person whom mcl log verify tells TABLE_CHANGED. It is signed, and shown ever after.
    """
    _tell_said(use_home(signs=True).journal.tables.restore(), as_json)


@verb(log, "restored")
def say_restored(as_json: AsJson = False) -> None:
    """Say that the older journal is meant: a backup was restored.

    What came after it is lost. It is signed, and shown ever after.
    """
    _tell_said(use_home(signs=True).journal.restored(), as_json)


def _tell_said(said: "Row", as_json: bool) -> None:
    out = Output(as_json)
    out.show(
        {"row": said.seq, "id": said.id, "kind": said.kind},
        [plain(f"signed as row {said.seq}; mcl log verify shows it from now on")],
    )


def _read_head(path: Path, resolver: "Callable[[str], PublicKey | None]") -> "Head":
    from executor import Head, JournalError
    from ir import MclError, parse_json
    from ir.errors import UNVERIFIED

    try:
        with path.open("rb") as file:
            document = parse_json(file.read(_MAX_HEAD))  # what is longer, or has no end, is no head
        if not isinstance(document, dict):
            raise JournalError("HEAD_SHAPE", "this document holds no signed head")
        return Head.from_json(document, resolver)
    except MclError as error:
        raise JournalError(
            error.code,
            error.message,
            place=str(path),
            fix="give a file made by mcl log head --json",
            exit=UNVERIFIED,
        ) from error


# ---- `mcl replay` and `mcl verify`.

checks = typer.Typer()


@verb(checks, "replay")
def replay_command(
    intent: IntentId,
    steps: Annotated[
        bool, option("--steps", "Also put each step of a run to its model again, and compare.")
    ] = False,
    model: ModelPath = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Make an intent again from what was said, and compare.

    The first compile, its corrections, what was accepted and what ran: each is the same, different, or not
    available.

    Exit code 6 when anything differs or could not be compared.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.checking.replay import replay

    out = Output(as_json)
    found = replay(intent, home=use_home(), model=model, skills=skills or (), steps=steps)
    out.document(found)
    if not as_json:
        from mcl.plugins.checking.rows import replay_view

        out.tell(replay_view(found))
    return 0 if found.same else UNVERIFIED


@verb(checks, "verify")
def verify_command(
    files: Annotated[list[Path], argument("FILE...", "Intents and plans (JSON), rows of a journal (CBOR).")],
    as_json: AsJson = False,
) -> int:
    """Check documents without a model.

    Shape, hash, seed, plan checks, signatures.

    Keys count as trusted when this home trusts them. Exit code 6 when something does not hold.
    """
    from ir.errors import UNVERIFIED
    from ir.results import fields_json
    from mcl.usecases.verification import verify

    reports = tuple(verify(files))
    count = Counter(report.ok for report in reports)
    documents = [{"file": report.path, "ok": report.ok, **fields_json(report)} for report in reports]
    lines = [
        (
            ("ok", GOOD) if report.ok else ("BAD", BAD),
            (report.kind, ""),
            (report.hash[:12], DIM),
            (str(report.path), ""),
        )
        for report in reports
    ]
    flaws = [
        joined(((str(report.path), ""), (flaw.code, BAD), (flaw.place, DIM), (flaw.message, "")))
        for report in reports
        for flaw in report.flaws
    ]
    Output(as_json).show(
        {"ok": not count[False], "good": count[True], "bad": count[False], "files": documents},
        [
            listing(("", "kind", "hash", "file"), lines),
            *flaws,
            plain(f"{count[True]} good, {count[False]} bad"),
        ],
    )
    return UNVERIFIED if count[False] else 0


# ---- `mcl plan`.

NEEDS_ACCEPT = 10  # the exit code
GraphForm = Literal["svg", "png", "mermaid", "dot"]  # how a plan is drawn

plans = noun(
    "plan",
    "Plans: what would run. `mcl plan INTENT` is `mcl plan show INTENT`.",
    "mcl plan @last",
    "mcl plan @last --graph svg --out plan.svg",
    "mcl plan check plan.json",
    cls=ShowsByDefault,
    subcommand_metavar="INTENT | COMMAND [ARGS]...",
)


@verb(plans, "show")
def plan_command(
    intent: IntentId,
    form: Annotated[
        GraphForm | None,
        option("--graph", "Draw the tree with its states: svg and png (by Graphviz), or text."),
    ] = None,
    place: Annotated[
        Path | None, option("--out FILE", "Where the picture goes (default: standard output).")
    ] = None,
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> None:
    """Show what would run, and what the gate says to it.

    The plan as a tree with side effects and verdicts; nothing runs.
    """
    from mcl.usecases.documents import of_planned
    from mcl.usecases.plans import show as plan

    if (place is not None and form is None) or (as_json and form is not None):
        raise typer.BadParameter("--out goes with --graph, and --json without it")
    home = use_home()
    seen = plan(intent, home=home, workspace=workspace or Path.cwd(), skills=skills or ())
    out = Output(as_json)
    if form is not None:
        _draw(seen, form, place, home)
        return
    out.document(of_planned(seen))
    if not as_json:
        from mcl.cli.views.plan import plan_view

        out.tell(plan_view(seen, out.people))


def _draw(seen: "Planned", form: GraphForm, place: Path | None, home: "Home") -> None:
    from mcl.plugins.checking.plans import picture as drawn

    picture = drawn(seen, form, home)
    if place is None:
        if form == "png" and sys.stdout.isatty():
            raise typer.BadParameter("a png is nothing for a terminal: name a file with --out")
        write_bytes(picture)
    else:
        place.write_bytes(picture)
        note(f"{place}: {len(picture):,} bytes")


@verb(plans, "check")
def check_command(
    what: Annotated[
        str,
        argument(
            "FILE|INTENT",
            "A PlanTree (JSON), or an intent: its id, a unique beginning of it, or @last.",
            autocompletion=complete_intent,
        ),
    ],
    verb: Annotated[
        str, option("--verb VERB", "The verb of the goal; a file whose intent is not here has none else.")
    ] = "",
    workspace: Workspace = None,
    skills: SkillDirectories = None,
    as_json: AsJson = False,
) -> int:
    """Judge a plan by every guard, and run nothing.

    Exit codes: 0 allowed, 10 needs approval, 11 denied, 12 invalid.
    """
    from mcl.plugins.checking.plans import check as check_plan_of
    from mcl.plugins.checking.plans import check_file as check_plan_file
    from mcl.plugins.checking.rows import checked_view

    home, place, further = use_home(), workspace or Path.cwd(), skills or ()
    if _is_file(what):
        found = check_plan_file(Path(what), verb=verb, workspace=place, skills=further, home=home)
    else:
        found = check_plan_of(what, verb=verb, workspace=place, skills=further, home=home)
    out = Output(as_json)
    out.show(found, checked_view(found))
    return found.exit


def _is_file(text: str) -> bool:
    """Whether a word means a file: one that is there, or a name that no intent has."""
    return not text.startswith("@") and (Path(text).is_file() or "/" in text or "." in text)


@verb(plans, "compare")
def compare_command(
    before: Annotated[str, argument("A", "A file (Intent, plan or both) or an intent.")],
    after: Annotated[str, argument("B", "What it would become: a file or an intent.")],
    at: Annotated[str, option("--at TIME", "Judge deadlines from this moment (default: now).")] = "",
    as_json: AsJson = False,
) -> int:
    """Say whether the difference between two documents needs a new accept.

    Exit codes: 0 no, 10 yes, 2 they cannot be compared.
    """
    from mcl.cli.views.exact import changes_view, verdict_line
    from mcl.plugins.checking.comparison import compare

    out = Output(as_json)
    found = compare(before, after, at=at or None)
    out.show(
        {"material": found.material, "at": found.at, "changes": found.changes},
        [*changes_view(found.changes), "", verdict_line(found.material)],
    )
    return NEEDS_ACCEPT if found.material else 0
