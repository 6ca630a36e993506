"""How long to wait before a server is started again: longer each time, and never for all at once."""

from __future__ import annotations

from typing import Final

FIRST_S: Final = 0.5
MOST_S: Final = 60.0
PATIENCE: Final = 6  # failures in a row after which it starts with the next call only
STEADY_S: Final = 30.0  # seconds up after which it counts as well again


def delay(failures: int, jitter: float) -> float:
    """Seconds before the next start.

    Args:
        failures: in a row, 1 or more. jitter: from 0 to 1; it makes half to all of the doubled time.
    """
    whole = min(FIRST_S * 2.0 ** min(failures - 1, 16), MOST_S)
    return whole * (0.5 + jitter / 2)
