"""The file of intents (`.orchestration/active_intents.yaml`): read, validated, edited, written."""

from mcl.agents.file.document import NAME, Document, read_file
from mcl.agents.file.editing import edit_status
from mcl.agents.file.entries import Criterion, Entry, TypedCriterion
from mcl.agents.file.findings import Finding, Report
from mcl.agents.file.validation import validate
from mcl.agents.file.writing import write_file

__all__ = [
    "NAME",
    "Criterion",
    "Document",
    "Entry",
    "Finding",
    "Report",
    "TypedCriterion",
    "edit_status",
    "read_file",
    "validate",
    "write_file",
]
