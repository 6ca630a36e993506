"""`mcl plan compare`: does the difference between two documents need a new accept? Nothing is changed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.materiality import Change, Documents, is_material
from executor.store.materiality import compare as compared
from ir import DocumentError, Intent, PlanTree, canonical_bytes, check_plan, is_instant, parse_json
from mcl.core.errors import InputError
from mcl.usecases.verification import read_document

if TYPE_CHECKING:
    from executor.store.home import Home

_NESTING = PlanTree.max_nesting + 2  # what `mcl show --json` writes holds its documents one level down
_BLIND = ("NODE_ID_MISSING", "NODE_ID_REPEATED", "TOO_MANY_NODES", "TOO_DEEP")  # nothing can be compared


@dataclass(frozen=True)
class MaterialityReport:
    """Every difference between two documents. at: the moment that deadlines were judged by."""

    material: bool
    changes: tuple[Change, ...]
    at: str


def compare(
    before: str | Path | Documents,
    after: str | Path | Documents,
    *,
    at: str | None = None,
    home: "Home | None" = None,
) -> MaterialityReport:
    """Compare two Intents, two plans, or two Intents each with its plan.

    before, after: a file (an Intent, a PlanTree, or what `mcl show --json` wrote), an intent of the home, or
    documents. at: ISO 8601 UTC, from which what remains of a deadline is counted (None: now). Raises
    InputError FILE_UNREADABLE, FILE_TOO_LARGE, NO_DOCUMENT, KINDS_DIFFER, PLAN_INVALID, BAD_TIME and what
    finding an intent raises; DocumentError for what is no such document.
    """
    old, new = _documents(before, home), _documents(after, home)
    kinds = [_kind(one) for one in (old, new)]
    if kinds[0] != kinds[1]:
        fix = "give two Intents, two plans, or two Intents with their plans"
        message = f"{kinds[0]} and {kinds[1]} cannot be compared"
        raise InputError("KINDS_DIFFER", message, place=str(after), fix=fix)
    if at is None:
        from executor.core.clock import SystemClock

        at = (home.clock if home is not None else SystemClock()).now()
    elif not is_instant(at):
        raise InputError("BAD_TIME", f"{at!r} is no moment", place="at", fix="such as 2026-11-21T10:00:00Z")
    changes = compared(old, new, now=at)
    return MaterialityReport(is_material(changes), changes, at)


def _kind(documents: Documents) -> str:
    if documents.intent is None:
        return "a plan"
    return "an Intent" if documents.plan is None else "an Intent with its plan"


def _documents(given: str | Path | Documents, home: "Home | None") -> Documents:
    if isinstance(given, Documents):
        found = given
    elif isinstance(given, Path) or Path(given).is_file():
        found = _of_file(Path(given))
    else:
        found = _of_intent(given, home)
    if found.intent is None and found.plan is None:
        fix = "give an Intent, a plan, or an intent that is compiled"
        raise InputError("NO_DOCUMENT", "there is no Intent and no plan", place=str(given), fix=fix)
    for flaw in check_plan(found.plan) if found.plan is not None else ():
        if flaw.code in _BLIND:
            message = f"{flaw.code}: {flaw.message}"
            raise InputError("PLAN_INVALID", message, place=f"{given} {flaw.place}".strip(), fix=flaw.fix)
    return found


def _of_intent(name: str, home: "Home | None") -> Documents:
    from mcl.usecases.intents import show

    try:
        found = show(name, home=home)
    except InputError as error:
        if error.code in ("INTENT_UNKNOWN", "INTENT_AMBIGUOUS"):
            message = f"{name} is no file and no intent: {error.message}"
            raise InputError(error.code, message, place=name, fix=error.fix, data=error.data) from error
        raise
    return Documents(found.intent, found.plan)


def _of_file(path: Path) -> Documents:
    data = read_document(path, "name a file that may be read")
    try:
        return _parsed(data)
    except DocumentError as error:
        place = f"{path} {error.place}".strip()
        raise DocumentError(error.code, error.message, place=place, fix=error.fix, data=error.data) from error


def _parsed(data: bytes) -> Documents:
    value = parse_json(data, max_nesting=_NESTING)
    if isinstance(value, dict) and "root" in value:
        return Documents(plan=PlanTree.from_json(data))
    if isinstance(value, dict) and ("intent" in value or "plan" in value):
        intent, plan = value.get("intent"), value.get("plan")
        return Documents(
            Intent.from_json(canonical_bytes(intent)) if intent is not None else None,
            PlanTree.from_json(canonical_bytes(plan)) if plan is not None else None,
        )
    return Documents(intent=Intent.from_json(data))
