"""What may be corrected without a new accept, as a table: one row a kind of change.

| code | material | what it says |
|---|---|---|
| IDENTITY_CHANGED | yes | another document: its id, its version, its parties, its skill, where it came from |
| VERB_CHANGED | yes | the verb says what is wanted and what may be done at most |
| OBJECT_CHANGED | yes | what the verb is about |
| CONSTRAINT_RELAXED | yes | a hard constraint is gone, soft, or looser |
| CONSTRAINT_UNKNOWN | yes | what this constraint means is not known here |
| BUDGET_RAISED | yes | a limit is higher, gone, or of another kind |
| DEADLINE_MOVED | yes | by more than a quarter of the time that remains, or there is none any more |
| CRITERION_CHANGED | yes | success is something else |
| QUESTION_CHANGED | yes | what was known to be unknown |
| REFERENCE_CHANGED | yes | what the Intent rests on |
| EXPIRY_EXTENDED | yes | it may be accepted for longer |
| WORDS_USED | yes | a step of the plan, or the question of a sign-off, is made from these words |
| FIELD_CHANGED | yes | no rule speaks of this field |
| PLAN_CHANGED | yes | there was no plan, or there is none any more |
| NODE_KIND_CHANGED | yes | another kind of node |
| EFFECT_ADDED | yes | a node that writes, reaches the network, runs a command or signs |
| EFFECT_CLASS_CHANGED | yes | what the node may do at most |
| TOOL_CHANGED | yes | another tool |
| TOOL_PIN_CHANGED | yes | another version of the tool |
| TOOL_ADDED | yes | a tool that the plan did not use |
| ARGS_CHANGED | yes | an argument of a node that has effects, or what such an argument is made from |
| SCOPE_WIDER | yes | it reads more, or something else |
| TIMEOUT_CHANGED | yes | how long a node with effects may take |
| GATE_REMOVED | yes | nobody is asked any more |
| GATE_CHANGED | yes | another question or rule |
| GATE_OPTIONS_WIDER | yes | more answers go on |
| GATE_TIMEOUT_CHANGED | yes | the person has more or less time |
| GATE_MOVED | yes | what waited for this gate does not any more |
| CHECK_REMOVED | yes | an effect waited for this node, and it is gone |
| ORDER_CHANGED | yes | an effect waited for this node, and does not any more |
| SUB_AGENT_ADDED | yes | another skill or agent is given work |
| SUB_AGENT_CHANGED | yes | another skill or agent, or another task or scope for it |
| TEXT_CHANGED | no | words that only people read |
| PREFERENCE_CHANGED | no | a tie-breaker |
| SAME_VALUE | no | the same moment, length of time, amount or list, written in another way |
| CONSTRAINT_TIGHTENED | no | a constraint is new, hard, or stricter |
| WISH_CHANGED | no | a soft constraint that sets no budget and no deadline |
| BUDGET_LOWERED | no | a limit is new or lower |
| DEADLINE_SHIFTED | no | by a quarter of the time that remains, or less |
| EXPIRY_SHORTENED | no | it may be accepted for a shorter time |
| GATE_ADDED | no | one question more |
| GATE_OPTIONS_NARROWER | no | fewer answers go on |
| ARGS_NARROWED | no | it reads less |
| READ_CHANGED | no | what is looked for in the same place, where no effect is made from it |
| STEP_CHANGED | no | what a model is asked, where no effect is made from it |
| ALTERNATIVE_TAKEN | no | the call has other arguments, which the plan offered |
| NODE_ADDED | no | a node without effects, by a tool and in a place that the plan reads already |
| NODE_REMOVED | no | a node that no effect waited for |
| PROMISES_TOLD | no | how promises are kept, which is worked out again when it runs |
| NODE_MOVED | no | everything that an effect waited for it still waits for |

The material ones need a new accept. What is not known is material, such as a field
without a rule. Texts of arguments are compared as texts: `007` is not `7`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ir.results import JsonResult


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. why: what the change is, in plain words."""

    material: bool
    why: str


@dataclass(frozen=True, slots=True)
class Change(JsonResult):
    """One difference between two documents.

    place: a path as `mcl correct --set` takes it (`budget.max_calls`, `plan.search.args.query`). before,
    after: JSON values, None where there is nothing. why: what it is, and what of it counts.
    """

    code: str
    place: str
    before: object
    after: object
    why: str
    material: bool


def _rows(table: str) -> dict[str, Rule]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {
        row[0]: Rule(row[1] == "yes", row[2]) for row in rows if len(row) == 3 and row[1] in ("yes", "no")
    }


RULES: Final[Mapping[str, Rule]] = _rows(__doc__)


def changed(code: str, place: str, before: object, after: object, detail: str = "") -> Change:
    """A change of a kind that the table has. detail: what of it counts, where the table does not say."""
    rule = RULES[code]
    why = f"{rule.why}: {detail}" if detail else rule.why
    return Change(code, place, before, after, why, rule.material)


def is_material(changes: Iterable[Change]) -> bool:
    """Whether any of them needs a new accept."""
    return any(change.material for change in changes)
