"""What a replay found, line by line."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from mcl.cli.views.layout import BAD, DIM, GOOD, STRONG, WARN, joined, plain, rows

if TYPE_CHECKING:
    from mcl.usecases.replay import Replay

_STYLES = {"same": GOOD, "different": BAD, "not available": WARN}


def replay_view(replay: "Replay") -> Iterator[RenderableType]:
    """One line an item: same, different or not available; the two values where they differ."""
    yield joined((("Replay", STRONG), (replay.intent_id, STRONG)))
    yield ""
    pairs: list[tuple[str, RenderableType]] = []
    for item in replay.items:
        verdict = Text(f"{item.verdict:<15}", style=_STYLES[item.verdict])
        verdict.append_text(plain(item.recorded if item.verdict == "same" else item.note, DIM))
        pairs.append((item.name, verdict))
        if item.verdict == "different" and item.found:
            pairs.append((item.name, joined((("recorded", DIM), (item.recorded, "")))))
            pairs.append((item.name, joined((("now     ", DIM), (item.found, "")))))
    yield rows(pairs)
    yield ""
    bad = [item.name for item in replay.items if item.verdict != "same"]
    said = "byte for byte the same" if replay.same else f"not proved the same: {', '.join(bad)}"
    yield plain(said, GOOD if replay.same else BAD)
