"""Naming an intent: its id, a unique beginning of it, or @last."""

import re

from executor.store.home import Home
from mcl.core.errors import InputError

LAST = "@last"
_NEAREST = 5
_SCHEME = "matrix://intent/"


def find_intent(home: Home, text: str) -> str:
    """The ULID of the intent that `text` names: a ULID or matrix:// address, a unique beginning, or @last.

    @last is the intent that something was last written about. Raises InputError: INTENT_UNKNOWN,
    INTENT_AMBIGUOUS, each with the nearest ids in `data["nearest"]`.
    """
    if text == LAST:
        newest = home.journal.intents()
        if not newest:
            raise _unknown(text, ())
        return newest[0]
    wanted = text.strip().removeprefix(_SCHEME).upper()
    found = home.journal.intents(wanted) if re.fullmatch(r"[0-9A-Z]{1,26}", wanted) else ()
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            "INTENT_AMBIGUOUS",
            f"{len(found)} intents begin with {text}: {_some(found)}",
            place="intent",
            fix="give more characters of the id",
            data={"nearest": list(found[:_NEAREST])},
        )
    raise _unknown(text, _nearest(home, wanted))


def _nearest(home: Home, wanted: str) -> tuple[str, ...]:
    """The ids that share the longest beginning with what was given; newest first where equal."""

    def shared(id: str) -> int:
        return next(
            (place for place, (a, b) in enumerate(zip(id, wanted, strict=False)) if a != b), len(wanted)
        )

    return tuple(sorted(home.journal.intents(), key=shared, reverse=True)[:_NEAREST])


def _unknown(text: str, nearest: tuple[str, ...]) -> InputError:
    return InputError(
        "INTENT_UNKNOWN",
        f"no intent begins with {text}; nearest: {_some(nearest)}" if nearest else "there is no intent yet",
        place="intent",
        fix="mcl list shows them all" if nearest else 'mcl compile "GOAL" makes one',
        data={"nearest": list(nearest)},
    )


def _some(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _NEAREST} more" if len(ids) > _NEAREST else ""
    return ", ".join(ids[:_NEAREST]) + more
