"""What a call says while it runs: its progress and its log, to whoever asked for it, and to nobody else."""

from __future__ import annotations

from typing import Final, Protocol


class Channel(Protocol):
    """Where one call's progress and log go. What comes is bounded, and none of it is to be believed.

    Both may wait; what comes meanwhile is kept in its order, and dropped where it becomes too much.
    """

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """So much is done, of so much where that is known."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """One line of the log. level: debug, info, notice, warning, error, critical, alert or emergency;
        data: any JSON value."""


class _Silent:
    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Nobody wants to know."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """Nobody wants to know."""


SILENT: Final[Channel] = _Silent()
