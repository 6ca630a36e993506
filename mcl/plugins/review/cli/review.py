"""`mcl review file` and `parse`: code is reviewed, and any text is read for findings."""

import json
from contextlib import ExitStack
from pathlib import Path
from threading import Lock, Timer
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import AsJson, Workspace, argument, option, read_source
from mcl.cli.home import use_home
from mcl.cli.output import note, note_error, write_document, write_line, write_text
from mcl.cli.progress import progress_bar
from mcl.core.text import counted, one_line, safe, safe_json, some

if TYPE_CHECKING:
    from executor.walker.interfaces import WalkEvent
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.finding_text import FindingsRead
    from mcl.plugins.review.usecases.draft import DraftedReview
    from mcl.plugins.review.usecases.run import ReviewRun, Unchanged


_MOMENT: Final = 1.0  # seconds


class StepProgress:
    """A line on standard error for each step of a run that lasts longer than a second.

    On a terminal also a bar, for one that says how far it is.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._now = ""
        self._late = False
        self._timer = Timer(_MOMENT, self._begin)
        self._timer.daemon = True
        self._open = ExitStack()
        self._bar = self._open.enter_context(progress_bar())

    def __enter__(self) -> "StepProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._open.close()

    def on(self, event: "WalkEvent") -> None:
        """Say what begins, once it is late."""
        if event.state != "running" or event.error or event.kind not in ("tool_call", "step"):
            return
        with self._lock:
            if not self._now:
                self._timer.start()
            self._now = event.description
            if self._late:
                self._say()

    def advanced(self, node_id: str, done: int, total: int) -> None:
        """Show how much of the step is done."""
        with self._lock:
            if self._bar is not None:
                self._bar(done, total, one_line(self._now))

    def _begin(self) -> None:
        with self._lock:
            self._late = True
            if self._now:
                self._say()

    def _say(self) -> None:
        note(f"{one_line(self._now)} …")


def file_command(
    target: Annotated[
        str,
        argument("FILE", "A file or a folder; with --diff a revision (default: the last commit)."),
    ] = "",
    diff: Annotated[
        bool,
        option("--diff", "What changed since a revision, with the new files."),
    ] = False,
    staged: Annotated[bool, option("--staged", "What would be committed.")] = False,
    mode: Annotated[str, option("--mode MODE", "comment, architecture, security or risk.")] = "comment",
    deep: Annotated[
        bool, option("--deep", "Ask the model three times: structure, review, consistency.")
    ] = False,
    no_ai: Annotated[bool, option("--no-ai", "The rules alone; no model is asked.")] = False,
    model: Annotated[
        Path | None,
        option(
            "--model PATH", "A GGUF file to ask, or the name of a known model, in place of the model in use."
        ),
    ] = None,
    sarif: Annotated[
        str,
        option("--sarif FILE", "Write the findings as SARIF 2.1.0; - is standard output."),
    ] = "",
    dismissed: Annotated[
        bool, option("--dismissed", "Tell each finding that was dismissed, and why.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> int:
    """Review a file, a folder (with --no-ai), or what changed.

    The findings are on standard output, in the form [SEVERITY] file:line; everything else is on standard
    error. It is signed with your key and kept in the journal; what was found in a file is remembered, the
    file is not. Nothing in the workspace is written.

    Exit codes: 0 nothing that blocks, also where nothing changed; 1 blocking findings, 2 usage, 4 refused,
    5 failed: what was found before is told, and is not all.
    """
    from mcl.core.errors import ReviewError
    from mcl.plugins.review.usecases.run import NOTHING_CHANGED, Unchanged, review_code

    if as_json and sarif == STANDARD:
        raise typer.BadParameter("--json and --sarif - both take standard output")
    changed = diff or staged
    began: list[str] = []

    def begins(made: "DraftedReview") -> None:
        began.append(made.intent.id)
        if made.note:
            note(made.note)

    try:
        with StepProgress() as progress:
            result = review_code(
                "" if changed else target,
                base=(target or "HEAD") if changed else "",
                staged=staged,
                mode=mode,
                deep=deep,
                ai=not no_ai,
                model=model,
                workspace=workspace,
                began=begins,
                listener=progress,
                home=use_home(signs=True),
            )
    except KeyboardInterrupt:
        for intent in began:
            note(f"interrupted; go on with it: mcl run {intent} --resume; what it found: mcl show {intent}")
        raise
    except ReviewError as problem:
        if problem.code != NOTHING_CHANGED:
            raise
        unchanged = Unchanged(problem.message, mode, workspace or Path.cwd())
        return tell_unchanged(unchanged, sarif=sarif, as_json=as_json)
    return tell(result, sarif=sarif, as_json=as_json, dismissed=dismissed)


# ---- How a review is told: the findings on standard output, what else there is to know beside them.

STANDARD = "-"
_NAMED = 5  # files left out that are named
_WHY = {"secret": "protected name"}  # where a word of a program says less than is meant
_LONGEST = 600  # characters of a note


def tell(result: "ReviewRun", *, sarif: str, as_json: bool, dismissed: bool = False) -> int:
    """Tell it, and write it as SARIF where that is asked for; the exit code. sarif: a file, or -. dismissed:
    tell each finding that was dismissed, too."""
    problem = result.problem()
    if as_json:
        write_document(result)
    if not as_json and sarif != STANDARD and result.text:
        write_text(safe(result.text) + "\n")
    if sarif and (problem is None or result.output):
        _write_sarif(result, sarif)
    if dismissed and not as_json:
        for finding, why in result.dismissed:
            rule = finding.rule or finding.severity
            note(one_line(f"dismissed: {finding.location} {rule}: {why}", _LONGEST))
    if result.output:
        if result.maps_note:
            note(one_line(result.maps_note, _LONGEST))
        note(_summary(result))
    if problem is not None:
        note_error(problem)
    elif not result.output:
        note(f"the review was {result.outcome.state}")
    return result.exit


def tell_unchanged(unchanged: "Unchanged", *, sarif: str, as_json: bool) -> int:
    """Tell of a difference that is empty in the same places and forms; the exit code."""
    if as_json:
        write_document(unchanged)
    elif sarif != STANDARD:
        write_text(unchanged.text + "\n")
    if sarif:
        _write_sarif(unchanged, sarif)
    note(safe(f"{unchanged.why}, so nothing was reviewed; with another revision: mcl review --diff main"))
    return unchanged.exit


def _write_sarif(result: "ReviewRun | Unchanged", sarif: str) -> None:
    from ir.errors import FAILED
    from mcl.core.errors import ReviewError

    text = safe_json(json.dumps(result.to_sarif(), ensure_ascii=False, indent=2)) + "\n"
    if sarif == STANDARD:
        write_text(text)
        return
    from executor.core.files import whole_file

    try:
        place = Path(sarif).resolve()
        with whole_file(place, like=place.stat() if place.is_file() else None) as file:
            file.write(text.encode())
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        said = getattr(error, "strerror", None) or str(error)
        raise ReviewError(
            "SARIF_UNWRITABLE",
            f"cannot be written: {said}",
            place=sarif,
            fix="name a file in a folder that can be written to",
            exit=FAILED,
        ) from error


def _summary(result: "ReviewRun") -> str:
    """2 findings in 1 file, 1 of them blocks; left out: logo.png (binary)"""
    output, looked = result.output, result.looked
    count, files = output["count"], output["files"]
    blocking = sum(one.blocking for one in result.findings)
    said = f"{counted(count, 'finding')} in {counted(files, 'file')}"
    said += f", {blocking:,} of them block{'s' if blocking == 1 else ''}" if blocking else ""
    said += _who(result)
    said += f"; dismissed: {len(gone):,}" if (gone := result.dismissed) else ""
    if lost := len(output["unreadable"]):
        said += f"; {counted(lost, 'line')} could not be read as a finding, which blocks too"
    if output["truncated"]:
        said += "; there is more than is told here"
    said += "" if result.whole else "; the review is not whole"
    return said + _left_out(looked)


def _who(result: "ReviewRun") -> str:
    """Which findings are of rules, where a model said others; a text may say anything of itself."""
    ruled = [one for one in result.findings if one.rule]
    if len(ruled) == len(result.findings):
        return ""
    if not ruled:
        return ", none of them of a rule: the model said them"
    named = some([f"{one_line(one.location, 80)} {one.rule}" for one in ruled], _NAMED)
    return f"; of rules: {named}; the model said the others"


def _left_out(looked: dict[str, object]) -> str:
    skipped = [dict(one) for one in looked.get("skipped", [])]  # type: ignore[attr-defined]
    if not skipped:
        return ""
    if len(skipped) <= _NAMED:
        named = ", ".join(
            f"{one_line(one['path'], 80)} ({_WHY.get(one['why'], one['why'])})" for one in skipped
        )
    else:
        named = str(looked.get("text", "")).rpartition("; left out: ")[2]  # all, also those without a name
    return f"; left out: {named}"


# ---- `mcl review parse`: the findings in any text, read so that none is passed over.

MAX_BYTES: Final = 4 * 1024 * 1024


def parse_command(
    file: Annotated[str, argument("[FILE]", "A text with findings; - is standard input.")] = "-",
    mode: Annotated[
        str,
        option("--mode MODE", "Say which labels are not of comment, architecture, …"),
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Read the findings of a text: once each, the worst first. What looks like one and cannot be read blocks.

    Exit codes: 0 nothing that blocks, 1 blocking findings or lines that cannot be read, 4 refused: also a
    text that says nothing.
    """
    from mcl.plugins.review.finding_text import read_findings, says_nothing, settled

    labels = None
    if mode:
        from mcl.plugins.review.contract import contract

        labels = contract(mode).labels
    text = _read(file).decode("utf-8-sig", errors="replace")
    if says_nothing(text):
        raise _refused("REVIEW_EMPTY", "it says nothing, and that is no review without findings", file)
    found = settled(read_findings(text, labels=labels))
    if as_json:
        write_document(found)
    else:
        _tell_read(found)
    for finding in found.outside:
        note(f"{finding.severity} at {finding.location}: no label of mode {mode}")
    return 1 if found.blocking else 0


def _tell_read(found: "FindingsRead") -> None:
    from mcl.plugins.review.finding_text import write_findings

    for line in write_findings(found.findings).split("\n") if found.findings or not found.unreadable else ():
        write_line(line)
    for unread in found.unreadable:
        write_line(f"line {unread.line} cannot be read: {unread.text}")


def _read(source: str) -> bytes:
    """The bytes of a file or of standard input, where they are not too many."""
    try:
        data = read_source(source, MAX_BYTES, what="a text")
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name
        why = getattr(problem, "strerror", "") or str(problem)
        raise _refused("FILE_UNREADABLE", f"it cannot be read: {why}", source) from problem
    if len(data) > MAX_BYTES:
        raise _refused("REVIEW_TOO_LONG", f"it has more than {MAX_BYTES} bytes", source)
    return data


def _refused(code: str, message: str, place: str) -> "ReviewError":
    from mcl.core.errors import ReviewError

    return ReviewError(code, message, place=place, fix="name a file with the text of one review")
