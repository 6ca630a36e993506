"""What reviews remember of a workspace: what they found, what was decided, what is known."""

from mcl.review.memory.adr import read_adr, write_adr
from mcl.review.memory.decision import KINDS, STATUSES, Decision
from mcl.review.memory.decisions import Decisions, Difference
from mcl.review.memory.dismissals import Dismissal, Dismissals
from mcl.review.memory.history import History, Review
from mcl.review.memory.meanings import MEANINGS, Meaning, Meanings
from mcl.review.memory.memories import Memories
from mcl.review.memory.place import workspace_key

__all__ = [
    "KINDS",
    "MEANINGS",
    "STATUSES",
    "Decision",
    "Decisions",
    "Difference",
    "Dismissal",
    "Dismissals",
    "History",
    "Meaning",
    "Meanings",
    "Memories",
    "Review",
    "read_adr",
    "workspace_key",
    "write_adr",
]
