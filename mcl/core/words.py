"""The closed sets of words of the language that no other module has."""

from __future__ import annotations

FAILURE_REASONS = (
    "unknown_information",
    "policy_violation",
    "out_of_budget",
    "out_of_scope",
    "ambiguous_request",
    "tool_failure",
    "external_failure",
    "timeout",
    "cancelled_by_user",
    "correction_invalid",
)
SKILL_KEYS = (
    "id", "version", "display", "author", "description", "mcl.verbs", "mcl.given", "determinism",
    "seed_policy",
)  # fmt: skip
# What a wish may be given by an earlier one of its goal, and what an output of a skill is by its type.
GIVEN_KINDS = ("file", "files", "text", "rows", "list", "number")
TRUTH = "truth"  # what an output is that says yes or no: conditions alone look at it
ACTIONS = ("fail", "clarify")  # of a failure mode: what is acted on
CORTEX_KEYS = ("reads", "writes", "tags", "budget")
# Each but Constraint, which is another thing there, is also the type of a slot that takes such a memory.
MEMORY_TYPES = (
    "Identity",
    "Fact",
    "Preference",
    "Belief",
    "Event",
    "Goal",
    "Constraint",
    "Capability",
    "Pattern",
)
# The calls of a resolve line with their arguments.
CORTEX_CALLS = {
    "find": ("type", "tag", "tags", "near", "text", "limit"),
    "resolve": ("type", "tag", "tags", "near", "text", "id", "uri", "limit"),
    "context": ("type", "tag", "tags", "near", "text", "limit", "budget"),
}
