"""The file of intents (`.orchestration/active_intents.yaml`): read, validated, edited, written."""

from mcl.core.yaml.reading import Finding, Report
from mcl.plugins.agents.file.document import NAME, Document, read_file
from mcl.plugins.agents.file.editing import edit_status
from mcl.plugins.agents.file.entries import Criterion, Entry, TypedCriterion, write_file
from mcl.plugins.agents.file.validation import validate

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
