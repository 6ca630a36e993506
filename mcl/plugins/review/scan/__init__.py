"""Code searched for what is known to be dangerous, with no model: Python by bandit, the rest by patterns."""

from mcl.plugins.review.scan.scanning import ScanSource, scan_source
from mcl.plugins.review.scan.sweep import SweepResult, sweep
from mcl.plugins.review.scan.weights import KnownMarks

__all__ = ["KnownMarks", "ScanSource", "SweepResult", "scan_source", "sweep"]
