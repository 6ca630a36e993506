"""What reviews remember of a workspace: what they found, what was decided, what is known."""

from mcl.plugins.review.memory.decision import KINDS, STATUSES, Decision, read_adr, write_adr
from mcl.plugins.review.memory.decisions import Decisions, Difference
from mcl.plugins.review.memory.dismissals import Dismissal, Dismissals
from mcl.plugins.review.memory.history import History, Memories, Review
from mcl.plugins.review.memory.meanings import MEANINGS, Meaning, Meanings
from mcl.plugins.review.memory.place import workspace_key

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
