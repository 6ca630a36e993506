"""The Frame: what is wanted, typed. Verb, objects, constraints, success criteria, preferences."""

from __future__ import annotations

import re
import warnings
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, PlainValidator, Tag

from ir.canonical import content_hash
from ir.document import Document
from ir.scalars import (
    EXTENSION_PATTERN,
    MAX_INTEGER,
    Count,
    ExtensionName,
    Flag,
    FrozenMap,
    Instant,
    Name,
    Number,
    Text,
    Whole,
)

VERBS: Final = (
    "find",
    "acquire",
    "build",
    "modify",
    "deliver",
    "analyze",
    "negotiate",
    "schedule",
    "monitor",
    "delegate",
)
CONSTRAINT_TYPES: Final = ("budget", "deadline", "jurisdiction", "quality", "rule", "policy")
PREDICATE_TYPES: Final = ("delivered", "signed_off", "external", "attestation", "command")
_DECIMAL: Final = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40})?")


def valid_verb(text: str) -> bool:
    """Whether `text` is one of the ten verbs or an extension verb (`x:` and a name)."""
    return text in VERBS or re.fullmatch(EXTENSION_PATTERN, text) is not None


def _verb(text: str) -> str:
    if text and not valid_verb(text):
        raise ValueError(f"is none of {', '.join(VERBS)} and no x:<name>")
    return text


Verb = Annotated[str, Field(strict=True), AfterValidator(_verb)]


def _amount(value: object) -> str | int | float:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_INTEGER:
        return value
    raise ValueError("is no amount: decimal text, or a number from 0 to 2^53")


class SlotEntry(Document):
    """One named referent; `uri` once it is resolved to a versioned matrix:// address."""

    name: Text = ""
    value: Text = ""
    uri: Text = ""
    type: Text = ""


class AssetAmount(Document):
    """An amount of an asset (an ISO 4217 code or another name), kept as given: text, integer or double."""

    asset: Text = ""
    amount: Annotated[str | int | float, PlainValidator(_amount)] = 0

    @property
    def value(self) -> Decimal:
        """The amount as an exact decimal; a double counts as its shortest decimal text."""
        return Decimal(str(self.amount))


class BudgetConstraint(Document):
    """Spend at most `max`."""

    type: Literal["budget"] = "budget"
    hard: Flag = False
    max: AssetAmount | None = None


class DeadlineConstraint(Document):
    """Be done by the moment `by`."""

    type: Literal["deadline"] = "deadline"
    hard: Flag = False
    by: Instant = ""


class JurisdictionConstraint(Document):
    """Only in the regions of `allow`, never in those of `deny` (ISO 3166 codes)."""

    type: Literal["jurisdiction"] = "jurisdiction"
    hard: Flag = False
    allow: tuple[Name, ...] = ()
    deny: tuple[Name, ...] = ()


class QualityConstraint(Document):
    """`metric` is at least `min`. share: `min` is a share of the whole, so that 0.9 is 90 %."""

    type: Literal["quality"] = "quality"
    hard: Flag = False
    metric: Text = ""
    min: Number = 0.0
    share: Flag = False


class RuleConstraint(Document):
    """The rule at this address, or in these words, holds.

    keeps: what of it a run can be held to, in the closed vocabulary of `ir.promises`; "": nothing here can.
    """

    type: Literal["rule"] = "rule"
    hard: Flag = False
    rule: Text = ""
    keeps: Text = ""


class PolicyConstraint(Document):
    """The policy at this address holds."""

    type: Literal["policy"] = "policy"
    hard: Flag = False
    policy: Text = ""


class DeliveredPredicate(Document):
    """The artifact exists."""

    type: Literal["delivered"] = "delivered"
    artifact: Text = ""


class SignedOffPredicate(Document):
    """This user has signed; "" is whoever accepted it. what: the promise that is signed; "" is all of it."""

    type: Literal["signed_off"] = "signed_off"
    by: Text = ""
    what: Text = ""


class ExternalPredicate(Document):
    """The check at this URL holds."""

    type: Literal["external"] = "external"
    url: Text = ""
    check: Text = ""


class AttestationPredicate(Document):
    """`source` has attested `topic`."""

    type: Literal["attestation"] = "attestation"
    source: Text = ""
    topic: Text = ""


