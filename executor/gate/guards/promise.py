"""promise: no call breaks what the goal rules out, wherever in the run it is made.

Denied by default: what cannot be seen to keep a rule (a command, a tool of another server, work for another
agent) counts as breaking it.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from executor.call import Call
from executor.core.errors import ScopeError
from executor.gate.budget import Used
from executor.gate.context import Context
from executor.gate.mandate import DISPATCH
from executor.gate.portion import roams
from executor.gate.rules import HeldRule, fits
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.manifest import CHANGING, Effect, Manifest

_OUTWARD: Final = frozenset({"network", "chain"})
# Rules that are kept whatever another agent does: the handing over itself is all there is to count or name.
_OF_THE_CALL: Final = ("ask before each", "at most calls", "no tool", "only tool")


def promise(call: Call, context: Context) -> Deny | None:
    """PROMISE_BROKEN, or PROMISE_UNKNOWN for a rule that this executor cannot read."""
    mandate, manifest = context.mandate, context.manifest(call)
    if mandate is None or manifest is None or not mandate.rules:
        return None
    effect = context.effect(call, manifest)
    for rule in mandate.rules:
        if rule.flaw:
            return Deny(
                "PROMISE_UNKNOWN",
                f"{rule.place}: {rule.flaw}, so nothing can be held to it",
                "write the rule's keeps as docs/ir.md lists them, and have the intent accepted again",
                data={"promise": rule.place},
            )
        try:
            why = _broken(rule, call, context, manifest, effect)
        except ScopeError as error:  # a path or an address that is none
            why = error.message
        if why:
            return Deny(
                "PROMISE_BROKEN",
                f"{why}; the goal promises that {rule.means} (“{visible(rule.said)[:200]}”)",
                "plan it without this call, or take the rule back and have the intent accepted again",
                data={"promise": rule.place, "keeps": str(rule.restriction)},
            )
    return None


def _broken(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    """How the call breaks a rule, "" where it keeps it."""
    kind = rule.restriction.kind
    if manifest.uri == DISPATCH and kind not in _OF_THE_CALL:
        return "work for another agent is done where nobody here sees it"
    if rule.regions is not None:
        return _abroad(rule, call, context, manifest, effect)
    return _CHECKS[kind](rule, call, context, manifest, effect)


def _abroad(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    assert rule.regions is not None, "it is a jurisdiction"
    if _goes_anywhere(manifest, effect):
        return f"{manifest.uri} goes where nobody here sees it"
    known = context.grants.regions(context.agent) if _OUTWARD & effect.classes else {}
    for origin in context.origins(call, manifest):
        where = known.get(origin, ())
        if not where:
            return (
                f"nobody said in which region {origin.short} is"
                f" (mcl grant add network --host {origin.short} --region …)"
            )
        if not fits(where, rule.regions):
            return f"{origin.short} is in {', '.join(where)}"
    return ""


def _goes_anywhere(manifest: Manifest, effect: Effect) -> bool:
    """May it reach hosts that its arguments do not name?"""
    named = manifest.scope.kind == "network"
    free = "shell" in effect.classes or manifest.outside is not None
    return free or bool(_OUTWARD & effect.classes and not named)


# ---- One check a kind of rule.


def _changes(effect: Effect, manifest: Manifest) -> bool:
    """May a call change anything at all? A command that only reads may still write its outputs."""
    return effect.operation != "read" or bool(manifest.command and manifest.command.outputs)


def _changes_files(effect: Effect, manifest: Manifest) -> bool:
    """May a call change files? One that names no file it writes to does so by its class."""
    by_class = {"write", "shell"} & effect.classes or manifest.outside is not None
    return _changes(effect, manifest) and bool(by_class or _writes(manifest))


def _writes(manifest: Manifest) -> bool:
    """Does it name files that it writes to?"""
    return any(mode in CHANGING for mode in manifest.scope.paths.values())


def _no_change(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    return f"{manifest.uri} {_does(effect)}" if _changes(effect, manifest) else ""


def _no_loss(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if effect.operation == "destructive":
        return f"{manifest.uri} {_does(effect)}"
    return _unseen_change(manifest, effect)


def _unseen_change(manifest: Manifest, effect: Effect) -> str:
    """Why nobody can tell what a call does to files; "" where it changes none, or names them."""
    if not _changes_files(effect, manifest):
        return ""
    free = roams(manifest) or (manifest.scope.kind == "workspace" and not _writes(manifest))
    return f"nobody can tell beforehand which files {manifest.uri} changes" if free else ""


def _no_overwriting(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if not _changes(effect, manifest):
        return ""
    if _OUTWARD & effect.classes or (manifest.scope.kind == "none" and not roams(manifest)):
        return f"nobody here sees what {manifest.uri} replaces"
    if effect.operation == "destructive":
        return f"{manifest.uri} {_does(effect)}"
    there = (path for path, mode in context.paths(call, manifest) if mode == "write" and context.exists(path))
    if found := next(there, ""):
        return f"{visible(found)!r} is there already"
    return _unseen_change(manifest, effect)


def _no_new_files(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if not _changes(effect, manifest):
        return ""
    for path, mode in context.paths(call, manifest):
        # In a folder that is there it may make any file.
        if mode == "add" or (mode == "write" and not (context.exists(path) and _is_file(path, context))):
            return f"{manifest.uri} makes a file at {visible(path)!r}"
    return _unseen_change(manifest, effect)


def _is_file(path: str, context: Context) -> bool:
    """Is there a file, rather than a folder?"""
    status = context.workspace.check(path)
    return status is not None and stat.S_ISREG(status.st_mode)


def _no_network(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if _OUTWARD & effect.classes or manifest.outside is not None:
        return f"{manifest.uri} goes over the network"
    return f"{manifest.uri} starts a program, which could" if "shell" in effect.classes else ""


def _no_sending(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if _OUTWARD & effect.classes and effect.operation != "read":
        return f"{manifest.uri} {_does(effect)}"
    if "shell" in effect.classes:
        return f"{manifest.uri} starts a program, which could send"
    if manifest.outside is not None:
        return f"{manifest.uri} gives what it is given to another server"
    planned = context.mandate.call_at(call.node_id) if context.mandate else None
    texts = planned.args.values() if planned else ()
    if _OUTWARD & effect.classes and any("${" in text.replace("$${", "") for text in texts):
        return f"{manifest.uri} carries what earlier nodes gave along"
    return ""


def _no_commands(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if manifest.outside is not None:
        return f"nobody here sees what {manifest.uri} starts"
    return f"{manifest.uri} starts a program" if "shell" in effect.classes else ""


def _in_places(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    return _elsewhere(rule, manifest, effect) or _astray(
        rule, manifest, list(_touched(call, context, manifest))
    )


def _changed_in_places(
    rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect
) -> str:
    if elsewhere := _elsewhere(rule, manifest, effect):
        return elsewhere
    if not _changes_files(effect, manifest):
        return ""
    if unseen := _unseen_change(manifest, effect):
        return unseen
    return _astray(rule, manifest, [path for path, mode in _modes(call, context, manifest) if mode != "read"])


def _elsewhere(rule: HeldRule, manifest: Manifest, effect: Effect) -> str:
    """How a call changes what lies in no place of the workspace at all: a page, say, or a memory."""
    if not rule.restriction.kind.endswith("only in") or _writes(manifest) or roams(manifest):
        return ""
    far = bool(_OUTWARD & effect.classes) or not manifest.scope.paths
    return f"{manifest.uri} changes what lies elsewhere" if far and _changes(effect, manifest) else ""


def _astray(rule: HeldRule, manifest: Manifest, paths: list[str]) -> str:
    assert rule.portion is not None, "a rule about places has one"
    if manifest.scope.kind == "none" and not roams(manifest):
        return ""  # it is about no file at all: the time, say, or a memory
    found = rule.portion.stray(paths, manifest)
    if found is None:
        return ""
    return f"{manifest.uri} is about {visible(found)!r}" if found else f"{manifest.uri} goes where it likes"


def _touched(call: Call, context: Context, manifest: Manifest) -> Iterator[str]:
    return (path for path, _ in _modes(call, context, manifest))


def _modes(call: Call, context: Context, manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The paths of a call with what it does there; a folder that is left out is the workspace."""
    given = manifest.complete(call.args)
    yield from context.paths(call, manifest)
    yield from ((".", mode) for name, mode in manifest.scope.paths.items() if name not in given)


