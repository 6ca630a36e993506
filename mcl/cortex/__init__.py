"""What is remembered: typed, versioned memories in the home's database, readable as they were at any earlier
size."""

from mcl.cortex.bundle import Bundle, bundle
from mcl.cortex.memory import TYPES, Memory, parse_uri
from mcl.cortex.store import NEVER_USED, Cortex, Proof, Snapshot
from mcl.cortex.view import Memories

__all__ = [
    "NEVER_USED",
    "TYPES",
    "Bundle",
    "Cortex",
    "Memories",
    "Memory",
    "Proof",
    "Snapshot",
    "bundle",
    "parse_uri",
]
