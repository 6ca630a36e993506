"""The derived skills of a home: of each approved tool of another server, and of each declared command, as
they stand now.

Nothing is kept that could outlive a tool: whoever asks is told what is approved at that moment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcl.language.mtx.codec import VERSION as TREE_FORM
from mcl.language.skills import Derived, Skill

if TYPE_CHECKING:
    from mcl.plugins.derived.skill import AskableTool
    from mcl.usecases.tools import KnownTool

MOST: Final = 2_000  # skills; tools beyond that are found by mcl tool list, and not by a goal
_COMMANDS: Final = "commands.toml"
_RUN: Final = "matrix://tool/process/run-"


def derived_skills(home: Path, here: Path) -> Derived:
    """All of a home's folder; none where there is no home, or nothing in it to derive from.

    here: the folder that is worked in; commands that were imported from another one's files are none here.
    """
    if not (home / "mcl.db").exists() or not (_has_servers(home) or (home / _COMMANDS).exists()):
        return Derived()
    from executor.store.home import Home
    from ir import MclError
    from mcl.plugins.derived import kept
    from mcl.plugins.derived.skill import FORM  # most homes have none, and each start asks

    try:
        with Home.open(home) as opened:
            elsewhere = _elsewhere(home, here)
            key = kept.key_of(opened, FORM, TREE_FORM, sorted(elsewhere.items()))
            if (known := kept.read(home, key)) is not None:
                return known
            from mcl.usecases import tools

            found = tuple(_asked(tools.list(home=opened), elsewhere))
    except MclError:  # a home that cannot be read tells so itself, where it is used for more than words
        return Derived()
    derived = derived_of(found)
    derived = Derived(derived.by_id, {**derived.flaws, **elsewhere})
    kept.keep(home, key, derived)
    return derived


def derived_of(found: Sequence[AskableTool]) -> Derived:
    from mcl.plugins.derived.skill import skill_of

    made: dict[str, Skill] = {}
    flaws: dict[str, str] = {}
    for asked in found:
        if asked.id in made or asked.id in flaws:
            flaws.setdefault(asked.id, "another tool has this name too")
        elif len(made) >= MOST:
            flaws[asked.id] = f"there are more than {MOST:,} tools"
        elif isinstance(skill := skill_of(asked), Skill):
            made[asked.id] = skill
        else:
            flaws[asked.id] = skill
    return Derived(made, flaws)


def _has_servers(home: Path) -> bool:
    """Whether any server ever listed a tool here."""
    import sqlite3

    try:
        place = f"file:{home / 'mcl.db'}?mode=ro"
        with sqlite3.connect(place, uri=True) as database:
            sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'mcp_tools'"
            return bool(database.execute(sql).fetchone()[0])
    except sqlite3.Error:
        return True  # opening the home tells what is wrong with it


def _elsewhere(home: Path, here: Path) -> dict[str, str]:
    """The commands that do not fit the files of a folder: those that they were imported from are others
    there, or are not. By the ids of their skills, with the reason."""
    from executor.tools.project.unchanged import MOST as LARGEST
    from executor.tools.project.unchanged import part_digest
    from mcl.core.text import cut

    try:
        declared = tomllib.loads((home / _COMMANDS).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for name, table in declared.items():
        wanted = table.get("unchanged") if isinstance(table, dict) else None
        for part, digest in wanted.items() if isinstance(wanted, dict) else ():
            file = here / str(table.get("folder", ".")) / str(part).partition("#")[0]
            try:
                with file.open("rb") as opened:
                    same = part_digest(str(part), opened.read(LARGEST + 1)) == digest
            except (OSError, ValueError):
                same = False
            if not same:
                found[f"command.{name}"] = (
                    f"{cut(file.name, 80)} is not what it was here when this was imported"
                )
    return found


def _asked(tools: tuple[KnownTool, ...], elsewhere: Mapping[str, str]) -> Iterator[AskableTool]:
    """The tools that a goal may ask for: approved as they are, and not closed; commands in the order of
    their names."""
    for tool in tools:
        manifest = tool.manifest
        if tool.closed:
            continue
        if manifest.outside is None:
            if manifest.uri.startswith(_RUN) and tool.standing in ("new", "approved"):
                asked = _of_command(tool)
                if asked.id not in elsewhere:
                    yield asked
        elif tool.standing == "approved":
            yield _of_server(tool)


def _of_server(tool: KnownTool) -> AskableTool:
    from mcl.plugins.derived.skill import AskableTool

    manifest, outside = tool.manifest, tool.manifest.outside
    assert outside is not None, "it is asked for those alone"
    said = outside.definition
    place = manifest.uri.partition("@")[0].rpartition("/")[2]
    return AskableTool(
        id=f"{outside.server}.{place}",
        name=tool.name,
        uri=manifest.uri,
        pin=manifest.pin,
        effects=tool.effects,
        operation=tool.operation,
        schema=manifest.args,
        author=outside.server,
        title=str(said.get("title") or ""),
        description=str(said.get("description") or ""),
        quiet=_is_suspicious(outside.server, said),
    )


def _is_suspicious(server: str, definition: Mapping[str, object]) -> bool:
    """Whether a rule finds anything in what is said of a tool, whatever other tools there are."""
    from mcl.catalog.suspicion import Neighbours, examine

    return bool(examine(server, definition, Neighbours()))


def _of_command(tool: KnownTool) -> AskableTool:
    from mcl.plugins.derived.skill import AskableTool

    manifest = tool.manifest
    name = manifest.uri.removeprefix(_RUN).partition("@")[0]
    schema = {**manifest.args}
    properties = {key: one for key, one in _properties(schema).items() if key != "folder"}
    return AskableTool(
        id=f"command.{name}",
        name=f"process/run-{name}",
        uri=manifest.uri,
        pin=manifest.pin,
        effects=tool.effects,
        operation=tool.operation,
        schema={**schema, "properties": properties},
        author="commands.toml",
        description=manifest.description,
    )


def _properties(schema: dict[str, object]) -> dict[str, object]:
    said = schema.get("properties")
    return said if isinstance(said, dict) else {}
