"""Memories: typed, versioned records of the journal, readable as they were at any earlier size.

They may only propose: nothing that is remembered is done without being seen. They touch the home alone.
"""

from mcl.memory.lessons import Bundle, bundle
from mcl.memory.memory import TYPES, Memory, new_memory, parse_uri
from mcl.memory.store import NEVER_USED, MemoryStore, Snapshot
from mcl.memory.words import Memories

__all__ = [
    "NEVER_USED",
    "TYPES",
    "Bundle",
    "Memories",
    "Memory",
    "MemoryStore",
    "Snapshot",
    "bundle",
    "new_memory",
    "parse_uri",
]
