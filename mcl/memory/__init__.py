"""Memories: typed, versioned records of the journal, readable as they were at any earlier size.

They may only propose: nothing that is remembered is done without being seen. They touch the home alone.
"""

from mcl.memory.lessons import Bundle as Bundle
from mcl.memory.lessons import bundle as bundle
from mcl.memory.memory import TYPES as TYPES
from mcl.memory.memory import Memory as Memory
from mcl.memory.memory import new_memory as new_memory
from mcl.memory.memory import parse_uri as parse_uri
from mcl.memory.store import NEVER_USED as NEVER_USED
from mcl.memory.store import MemoryStore as MemoryStore
from mcl.memory.store import Snapshot as Snapshot
from mcl.memory.words import Memories as Memories
