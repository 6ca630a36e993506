"""Maps of a repository: what its files are, what they offer, and who owns them."""

from mcl.plugins.review.maps.building import build
from mcl.plugins.review.maps.cache import stale
from mcl.plugins.review.maps.loading import load
from mcl.plugins.review.maps.maps import Mapped, Maps, Stale, Symbol

__all__ = ["Mapped", "Maps", "Stale", "Symbol", "build", "load", "stale"]
