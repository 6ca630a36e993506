"""What a wish that is given files may use: read from what its skill, and the one before, would call."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from executor.gate.portion import SCOPE, roams
from executor.tools.manifest import Manifest
from ir import DocumentError, Intent, parse_json
from mcl.language.plans.planner import KnownTools, called_by
from mcl.language.skills import Skill

_UNKNOWN: Final = "${"
_PATTERN: Final = "glob"  # the argument that says which names of a folder are meant


def scope_of(
    skill: Skill,
    intent: Intent,
    given: frozenset[str],
    source: Skill,
    listed: Intent,
    registry: KnownTools | None,
) -> str:
    """A scope_uri: the side effects of the wish, and the places that its calls and those of the source name.

    intent: of the wish, with something in place of what is given. given: the inputs that are. listed: what
    the source does.
    """
    mine = list(called_by(skill, intent))
    stands = frozenset(one.value for one in intent.frame.objects if one.name in given)
    effects = sorted({"read"} | {str(call["side_effect_class"]) for call in mine})
    places = dict.fromkeys(_places(list(called_by(source, listed)), frozenset(), registry))
    places |= dict.fromkeys(_places(mine, stands, registry))
    if None in places:
        return f"{SCOPE}{'+'.join(effects)}"
    named = "&".join(f"{kind}={quote(value, safe='/*')}" for kind, value in filter(None, places))
    return f"{SCOPE}{'+'.join(effects)}{'?' if named else ''}{named}"


def _places(
    calls: list[Mapping[str, Any]], stands: frozenset[str], registry: KnownTools | None
) -> Iterator[tuple[str, str] | None]:
    """Where calls go, as `folder` or `path` of a scope; None where nobody can tell."""
    for call in calls:
        manifest = registry.find(str(call.get("tool_ref"))) if registry is not None else None
        if not isinstance(manifest, Manifest):
            yield None
            continue
        if manifest.scope.kind != "workspace":
            continue
        if roams(manifest):
            yield None
            continue
        args = {**dict.fromkeys(manifest.scope.paths, "."), **manifest.complete(dict(call.get("args", {})))}
        for name in manifest.scope.paths:
            pattern = str(args.get(_PATTERN, ""))
            for path in _paths(args[name]):
                if path in stands or _UNKNOWN in path:
                    continue
                if not pattern or _UNKNOWN in pattern:
                    yield "folder", path.strip("/") or "."
                    continue
                below = pattern if "/" in pattern else f"**/{pattern}"
                folder = path.strip("/").removeprefix("./")
                yield "path", below if folder in ("", ".") else f"{folder}/{below}"


def _paths(text: object) -> list[str]:
    """The paths of an argument: one, or a list as JSON."""
    try:
        found = parse_json(str(text))
    except DocumentError:
        found = None
    return [str(one) for one in found] if isinstance(found, list) else [str(text)]
