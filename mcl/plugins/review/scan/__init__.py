"""Code searched for what is known to be dangerous, with no model: Python by bandit, the rest by patterns."""

from mcl.plugins.review.scan.scanning import Source, scan_source
from mcl.plugins.review.scan.sweep import Scanned, sweep
from mcl.plugins.review.scan.weights import Known

__all__ = ["Known", "Scanned", "Source", "scan_source", "sweep"]
