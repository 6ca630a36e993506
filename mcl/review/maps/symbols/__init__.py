"""What a text offers to others, imports and shows of itself, by its language."""

from mcl.review.maps.symbols.shown import Shown, read_text

__all__ = ["Shown", "read_text"]
