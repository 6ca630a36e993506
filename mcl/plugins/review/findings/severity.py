"""The labels of a finding, from the worst to the least."""

from typing import Final, Literal, get_args

Severity = Literal["CRITICAL", "RISK", "ARCHITECTURE", "WARNING", "MISSING", "SUGGESTION", "NOTE"]

SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
BLOCKING: Final[frozenset[Severity]] = frozenset({"CRITICAL", "RISK", "ARCHITECTURE", "WARNING"})

# Labels of one family say the same kind of thing, more or less strongly.
FAMILIES: Final[tuple[tuple[Severity, ...], ...]] = (
    ("CRITICAL", "RISK", "WARNING"),
    ("ARCHITECTURE",),
    ("MISSING",),
    ("SUGGESTION", "NOTE"),
)
FAMILY: Final[dict[Severity, int]] = {
    label: number for number, family in enumerate(FAMILIES) for label in family
}
RANK: Final[dict[Severity, int]] = {label: rank for rank, label in enumerate(SEVERITIES)}

# What other tools and models say in place of a label: never read as one, and never passed over.
FOREIGN: Final[tuple[str, ...]] = (
    *("BLOCKER", "BLOCKING", "FATAL", "SEVERE", "HIGH", "MEDIUM", "MODERATE", "LOW", "MAJOR", "MINOR"),
    *("ERROR", "ERR", "WARN", "INFO", "DANGER", "CAUTION", "IMPORTANT", "BUG", "SECURITY"),
    *("VULNERABILITY", "VULN", "ISSUE", "PROBLEM", "HINT", "NIT", "STYLE"),
)
