"""Copies files and folders."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.transfer import carry_all, laid_out, touched


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """The copies that will be made."""
    return touched(laid_out(args, workspace, moving=False), moving=False)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Copy all of it; nothing that is there is replaced."""
    return await to_thread.run_sync(_copy, args, bench)


def _copy(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    check = from_thread.check_cancelled
    laid = laid_out(args, bench.workspace, moving=False, absent=bench.absent, check=check)
    return carry_all(laid, bench, check, moving=False)
