"""The file of intents (`.orchestration/active_intents.yaml`): read, validated, edited, written."""

from mcl.core.yaml import FileFlaw, FlawReport
from mcl.plugins.agents.file.document import (
    NAME,
    Criterion,
    IntentEntry,
    IntentFile,
    TypedCriterion,
    read_file,
    write_file,
)
from mcl.plugins.agents.file.edit import edit_status
from mcl.plugins.agents.file.validation import validate

__all__ = [
    "NAME",
    "Criterion",
    "FileFlaw",
    "FlawReport",
    "IntentEntry",
    "IntentFile",
    "TypedCriterion",
    "edit_status",
    "read_file",
    "validate",
    "write_file",
]
