"""`mcl work import`, `export`, `validate` and `trace`: work as files."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, argument, folder, noun, option, verb
from mcl.cli.home import tell_unattended, use_home
from mcl.cli.output import Output, note, write_text
from mcl.cli.people import agreed
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, listing, moment, plain, rows
from mcl.core.text import counted, one_line, safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.agents.file.document import IntentEntry
    from mcl.plugins.agents.usecases import ValidatedWork
    from mcl.plugins.agents.work.signature import ImportChange, ImportPlan

Root = Annotated[
    Path | None,
    option(
        "--root DIR", "The folder that the work is in, or one below it (default: this folder).", parser=folder
    ),
]

work = noun(
    "work",
    "What coding agents may work on: people sign it, agents check it out.",
    *("mcl work check", "mcl work import", "mcl work list"),
)


@verb(work, "export")
def export(
    write: Annotated[bool, option("--write", "Put it in its place, not on standard output.")] = False,
    overwrite: Annotated[
        bool,
        option("--overwrite", "With --write: also where there is a file; its comments are lost."),
    ] = False,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Write .orchestration/active_intents.yaml as it was signed, with the status that each has now."""
    from mcl.plugins.agents.usecases import export_work

    done = export_work(write=write, overwrite=overwrite, root=root, home=use_home())
    Output(as_json).document(done)
    if done.path:
        note(safe(f"written: {done.path}"))
    elif not as_json:
        write_text(done.text)


# ---- `mcl work import`: a person reads what the file says, and signs it.


