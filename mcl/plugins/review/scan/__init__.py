"""Code searched for what is known to be dangerous, with no model: Python by bandit, the rest by patterns."""

from mcl.plugins.review.scan.known import Known
from mcl.plugins.review.scan.scanning import scan_source
from mcl.plugins.review.scan.source import Source
from mcl.plugins.review.scan.sweep import Scanned, sweep

__all__ = ["Known", "Scanned", "Source", "scan_source", "sweep"]
