"""Code searched for what is known to be dangerous, with no model: Python by bandit, the rest by patterns."""

from mcl.review.scan.known import Known
from mcl.review.scan.scanning import scan_source
from mcl.review.scan.source import Source
from mcl.review.scan.sweep import Scanned, sweep

__all__ = ["Known", "Scanned", "Source", "scan_source", "sweep"]
