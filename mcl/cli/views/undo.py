"""What an undo did, or would do."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from executor.walker.undo import NotUndone, Pruned, UndoReport
from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, columns, plain

_HEADS = {
    "undone": ("undone", GOOD),
    "ready": ("this would be undone", STRONG),
    "changed": ("cannot be undone as it stands: nothing is touched", BAD),
    "already": ("undone already: there is nothing left to do", GOOD),
    "nothing": ("nothing to undo: no file was changed", ""),
}


def undo_view(report: UndoReport) -> Iterator[RenderableType]:
    """Files that are put back, what stands against it, and what stays."""
    lines: list[tuple[tuple[str, str], ...]] = []
    blocked = {one.path for one in report.changed}
    lines += [(("restore", GOOD), (path, "")) for path in report.restored if path not in blocked]
    lines += [(("remove", WARN), (path, "")) for path in report.removed if path not in blocked]
    lines += [(("remove", WARN), (f"{path}/", "")) for path in report.folders if report.state != "changed"]
    lines += [(("keep", DIM), (f"{path}/  it holds something", DIM)) for path in report.left]
    for one in report.changed:
        lines.append((("changed", BAD), (f"{one.path}  {one.why}", "")))
    yield plain(*_HEADS[report.state])
    if lines:
        yield columns([(("", ""), *line) for line in lines])
    if report.not_undone:
        yield ""
        yield plain("stays as it is", DIM)
        yield columns(
            [
                (
                    ("", ""),
                    (one.node, ""),
                    (one.tool.removeprefix("matrix://tool/"), DIM),
                    (f"{one.path}  {one.why}" if one.path else one.why, ""),
                )
                for one in report.not_undone
            ]
        )


def uncovered_view(files: Sequence[NotUndone]) -> Iterator[RenderableType]:
    """After a run: the files that it changed and no undo will put back."""
    for one in files:
        yield plain(f"no undo will put {one.path} back: {one.why} ({one.node})", WARN)


def pruned_view(pruned: Pruned) -> Iterator[RenderableType]:
    """What was removed, and what is left."""
    count = f"{pruned.images} image{'s' if pruned.images != 1 else ''}"
    yield plain(f"removed {count} ({_size(pruned.size)}); {_size(pruned.left)} are kept")
    yield from (plain(f"  {intent} can no longer be undone", DIM) for intent in pruned.intents)


def _size(size: int) -> str:
    if size < 10_000:
        return f"{size:,} bytes"
    return f"{size / 1e3:,.0f} kB" if size < 10_000_000 else f"{size / 1e6:,.0f} MB"
