"""Files with the same content."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.files.selection import FileChoice, files_in, size_text, told_lines

_MOST = 200_000  # files that are looked at
_TOLD = 200  # groups that are told


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the groups of files that hold the same, those that cost most room first."""
    return await to_thread.run_sync(_duplicates, args, bench)


def _duplicates(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    wanted, path, check = FileChoice.of(args), str(args.get("path", ".")), from_thread.check_cancelled
    sizes = defaultdict[int, list[str]](list)
    looked, unread = 0, 0
    for entry, _ in files_in(bench.workspace, path, wanted, recursive=True, check=check):
        looked += 1
        if looked > _MOST:
            fix = "name a smaller folder, or a pattern"
            raise ToolError("TOO_MANY_FILES", f"more than {_MOST:,} files", place=path, fix=fix)
        if entry.size:
            sizes[entry.size].append(entry.path)
    groups: list[tuple[int, list[str]]] = []
    for size, paths in sizes.items():
        alike = defaultdict[str, list[str]](list)
        for one in paths if len(paths) > 1 else ():
            check()
            try:
                alike[bench.workspace.digest(one, check=check)[0]].append(one)
            except ScopeError:  # it may not be read, or has a second name: nobody can tell
                unread += 1
        groups += [(size, same) for same in alike.values() if len(same) > 1]
    groups.sort(key=lambda group: (-group[0] * (len(group[1]) - 1), group[1]))
    spare = sum(size * (len(same) - 1) for size, same in groups)
    lines = [f"{size_text(size)}: {' = '.join(same)}" for size, same in groups]
    shown = groups[:_TOLD]
    return {
        "path": "/".join(bench.workspace.split(path)) or ".",
        "groups": [{"size": size, "paths": [visible(one) for one in same[:50]]} for size, same in shown],
        "count": len(groups),
        "files": sum(len(same) for _, same in groups),
        "spare": spare,
        "looked": looked,
        "unread": unread,
        "text": told_lines(lines, f"no two of {looked:,} files hold the same"),
    }