class CommandPredicate(Document):
    """This command, run once the plan has ended, exits with status 0. tool_ref: the pinned tool that runs it;
    args: texts, as of a tool call, without references."""

    type: Literal["command"] = "command"
    tool_ref: Text = ""
    args: FrozenMap = FrozenMap()


with warnings.catch_warnings():
    # `schema` is the JSON name; pydantic's own (deprecated) `schema` classmethod is not used here.
    warnings.filterwarnings("ignore", message='Field name "schema"', category=UserWarning)

    class ExtensionConstraint(Document):
        """A constraint of someone else's making. schema: the address of what looks at it; data: JSON text."""

        type: ExtensionName
        hard: Flag = False
        schema: Text = ""  # type: ignore[assignment]  # hides a deprecated classmethod on purpose
        data: Text = ""

    class ExtensionPredicate(Document):
        """A predicate of someone else's making. schema: the address of what looks at it; data: JSON text."""

        type: ExtensionName
        schema: Text = ""  # type: ignore[assignment]  # hides a deprecated classmethod on purpose
        data: Text = ""


def _branch(value: Any) -> str:
    """The tag of the union member that `value` claims to be."""
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "<x:>" if isinstance(kind, str) and kind.startswith("x:") else f"<{kind}>"


def _one_of(kinds: tuple[str, ...]) -> Discriminator:
    return Discriminator(
        _branch,
        custom_error_type="type",
        custom_error_message=f"type is none of {', '.join(kinds)} and no x:<name>",
    )


Constraint = Annotated[
    Annotated[BudgetConstraint, Tag("<budget>")]
    | Annotated[DeadlineConstraint, Tag("<deadline>")]
    | Annotated[JurisdictionConstraint, Tag("<jurisdiction>")]
    | Annotated[QualityConstraint, Tag("<quality>")]
    | Annotated[RuleConstraint, Tag("<rule>")]
    | Annotated[PolicyConstraint, Tag("<policy>")]
    | Annotated[ExtensionConstraint, Tag("<x:>")],
    _one_of(CONSTRAINT_TYPES),
]
Predicate = Annotated[
    Annotated[DeliveredPredicate, Tag("<delivered>")]
    | Annotated[SignedOffPredicate, Tag("<signed_off>")]
    | Annotated[ExternalPredicate, Tag("<external>")]
    | Annotated[AttestationPredicate, Tag("<attestation>")]
    | Annotated[CommandPredicate, Tag("<command>")]
    | Annotated[ExtensionPredicate, Tag("<x:>")],
    _one_of(PREDICATE_TYPES),
]


class Preference(Document):
    """A tie-breaker; lower ranks count first."""

    rank: Whole = 0
    prefer: Text = ""


class Given(Document):
    """What a wish is given by an earlier one.

    slot: the input that it fills; type: of that input. wish: which gives it: 0 the first of the goal, 1 the
    first further one. output: its name among what that skill gives. words: of the goal, that point at it.
    each: it is a list, and the wish is done once for each member.
    """

    slot: Name
    type: Text = ""
    wish: Count = 0
    output: Name
    words: Text = ""
    each: Flag = False


class WishCondition(Document):
    """What an earlier wish must have given for a further one to be done. test, value: as of a plan's
    `Condition`. words: of the goal, that say it."""

    wish: Count = 0
    output: Name
    test: Name
    value: Text = ""
    words: Text = ""


class FurtherWish(Document):
    """A further wish of the same goal: its words, and what it wants. Its limits are those of the whole goal.

    skill_ref: the skill that plans it; "": none does. given: inputs that earlier wishes give. when: what must
    hold for it to be done. scope_uri: where it is given files, what it may use; "": all that its plan may.
    """

    prose: Text = ""
    verb: Verb = ""
    objects: tuple[SlotEntry, ...] = ()
    skill_ref: Text = ""
    given: tuple[Given, ...] = ()
    when: WishCondition | None = None
    scope_uri: Text = ""


class Frame(Document):
    """What is wanted. Every field may be empty while questions are open. further: what is wanted beside, once
    that is done, in order."""

    verb: Verb = ""
    objects: tuple[SlotEntry, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    success_criteria: tuple[Predicate, ...] = ()
    preferences: tuple[Preference, ...] = ()
    further: tuple[FurtherWish, ...] = ()


def frame_digest(frame: Frame) -> str:
    """Lowercase hex sha256 of the canonical Frame: equal for equal meaning, whoever asked and when."""
    return content_hash(frame)
