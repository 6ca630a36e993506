"""What keeps tools inside their bounds: paths, processes, redaction."""

from executor.sandbox.paths import Entry, Workspace, Written
from executor.sandbox.process import Finished, run_command
from executor.sandbox.redaction import Redactor, visible

__all__ = ["Entry", "Finished", "Redactor", "Workspace", "Written", "run_command", "visible"]
