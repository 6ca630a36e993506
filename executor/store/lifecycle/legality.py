"""What refuses an event of an intent: it is not legal, a document is none, a moment is over."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from executor.core.errors import LifecycleError
from executor.store.lifecycle.view import View, way_on
from ir import Envelope, Intent, MclError, canonical_bytes, content_hash

Changes: TypeAlias = dict[str, Any]  # of the fields of a view


def read_document(view: View, envelope: Envelope, model: type[Any], data: bytes) -> Any:
    """The document in a body: strict, canonical, carrying its own true hash."""
    try:
        document = model.from_json(data)
    except MclError as error:
        raise illegal(view, envelope, error.code, f"the {model.__name__} in the body: {error}") from error
    if canonical_bytes(document) != data:
        raise illegal(view, envelope, "NOT_CANONICAL", f"the {model.__name__} is not in canonical form")
    if document.hash != content_hash(document):
        code = "INTENT_HASH_MISMATCH" if model is Intent else "PLAN_HASH_MISMATCH"
        raise illegal(view, envelope, code, f"the {model.__name__} does not have the hash that it carries")
    return document


def moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def is_past(limit: str, at: str) -> bool:
    """Whether a moment (ISO 8601) lies behind a limit; "" is none."""
    return bool(limit) and moment_of(at) > moment_of(limit)


def illegal(view: View, envelope: Envelope, code: str, message: str, *, fix: str = "") -> LifecycleError:
    """The error for an event that is refused, with what would be legal."""
    legal = view.legal()
    fix = fix or way_on(view.state, envelope.intent)
    return LifecycleError(code, message, place=envelope.intent, fix=fix, state=view.state, legal=legal)
