"""The tables of the gate, as data: what a verb may do, what a declaration covers, what needs a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # the compiler looks at these tables too, and has no use for manifests
    from executor.call import Operation
    from executor.tools.manifest import Effect, Manifest

Need = Literal["allow", "plan", "exact"]

RANK: Mapping[str, int] = {"read": 0, "write": 1, "destructive": 2}

# For each side-effect class the most that may be done with it. Nothing here covers what is destructive:
# that needs approval of the exact call (NEEDS below), whatever the verb.
_LOOK: Mapping[str, Operation] = {"read": "read", "network": "read", "shell": "read"}
_CHANGE: Mapping[str, Operation] = {**_LOOK, "write": "write", "shell": "write"}
_EXCHANGE: Mapping[str, Operation] = {**_CHANGE, "network": "write", "chain": "write"}
VERB_CEILING: Mapping[str, Mapping[str, Operation]] = {
    "find": _LOOK,
    "analyze": _LOOK,
    "monitor": _LOOK,
    "build": _CHANGE,
    "modify": _CHANGE,
    "schedule": _CHANGE,
    "acquire": _EXCHANGE,
    "deliver": _EXCHANGE,
    "negotiate": _EXCHANGE,
    "delegate": _EXCHANGE,
}
UNKNOWN_VERB: Mapping[str, Operation] = _LOOK  # an extension verb promises nothing, so it may only look

# The classes of a manifest that a node's declared class covers.
COVERS: Mapping[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "network": frozenset({"read", "network"}),
    "shell": frozenset({"read", "write", "shell"}),
    "chain": frozenset({"read", "network", "chain"}),
}

# allow: at once. plan: under a plan that a person accepted. exact: a person's approval of this very call.
NEEDS: Mapping[tuple[str, Operation], Need] = {
    ("read", "read"): "allow",
    ("read", "write"): "allow",  # a tool that also reads; what it writes is judged by its other classes
    ("network", "read"): "allow",  # if the host was granted, else the guard approval asks
    ("write", "read"): "plan",
    ("write", "write"): "plan",
    ("shell", "read"): "plan",
    ("shell", "write"): "plan",
}
_ORDER: tuple[Need, ...] = ("allow", "plan", "exact")


def need_of(effect: Effect) -> Need:
    """What a call with this effect needs; what the table does not name needs approval of the exact call."""
    needs = [NEEDS.get((name, effect.operation), "exact") for name in effect.classes]
    return max(needs, key=_ORDER.index)


def carries(effect: Effect) -> bool:
    """Could a call with this effect carry private data to strangers: a network write, or any command?"""
    outward = bool({"network", "chain"} & effect.classes) and effect.operation != "read"
    return outward or "shell" in effect.classes


def over_ceiling(verb: str, declared: str, operation: Operation) -> bool:
    """Tell whether a declared class goes beyond what the verb may do."""
    ceiling = VERB_CEILING.get(verb, UNKNOWN_VERB)
    if declared not in ceiling:
        return True
    return RANK["read" if operation == "read" else "write"] > RANK[ceiling[declared]]


# Why what a call does is not undone, by its effects. What changes files is put back from before-images.
_LASTING: Mapping[str, str] = {
    "shell": "what a process does is not undone",
    "network": "what was sent over the network is not undone",
    "chain": "what was written to a chain is not undone",
}
NO_FILE = "it names no file of the workspace that it changes"


def lasting(manifest: Manifest, effect: Effect) -> str:
    """Why what a call does will not be undone, as is known before; "" where it will be, or does nothing."""
    if effect.operation == "read":
        return ""
    if manifest.lasting:
        return manifest.lasting
    for name, why in _LASTING.items():
        if name in effect.classes:
            return why
    changed = any(mode not in ("read", "list") for mode in manifest.scope.paths.values())
    return "" if changed or manifest.history or manifest.undo else NO_FILE
