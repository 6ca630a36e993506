"""What reviews remember of a workspace: what they found, what was decided, what is known."""

from mcl.plugins.review.memory.decision import KINDS, STATUSES, ArchitectureDecision, read_adr, write_adr
from mcl.plugins.review.memory.decisions import DecisionDifference, Decisions
from mcl.plugins.review.memory.dismissals import Dismissal, Dismissals
from mcl.plugins.review.memory.history import Review, ReviewHistory, ReviewMemories
from mcl.plugins.review.memory.meanings import MEANINGS, Meaning, Meanings
from mcl.plugins.review.memory.place import workspace_key

__all__ = [
    "KINDS",
    "MEANINGS",
    "STATUSES",
    "ArchitectureDecision",
    "DecisionDifference",
    "Decisions",
    "Dismissal",
    "Dismissals",
    "Meaning",
    "Meanings",
    "Review",
    "ReviewHistory",
    "ReviewMemories",
    "read_adr",
    "workspace_key",
    "write_adr",
]
