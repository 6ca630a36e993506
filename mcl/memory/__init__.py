"""What is remembered: typed, versioned memories, told by records of the journal and readable as they were at
any earlier size."""

from mcl.memory.lessons import Bundle, bundle
from mcl.memory.memory import TYPES, Memory, new_memory, parse_uri
from mcl.memory.store import NEVER_USED, Cortex, Snapshot
from mcl.memory.words import Memories

__all__ = [
    "NEVER_USED",
    "TYPES",
    "Bundle",
    "Cortex",
    "Memories",
    "Memory",
    "Snapshot",
    "bundle",
    "new_memory",
    "parse_uri",
]
