"""Walking an accepted plan."""

from executor.walker.outcome import FailureMode, FailureModes, Outcome
from executor.walker.preflight import Verdict, preflight
from executor.walker.walker import Walker

__all__ = ["FailureMode", "FailureModes", "Outcome", "Verdict", "Walker", "preflight"]
