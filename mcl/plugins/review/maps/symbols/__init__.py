"""What a text offers to others, imports and shows of itself, by its language."""

from mcl.plugins.review.maps.symbols.reading import read_text
from mcl.plugins.review.maps.symbols.tables import TextFacts

__all__ = ["TextFacts", "read_text"]
