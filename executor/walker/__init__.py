"""Walking an accepted plan."""

from executor.walker.interfaces import FailureMode, FailureModes
from executor.walker.outcome import Outcome
from executor.walker.preflight import Verdict, preflight
from executor.walker.walker import Walker

__all__ = ["FailureMode", "FailureModes", "Outcome", "Verdict", "Walker", "preflight"]