@verb(work, "import")
def import_(
    yes: Annotated[bool, option("--yes", "Do not ask; for scripts.")] = False,
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Read what .orchestration/active_intents.yaml says, and sign it with your key.

    From then on agents need a checkout to change anything in its folder, and what you signed decides,
    whatever becomes of the file. Shows all that is new or different, and asks. Exit code 4 when you do not
    agree, when the file is not valid, or when an agent works on what would change.
    """
    from ir.errors import REFUSED
    from mcl.plugins.agents.usecases import import_work

    home, out = use_home(signs=True), Output(as_json)

    def agree(plan: "ImportPlan") -> bool:
        if not (as_json and yes):
            out.tell(_shown(plan))
        return yes or agreed("Sign this work?")

    done = import_work(agree=agree, root=root, home=home, unseen=yes)
    out.document({**done.to_json(), **home.marks})
    tell_unattended(home)
    for finding in done.plan.report.warnings:
        note(safe(f"warning: {finding.intent_id or 'file'}: {finding.message}"))
    if done.plan.nothing:
        note(safe(f"all of it is signed already, for {done.plan.root}"))
    elif not done.agreed:
        note("nothing was signed")
        return REFUSED
    else:
        note(safe(f"signed for {done.plan.root}; agents choose: mcl work select INTENT"))
    return 0


def _shown(plan: "ImportPlan") -> "Iterator[RenderableType]":
    from ir.display import quoted
    from mcl.cli.views.exact import exact

    yield exact((f"for the folder {quoted(str(plan.root))}", STRONG))
    for change in plan.changes:
        if change.kind != "same":
            yield from _change(change)
    if same := sum(change.kind == "same" for change in plan.changes):
        yield plain(f"\n{same} as signed before", "dim")


def _change(change: "ImportChange") -> "Iterator[RenderableType]":
    from ir.display import clear
    from mcl.cli.views.exact import exact, field

    said = {"new": "new", "changed": "is signed anew", "status": "is somewhere else now", "gone": "ends"}
    yield ""
    yield exact((clear(change.label), STRONG), (said[change.kind], ""))
    entry, status = change.entry, change.after
    if change.before and change.before != change.after:
        status = f"{change.before} → {change.after or 'no longer there'}"
    facts = [("status", status)] if status else []
    if change.fields and change.kind == "changed":
        facts.append(("differs in", ", ".join(change.fields)))
    if entry is not None and change.kind != "status":
        facts += [
            ("name", entry.name),
            *((("what", entry.description),) if entry.description else ()),
            *facts_of(
                entry,
                [one if isinstance(one, str) else _typed(one.to_json()) for one in entry.acceptance_criteria],
            ),
        ]
    if entry is not None and entry.blocked_reason:
        facts.append(("because", entry.blocked_reason))
    yield rows([(name, field(text)) for name, text in facts])
    if change.kind == "changed" and change.item is not None:
        before = change.item.to_json()
        was = [(name, line) for name in change.fields for line in _lines(before.get(name))]
        yield plain("  was signed as", "dim")
        yield rows([(name.partition("_")[2] or name, field(line, "dim")) for name, line in was])


def facts_of(entry: "IntentEntry", criteria: "Sequence[str]") -> "Iterator[tuple[str, str]]":
    """What an entry says of its work, line by line. criteria: in words."""
    if entry.owner:
        yield "owner", entry.owner
    several = {
        "may change": entry.owned_scope,
        "constraint": entry.constraints,
        "criterion": criteria,
        "after": entry.dependencies,
        "see": entry.references,
    }
    yield from ((name, text) for name, texts in several.items() for text in texts)


def _lines(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value or "none")]


def _typed(said: dict[str, str]) -> str:
    return " ".join(f"{name}={json.dumps(text, ensure_ascii=False)}" for name, text in said.items())


# ---- `mcl work check`: what is wrong with the file of intents, line by line.


@verb(work, "check")
def validate(
    file: Annotated[
        Path | None,
        argument(
            "[FILE]",
            "The file, or the folder it is for (default: that of this folder, or the nearest above).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Check .orchestration/active_intents.yaml: every error and warning with its line and what to do.

    Changes and signs nothing. With --json one object: valid, errors, warnings. Exit code 6 when there are
    errors.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.agents.usecases import validate_work

    checked, out = validate_work(file), Output(as_json)
    out.show(checked, _shown_of_validate(checked))
    return 0 if checked.report.valid else UNVERIFIED


def _shown_of_validate(checked: "ValidatedWork") -> "Iterator[RenderableType]":
    from rich.text import Text

    styles = {"error": BAD, "warning": WARN}
    report = checked.report
    for one in sorted((*report.errors, *report.warnings), key=lambda one: (one.line, one.level, one.type)):
        place = f"{checked.path}:{one.line}" if one.line else checked.path
        about = f"{one.intent_id}: " if one.intent_id and one.intent_id not in one.message else ""
        yield Text.assemble(
            plain(place.replace("\n", "\\n"), STRONG),
            ": ",
            (f"{one.level} {one.type}", styles[one.level]),
            ": ",
            plain((about + one.message).replace("\n", "\\n")),
            overflow="fold",
        )
    counts = ((checked.intents, "intent"), (len(report.errors), "error"), (len(report.warnings), "warning"))
    parts = [(counted(number, noun), "") for number, noun in counts]
    yield joined((*parts, ("valid", GOOD) if report.valid else ("not valid", BAD)))


# ---- `mcl work trace`: what was changed in this folder, and under which intents.

_LAST = 20
_MARK = " (recovered)"  # the line was made by whoever came after a killed process


@verb(work, "trace")
def trace(
    intent: Annotated[str, option("--intent INTENT", "Only what was changed under this intent.")] = "",
    file: Annotated[str, option("--file PATH", "Only of this file, as the trace names it.")] = "",
    agent: Annotated[str, option("--agent NAME", "Only by this agent.")] = "",
    last: Annotated[int, option("--last N", "At most so many lines, the newest.", min=0)] = _LAST,
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Show what was changed in this folder, and check that the trace is whole.

    The exit code is 6 where lines were changed, taken out or put in between; they are named then.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.agents.usecases import trace_work

    found = trace_work(root=root, intent=intent, file=file, agent=agent, last=last, home=use_home())
    out, report = Output(as_json), found.report
    out.document(found)
    lines = [
        (
            (moment(line.time), DIM),
            (line.change.label, ""),
            (line.change.agent or line.change.author, DIM),
            (line.change.tool, DIM),
            (f"{line.change.file}{_ranges(line.change.lines)}{_MARK if line.change.recovered else ''}", ""),
        )
        for line in found.lines
    ]
    if lines:
        out.view([listing(("when", "intent", "by", "tool", "file"), lines)])
    elif not report.lines:
        note(f"no trace in {report.root}")
    if report.unsigned:
        note(f"{report.unsigned} lines were not signed in this home; they came with the folder")
    if report.torn:
        note("a crash left the end unfinished; the next change puts it in order")
    for one in found.unended[:_LAST]:
        since = f"since {moment(one.at)}, when {one_line(one.tool)} was let through"
        note(f"{one_line(one.file)} changed {since}; nobody saw how that ended, and no line tells of it")
    if report.findings:
        out.view(
            [
                listing(
                    ("code", "line", "what"),
                    [
                        ((one.code, BAD), (str(one.line or ""), ""), (one.message, ""))
                        for one in report.findings
                    ],
                )
            ]
        )
    return 0 if report.ok else UNVERIFIED


def _ranges(lines: tuple[tuple[int, int], ...]) -> str:
    said = [f"{first}" if first == last else f"{first}-{last}" for first, last in lines[:4]]
    more = ", …" if len(lines) > len(said) else ""
    return f":{', '.join(said)}{more}" if said else ""
