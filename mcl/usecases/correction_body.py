"""What is signed of a correction: its patches, made and read, and what they come to."""

import json
from collections.abc import Sequence
from typing import Any, Final

from executor.store.lifecycle.corrections import Correction, correction, target_of
from executor.store.lifecycle.patches import MAX_BYTES, PatchFlaw, read_patches
from executor.store.lifecycle.view import View
from ir import Intent, IntentCorrectBody, PlanTree, check_plan
from ir.inline_secrets import find_secret
from mcl.catalog.extras import require_extras_of
from mcl.core.errors import InputError
from mcl.usecases.fields import patches_between, patches_of, plain_document

_INTENT, _PLAN = "/intent", "/plan"
_MOST_OPERATIONS: Final = 200  # beyond which a plan is replaced as a whole


def read_operations(patches: bytes | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The operations of patches that a person gave. Raises InputError PATCH_WRONG."""
    data = patches if isinstance(patches, bytes) else json.dumps(list(patches)).encode()
    try:
        operations = read_patches(data)
    except PatchFlaw as flaw:
        raise _bad(flaw.message, flaw.place) from flaw
    for number, operation in enumerate(operations):
        for pointer in (operation["path"], operation.get("from", operation["path"])):
            if not any(pointer == root or pointer.startswith(root + "/") for root in (_INTENT, _PLAN)):
                fix = "begin it with /intent/ or /plan/, as in /intent/budget/max_calls"
                raise InputError(
                    "PATCH_WRONG", f"{pointer!r} leads nowhere", place=f"patches[{number}]", fix=fix
                )
    return operations


def _bad(message: str, place: str) -> InputError:
    fix = f"a JSON list of RFC 6902 operations, at most {MAX_BYTES} bytes"
    return InputError("PATCH_WRONG", message, place=place, fix=fix)


def operations_between(view: View, intent: Intent, plan: PlanTree) -> list[dict[str, Any]]:
    """Those that make these documents of what counts."""
    assert view.intent is not None, "asked before"
    assert view.plan is not None, "asked before"
    of_intent = patches_between(plain_document(view.intent), plain_document(intent), _INTENT)
    return of_intent + operations_of_plan(view.plan, plan)


def operations_of_plan(before: PlanTree, after: PlanTree) -> list[dict[str, Any]]:
    """Those that make one plan another."""
    new = plain_document(after)
    found = patches_between(plain_document(before), new, _PLAN)
    return found if len(found) <= _MOST_OPERATIONS else [{"op": "replace", "path": _PLAN, "value": new}]


def operations_of_fields(
    view: View,
    operations: list[dict[str, Any]],
    given: tuple[list[str], list[str]],
    *,
    id: str,
    at: str,
) -> list[dict[str, Any]]:
    """Those of single fields, made for what the operations before them leave. given: what is set, and what is
    taken away. Raises InputError PATH_UNKNOWN, PATH_AMBIGUOUS, VALUE_WRONG."""
    intent, plan = view.intent, view.plan
    if operations:
        found = judged(view, body_of(view, operations, "", ""), id=id, at=at)
        intent, plan = found.intent, found.plan
    assert intent is not None, "asked before"
    assert plan is not None, "asked before"
    return patches_of(intent, plan, *given)


def body_of(
    view: View, operations: list[dict[str, Any]], reason: str, retry_from: str, goal: bytes = b""
) -> IntentCorrectBody:
    """The body: of one document where all operations are about it, else of both. Raises InputError
    SECRET_INLINE."""
    if found := find_secret("reason", reason):
        message, fix = f"the reason looks like {found}", "leave it out; reasons are kept in the journal"
        raise InputError("SECRET_INLINE", message, place="reason", fix=fix)
    pointers = [one[name] for one in operations for name in ("path", "from") if name in one]
    of_intent = any(pointer.startswith(_INTENT) for pointer in pointers)
    of_plan = any(pointer.startswith(_PLAN) for pointer in pointers) or not of_intent
    if of_intent != of_plan:
        root = _INTENT if of_intent else _PLAN
        operations = [
            {
                name: value.removeprefix(root) if name in ("path", "from") else value
                for name, value in one.items()
            }
            for one in operations
        ]
    target = target_of(of_intent, of_plan, view)
    data = json.dumps(operations, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")
    return IntentCorrectBody(target, data, reason, retry_from, goal=goal)


def judged(view: View, body: IntentCorrectBody, *, id: str, at: str) -> Correction:
    """What it comes to, signed at a moment. Raises LifecycleError as `correction`; InputError SECRET_INLINE,
    EXTRA_MISSING."""
    found = correction(view, body, at=at, intent=id)
    secret = next((flaw for flaw in check_plan(found.plan) if flaw.code == "SECRET_INLINE"), None)
    if secret is not None:
        raise InputError("SECRET_INLINE", secret.message, place=f"plan.{secret.place}", fix=secret.fix)
    require_extras_of(found.plan, before=view.plan)
    return found
