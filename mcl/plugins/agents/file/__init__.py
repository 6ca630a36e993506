"""The file of intents (`.orchestration/active_intents.yaml`): read, validated, edited, written."""

from mcl.core.yaml.findings import Finding, Report
from mcl.plugins.agents.file.document import NAME, Document, read_file
from mcl.plugins.agents.file.editing import edit_status
from mcl.plugins.agents.file.entries import Criterion, Entry, TypedCriterion
from mcl.plugins.agents.file.validation import validate
from mcl.plugins.agents.file.writing import write_file

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