def _hosts(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    assert rule.portion is not None, "a rule about hosts has one"
    if _goes_anywhere(manifest, effect):
        return f"{manifest.uri} goes where nobody here sees it"
    hosts = rule.portion.hosts or frozenset()
    far = next((one for one in context.origins(call, manifest) if one not in hosts), None)
    return f"{manifest.uri} goes to {far.short}" if far is not None else ""


def _closed_tools(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    for name in rule.restriction.values:
        if _is(name, manifest):
            return f"it is a call of {visible(manifest.name)}"
        space, _, what = name.partition("/")
        if manifest.outside is not None and what and what in _words(manifest.outside.tool):
            return f"{visible(manifest.name)} could do the same by its name"
        # What a tool does can be done by any program; what only reads is confined to that.
        if "shell" in effect.classes and (_changes(effect, manifest) or (space, what) == ("git", "push")):
            return f"{manifest.uri} starts a program, which could do the same"
    return ""


def _other_tools(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if any(_is(name, manifest) for name in rule.restriction.values):
        return ""
    return f"it is a call of {visible(manifest.name)}"


def _is(name: str, manifest: Manifest) -> bool:
    own = manifest.uri.removeprefix("matrix://tool/").partition("@")[0]
    if manifest.outside is not None:
        return name == manifest.name
    return name in (own, *manifest.does) or (name.endswith("/*") and own.startswith(name[:-1]))


def _words(name: str) -> list[str]:
    """The words of a tool's name, whatever joins them: createCommit, create_commit, create-commit."""
    parted = "".join(f" {char.lower()}" if char.isupper() else char for char in name)
    return "".join(char if char.isalnum() else " " for char in parted).split()


def _calls(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    made = _used(rule, context).calls
    return f"{made} calls were made" if made >= rule.restriction.most else ""


def _files(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    if not _changes_files(effect, manifest):
        return ""
    if unseen := _unseen_change(manifest, effect):
        return unseen
    for path, mode in context.paths(call, manifest):
        if mode == "write" and context.exists(path) and not _is_file(path, context):
            return f"nobody can tell beforehand how many files {manifest.uri} changes in {visible(path)!r}"
    more = _used(rule, context).files | files_of(call, context, manifest)
    return f"it would be {len(more)} files" if len(more) > rule.restriction.most else ""


def files_of(call: Call, context: Context, manifest: Manifest) -> frozenset[str]:
    """The files that a call changes, where the goal wants them counted. Raises ScopeError."""
    rules = context.mandate.rules if context.mandate else ()
    if not any(one.restriction.kind == "at most files" for one in rules):
        return frozenset()
    return frozenset(
        _counted("/".join(parts), mode, call, context) for parts, mode in context.written(call, manifest)
    )


def _counted(path: str, mode: str, call: Call, context: Context) -> str:
    """What counts as one file: what is added to a folder that is there is a file of its own each time."""
    folder = mode == "add" and context.exists(path) and not _is_file(path, context)
    return f"{path}/{call.args_hash}" if folder else path


def _used(rule: HeldRule, context: Context) -> Used:
    return context.spending.up(rule.levels).used if context.spending is not None else Used()


def _asked(rule: HeldRule, call: Call, context: Context, manifest: Manifest, effect: Effect) -> str:
    return ""  # the guard approval asks


def _does(effect: Effect) -> str:
    return f"is {effect.operation} ({', '.join(sorted(effect.classes))})"


_CHECKS: Final[Mapping[str, Callable[[HeldRule, Call, Context, Manifest, Effect], str]]] = {
    "read only": _no_change,
    "change nothing": _no_change,
    "delete nothing": _no_loss,
    "overwrite nothing": _no_overwriting,
    "no new files": _no_new_files,
    "no network": _no_network,
    "send nothing": _no_sending,
    "no commands": _no_commands,
    "only in": _in_places,
    "not in": _in_places,
    "change only in": _changed_in_places,
    "change not in": _changed_in_places,
    "only host": _hosts,
    "no tool": _closed_tools,
    "only tool": _other_tools,
    "at most calls": _calls,
    "at most files": _files,
    "ask before each": _asked,
}


def must_ask(call: Call, context: Context, manifest: Manifest) -> str:
    """Why the goal wants a person asked about this call; "" where it does not."""
    rules = context.mandate.rules if context.mandate else ()
    rule = next((one for one in rules if one.restriction.kind == "ask before each"), None)
    effect = context.effect(call, manifest)
    if rule is None or (effect.classes <= {"read"} and not _changes(effect, manifest)):
        return ""
    return f"The goal wants to be asked (“{visible(rule.said)[:200]}”)."
