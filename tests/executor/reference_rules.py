"""Rules of the closed vocabulary by another way: whether a call breaks one, worked out slowly and plainly.

Written from the pages (docs/ir.md, docs/gate.md), not from the code that is compared with it. Of a call it
says REFUSE, PASS, or SILENT where no page says which of the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from reference_calls import Made, World, alike, inside, is_plain, meets, names, origin

import ir
from executor import Manifest

REFUSE: Final = "refuse"
PASS: Final = "pass"
SILENT: Final = "silent"

# ---- What breaks each rule of the vocabulary. (call, world) -> REFUSE, PASS or SILENT.

Judge = Callable[[ir.Restriction, Made, World], str]


def _no_change(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.contradicts(world):
        return SILENT
    return PASS if call.only_reads(world) else REFUSE


def _no_loss(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    classes, operation = call.effect(world)
    if operation == "destructive" or call.command or call.handed or call.outside:
        return REFUSE
    return SILENT if classes & {"network", "chain"} or not call.paths("write", "add") else PASS


def _no_overwriting(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    classes, operation = call.effect(world)
    if operation == "destructive" or call.roams(world) or classes & {"network", "chain"}:
        return REFUSE
    if call.late_paths:
        return SILENT
    if any(world.has(path) for path in call.paths("write")):
        return REFUSE
    if not all(map(is_plain, call.changed)):
        return SILENT
    if any(world.has(path) for path in call.paths("add")):
        return SILENT  # what is there stays, and yet the file is another
    return PASS if call.changed else REFUSE


def _no_new_files(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    if call.roams(world):
        return REFUSE
    if call.late_paths:
        return SILENT
    classes, operation = call.effect(world)
    if not call.changed:
        return SILENT if classes & {"network", "chain"} or not call.manifest.scope.paths else REFUSE
    if operation == "destructive" and not any(call.paths("add")):
        return SILENT  # does it take the file away, or put another there?
    if any(not world.is_file(path) for path in call.changed):
        return REFUSE
    if not all(map(is_plain, call.changed)):
        return SILENT
    return SILENT if call.paths("add") else PASS  # it may add to a file, and it may add a file


def _no_network(rule: ir.Restriction, call: Made, world: World) -> str:
    return REFUSE if call.networks(world) else PASS


def _no_sending(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.roams(world):
        return REFUSE
    classes, operation = call.effect(world)
    if not classes & {"network", "chain"}:
        return PASS
    if operation != "read" or call.carries:
        return REFUSE
    return PASS if set(call.args) <= {"url", "method", "path"} and call.manifest.scope.urls else SILENT


def _no_commands(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.roams(world):
        return REFUSE
    return SILENT if call.manifest.programs else PASS  # git is a program, and is no command


def _only_in(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.roams(world):
        return REFUSE
    return _astray(rule, call, world, call.paths("read", "list", "write", "add"))


def _change_only_in(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    if call.roams(world):
        return REFUSE
    return _astray(rule, call, world, call.changed)


def _astray(rule: ir.Restriction, call: Made, world: World, paths: list[str]) -> str:
    if not all(any(inside(path, place) for place in rule.values) for path in paths):
        return REFUSE
    if not call.only_reads(world) and not call.changed and not call.late_paths:
        # It changes something, and nobody sees where; at most it is told which folder it works on.
        names_one = bool(call.manifest.scope.paths) and (call.late or call.paths("read", "list"))
        return SILENT if names_one and not call.effect(world)[0] & {"network", "chain"} else REFUSE
    return SILENT if "network" in call.effect(world)[0] or not all(map(is_plain, paths)) else PASS


def _not_in(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.roams(world):
        return REFUSE
    return _into(rule, call, world, call.paths("read", "list", "write", "add"))


def _change_not_in(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    if call.roams(world):
        return REFUSE
    return _into(rule, call, world, call.changed)


def _into(rule: ir.Restriction, call: Made, world: World, paths: list[str]) -> str:
    if any(meets(path, place) for path in paths for place in rule.values if not path.startswith("/")):
        return REFUSE
    unseen = not call.only_reads(world) and not call.changed and not call.late_paths
    return SILENT if unseen or not all(map(is_plain, paths)) else PASS


def _only_host(rule: ir.Restriction, call: Made, world: World) -> str:
    if call.roams(world):
        return REFUSE
    if not call.networks(world):
        return PASS
    if not call.manifest.scope.urls:
        return REFUSE
    if any(one not in {origin(value) for value in rule.values} for one in call.hosts()):
        return REFUSE
    return PASS if call.hosts() and not call.late else SILENT


def _is(name: str, manifest: Manifest) -> bool:
    """Does a tool that a rule names mean this one?"""
    if manifest.outside is not None:
        return name == f"{manifest.outside.server}:{manifest.outside.tool}"
    own = manifest.uri.removeprefix("matrix://tool/").partition("@")[0]
    return name == own or (name.endswith("/*") and own.startswith(name[:-1]))


def _no_tool(rule: ir.Restriction, call: Made, world: World) -> str:
    if any(_is(name, call.manifest) for name in rule.values):
        return REFUSE
    if call.handed:
        return PASS
    if call.command and not call.only_reads(world):
        return REFUSE  # a program can do what any tool does
    own = re.split(r"[/:_.\W-]+", call.manifest.uri.removeprefix("matrix://tool/").partition("@")[0])
    for name in rule.values:
        if call.outside and re.split(r"[/:]", name)[-1] in own:
            return REFUSE
    return PASS if call.only_reads(world) and not call.roams(world) else SILENT


def _only_tool(rule: ir.Restriction, call: Made, world: World) -> str:
    return PASS if any(_is(name, call.manifest) for name in rule.values) else REFUSE


def _few_files(rule: ir.Restriction, call: Made, world: World, before: frozenset[str]) -> str:
    if call.only_reads(world):
        return SILENT if call.contradicts(world) else PASS
    if call.roams(world):
        return REFUSE
    if not call.changed and not call.late_paths:
        elsewhere = not call.manifest.scope.paths  # a memory, a page: no file of the workspace
        return SILENT if call.effect(world)[0] & {"network", "chain"} or elsewhere else REFUSE
    if any(world.is_folder(path) for path in call.changed):
        return REFUSE if rule.most == 0 else SILENT
    after = before | {"/".join(names(path)) for path in call.changed}
    if len({"/".join(alike(path)) for path in after}) > rule.most:
        return REFUSE
    # Two spellings are two files here, and one file elsewhere.
    return (
        SILENT if call.late_paths or len(after) > rule.most or not all(map(is_plain, call.changed)) else PASS
    )


def _ask(rule: ir.Restriction, call: Made, world: World) -> str:
    return PASS


_JUDGES: Final[Mapping[str, Judge]] = {
    "read only": _no_change,
    "change nothing": _no_change,
    "delete nothing": _no_loss,
    "overwrite nothing": _no_overwriting,
    "no new files": _no_new_files,
    "no network": _no_network,
    "send nothing": _no_sending,
    "no commands": _no_commands,
    "only in": _only_in,
    "not in": _not_in,
    "change only in": _change_only_in,
    "change not in": _change_not_in,
    "only host": _only_host,
    "no tool": _no_tool,
    "only tool": _only_tool,
    "ask before each": _ask,
}


def asked(call: Made, world: World) -> str:
    """Must a person be asked, where `ask before each` holds? REFUSE: yes; PASS: no."""
    classes, operation = call.effect(world)
    if operation == "read" and classes <= {"read"} and call.only_reads(world) and not call.outside:
        return SILENT if any(path.startswith("/") for path in call.paths("read", "list")) else PASS
    return SILENT if call.only_reads(world) else REFUSE


# ---- Regions.

EU: Final = frozenset(
    "AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE".split()  # noqa: SIM905
)


def lands(code: str) -> frozenset[str]:
    """The countries that a code stands for."""
    return EU if code == "EU" else frozenset(({"UK": "GB", "EL": "GR"}.get(code, code),))


def may_go(regions: Iterable[str], rule: ir.JurisdictionConstraint) -> bool:
    """May a call go to a host that lies in these regions, in any country of which it may be?"""
    if not all(re.fullmatch("[A-Z][A-Z]", code) for code in (*rule.allow, *rule.deny)):
        return False
    where = frozenset(one for code in regions for one in lands(code))
    allowed = frozenset(one for code in rule.allow for one in lands(code))
    denied = frozenset(one for code in rule.deny for one in lands(code))
    return bool(where) and (not rule.allow or where <= allowed) and not where & denied


def _abroad(
    rule: ir.JurisdictionConstraint, call: Made, world: World, regions: Mapping[str, Sequence[str]]
) -> str:
    if call.roams(world):
        return REFUSE
    if not call.networks(world):
        return PASS
    if not call.manifest.scope.urls:
        return REFUSE
    if any(not may_go(regions.get(one, ()), rule) for one in call.hosts()):
        return REFUSE
    return PASS if call.hosts() and not call.late else SILENT


def verdict(
    held: ir.RuleConstraint | ir.JurisdictionConstraint,
    call: Made,
    world: World,
    regions: Mapping[str, Sequence[str]],
    files: frozenset[str],
) -> str:
    """What a hard promise says of a call. files: those changed before. Calls are counted elsewhere."""
    if isinstance(held, ir.JurisdictionConstraint):
        return _abroad(held, call, world, regions)
    if not held.keeps:
        return PASS
    said = _held(held, call, world, files)
    # A path that is none is refused, by whichever guard; what it leads to is not looked at.
    lost = any(path.startswith("/") or ".." in path.split("/") for path in call.changed)
    return SILENT if said == PASS and lost else said


def _held(held: ir.RuleConstraint, call: Made, world: World, files: frozenset[str]) -> str:
    try:
        rule = ir.parse_keeps(held.keeps)
    except ir.PromiseError:
        return REFUSE  # what cannot be read cannot be kept
    if rule.kind == "at most files":
        return _few_files(rule, call, world, files)
    if rule.kind == "at most calls":
        return PASS
    return _JUDGES[rule.kind](rule, call, world)
