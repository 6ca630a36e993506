"""Maps of a repository: what its files are, what they offer, and who owns them."""

from mcl.plugins.review.maps.building import build
from mcl.plugins.review.maps.cache import stale
from mcl.plugins.review.maps.loading import load
from mcl.plugins.review.maps.maps import FileSymbol, MappedFile, Maps, StaleEntry

__all__ = ["FileSymbol", "MappedFile", "Maps", "StaleEntry", "build", "load", "stale"]
