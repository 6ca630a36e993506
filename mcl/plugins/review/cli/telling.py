"""How a review is told: the findings on standard output, what else there is to know beside them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.cli.output import note, note_error, write_document, write_text
from mcl.core.safe import one_line, safe, safe_json

if TYPE_CHECKING:
    from mcl.plugins.review.usecases.run import ReviewRun
    from mcl.plugins.review.usecases.unchanged import Unchanged

STANDARD = "-"
_NAMED = 5  # files left out that are named
_LONGEST = 600  # characters of a note


def tell(result: "ReviewRun", *, sarif: str, as_json: bool, dismissed: bool = False) -> int:
    """Tell it, and write it as SARIF where that is asked for; the exit code. sarif: a file, or -. dismissed:
    tell each finding that was dismissed, too."""
    problem = result.problem()
    if as_json:
        write_document(result.to_json())
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
        write_document(unchanged.to_json())
    elif sarif != STANDARD:
        write_text(unchanged.text + "\n")
    if sarif:
        _write_sarif(unchanged, sarif)
    note(safe(f"{unchanged.why}, so nothing was reviewed; with another revision: mcl review --diff main"))
    return unchanged.exit


def _write_sarif(result: "ReviewRun | Unchanged", sarif: str) -> None:
    text = safe_json(json.dumps(result.to_sarif(), ensure_ascii=False, indent=2)) + "\n"
    if sarif == STANDARD:
        write_text(text)
        return
    from ir.errors import FAILED
    from mcl.core.errors import ReviewError
    from mcl.core.replacing import replacing

    try:
        place = Path(sarif).resolve()
        with replacing(place, like=place.stat() if place.is_file() else None) as file:
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
    said = f"{_many(count, 'finding')} in {_many(files, 'file')}"
    said += f", {blocking:,} of them block{'s' if blocking == 1 else ''}" if blocking else ""
    said += _who(result)
    said += f"; dismissed: {len(gone):,}" if (gone := result.dismissed) else ""
    if lost := len(output["unreadable"]):
        said += f"; {_many(lost, 'line')} could not be read as a finding, which blocks too"
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
    named = ", ".join(f"{one_line(one.location, 80)} {one.rule}" for one in ruled[:_NAMED])
    more = f" and {len(ruled) - _NAMED:,} more" if len(ruled) > _NAMED else ""
    return f"; of rules: {named}{more}; the model said the others"


def _left_out(looked: dict[str, object]) -> str:
    skipped = [dict(one) for one in looked.get("skipped", [])]  # type: ignore[attr-defined]
    if not skipped:
        return ""
    if len(skipped) <= _NAMED:
        named = ", ".join(f"{one_line(one['path'], 80)} ({one['why']})" for one in skipped)
    else:
        named = str(looked.get("text", "")).rpartition("; left out: ")[2]  # all, also those without a name
    return f"; left out: {named}"


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
