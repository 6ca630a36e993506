"""What is to be known of the maps that a model was told of in a review."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from executor.sandbox.paths import Workspace
from ir.errors import MclError
from mcl.plugins.review.maps.loading import load

_NAMED: Final = 3
_AGAIN: Final = "make them again: mcl review context build"


def maps_note(root: Path, told: Mapping[str, Any], looked: Mapping[str, Any]) -> str:
    """A sentence where the maps could not be read, or say of reviewed files what these were; else "".

    told: the output of review/context, {} where no model was asked. looked: that of review/look.
    """
    state = str(told.get("maps", ""))
    if state.startswith("unreadable"):
        return f"the model was told nothing of roles and symbols, {state}"
    if state != "read":
        return ""
    try:
        with closing(Workspace(root)) as workspace:
            maps = load(workspace)
    except MclError:  # they were there when the review began
        return ""
    known = maps.files if maps else {}
    old = [
        one["path"]
        for one in looked.get("files", ())
        if "sha256" in one and (one["path"] not in known or known[one["path"]].sha256 != one["sha256"])
    ]
    if not old:
        return ""
    more = f" and {len(old) - _NAMED:,} more" if len(old) > _NAMED else ""
    named = ", ".join(old[:_NAMED]) + more
    return f"the maps are old for {named}, and the model was told no symbols of them; {_AGAIN}"
