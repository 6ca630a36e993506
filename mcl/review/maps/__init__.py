"""Maps of a repository: what its files are, what they offer, and who owns them."""

from mcl.review.maps.building import build
from mcl.review.maps.loading import load
from mcl.review.maps.maps import Mapped, Maps, Stale, Symbol
from mcl.review.maps.staleness import stale

__all__ = ["Mapped", "Maps", "Stale", "Symbol", "build", "load", "stale"]
