"""Gives a file to the printer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.core.errors import ScopeError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.desktop.programs import Program, choose, start

_MOST: Final = 32 << 20
_PRINT: Final = (Program(("lp",)), Program(("lpr",)))


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Print it: what is printed is read here and handed over, so no name of a file reaches the program.

    Raises:
        ToolError: COMMAND_NOT_FOUND, COMMAND_FAILED. ScopeError: as ``open_file``; TOO_LARGE.
    """
    path, copies = str(args["path"]), int(str(args.get("copies", 1)))
    data, size = bench.workspace.read(path, _MOST)
    if size > _MOST:
        raise ScopeError(
            "TOO_LARGE", f"{path!r} is larger than {_MOST:,} bytes", place=path, fix="print a part of it"
        )
    argv = choose(_PRINT, "print", bench)
    old = argv[0].endswith("lpr")
    words = [f"-#{copies}"] if old else ["-n", str(copies), "-t", f"mcl {path}"[:200]]
    if printer := str(args.get("printer", "")):
        words += ["-P" if old else "-d", printer]
    if args.get("two_sided"):
        words += ["-o", "sides=two-sided-long-edge"]
    ended = await start([*argv, *words], said=data)
    said = visible(ended.out.decode("utf-8", "replace").strip()[:300])
    told = f"{path} is with the printer" + (f", {copies} copies" if copies > 1 else "")
    return {"path": path, "copies": copies, "text": f"{told}\n{said}".strip()}
