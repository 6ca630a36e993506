"""Walking an accepted plan: each node in its turn, each call with the gate's Allow, each step in the journal.

It never sees prose, and touches the world through tools alone; files of before are put back by `undo`. What
is named here is fetched from its module at first use, so that who needs one module of this room loads that
one.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from executor.walker.interfaces import FailureMode, FailureModes
    from executor.walker.outcome import Outcome
    from executor.walker.preflight import Verdict
    from executor.walker.walker import Walker

__all__ = ["FailureMode", "FailureModes", "Outcome", "Verdict", "Walker"]


def __getattr__(name: str) -> Any:
    module: Any = None
    if name == "Walker":
        from executor.walker import walker as module
    elif name == "Outcome":
        from executor.walker import outcome as module
    elif name == "Verdict":
        from executor.walker import preflight as module
    elif name in __all__:
        from executor.walker import interfaces as module
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(module, name)
