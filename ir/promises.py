"""What an Intent promises, one by one, and the closed vocabulary of rules that a run can be held to.

| a rule keeps | what breaks it |
|---|---|
| read only, change nothing | a call that does more than read |
| delete nothing | a call that destroys, or that could: a command, work for others |
| overwrite nothing | a change of what is there already |
| no new files | a file that was not there |
| no network | a call that goes over the network, or could |
| send nothing | a call that carries something out, or could |
| no commands | a call that starts a program |
| only in PATH, … ; not in PATH, … | a call that reads or changes something elsewhere; there |
| change only in PATH, … ; change not in PATH, … | a call that changes something elsewhere; there |
| only host HOST, … | a call that goes, or could go, to another host |
| no tool NAME, … ; only tool NAME, … | a call of one of these, or of what could do the same; of another |
| at most N calls ; at most N files | one call more; a change of one file more |
| ask before each | a call that does more than read, and that nobody was asked about |

A path is relative to the workspace; a tool is `namespace/name`, `namespace/*` or, of another server,
`server:tool`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from ir.characters import INVISIBLE, without
from ir.document import Document
from ir.errors import PromiseError
from ir.frame import (
    AttestationPredicate,
    BudgetConstraint,
    CommandPredicate,
    Constraint,
    DeadlineConstraint,
    DeliveredPredicate,
    ExternalPredicate,
    JurisdictionConstraint,
    PolicyConstraint,
    Predicate,
    Preference,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
)
from ir.intent import Budget, Intent
from ir.scalars import Flag, Text

# ---- The vocabulary.

PLAIN: Final = (
    *("read only", "change nothing", "delete nothing", "overwrite nothing", "no new files"),
    *("no network", "send nothing", "no commands", "ask before each"),
)
PLACES: Final = ("only in", "not in", "change only in", "change not in")
HOSTS: Final = ("only host",)
TOOLS: Final = ("no tool", "only tool")
COUNTS: Final = ("calls", "files")
_LISTS: Final = (*PLACES, *HOSTS, *TOOLS)
_MOST: Final = 1_000_000
_MANY: Final = 64  # values of one rule
_COUNTED: Final = re.compile(rf"at most (0|[1-9][0-9]{{0,6}}) ({'|'.join(COUNTS)})", re.ASCII)
_HOST: Final = re.compile(
    r"(?:https?://)?(?:[a-z0-9_.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII
)
_TOOL: Final = re.compile(
    r"[A-Za-z0-9][\w.-]{0,63}(?:/(?:[A-Za-z0-9][\w.-]{0,63}|\*)|:[\w.-]{1,128})", re.ASCII
)
_NO_PLACE: Final = re.compile(r'[\x00-\x1f\x7f,*?\[\]{}"\\\ud800-\udfff]')
_FORM: Final = "write it as the table in docs/ir.md does, such as change nothing, or only in src, docs"

Kind: TypeAlias = str


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a rule keeps, parsed. values: places, hosts or tools, as they are written. most: of a number."""

    kind: Kind
    values: tuple[str, ...] = ()
    most: int = 0

    def __str__(self) -> str:
        if self.kind.startswith("at most"):
            return f"at most {self.most} {self.kind.rpartition(' ')[2]}"
        return f"{self.kind} {', '.join(self.values)}" if self.values else self.kind

    @property
    def words(self) -> str:
        """The same in plain words, for people."""
        named = ", ".join(self.values)
        return _WORDS[self.kind].format(named=named, most=self.most)


_WORDS: Final = {
    "read only": "nothing is done but reading",
    "change nothing": "nothing is changed",
    "delete nothing": "nothing is deleted",
    "overwrite nothing": "what is there already stays as it is",
    "no new files": "no file is made",
    "no network": "nothing goes over the network",
    "send nothing": "nothing is sent to anybody",
    "no commands": "no program is started",
    "ask before each": "you are asked before each call that does more than read",
    "only in": "nothing outside {named} is read or changed",
    "not in": "nothing in {named} is read or changed",
    "change only in": "nothing outside {named} is changed",
    "change not in": "nothing in {named} is changed",
    "only host": "no host is reached but {named}",
    "no tool": "{named} is not used",
    "only tool": "nothing is used but {named}",
    "at most calls": "no more than {most} calls are made",
    "at most files": "no more than {most} files are changed",
}


@lru_cache(maxsize=1024)
def parse_keeps(text: str) -> Restriction:
    """Read what a rule keeps, in its one spelling.

    Raises PromiseError: PROMISE_UNKNOWN (none of the vocabulary), PROMISE_VALUE (a place, host, tool or
    number that is none).
    """
    if text in PLAIN:
        return Restriction(text)
    if counted := _COUNTED.fullmatch(text):
        if int(counted[1]) > _MOST:
            raise _value(text, f"at most {_MOST:,}")
        return Restriction(f"at most {counted[2]}", most=int(counted[1]))
    for kind in sorted(_LISTS, key=len, reverse=True):
        if text.startswith(f"{kind} "):
            values = tuple(text.removeprefix(f"{kind} ").split(", "))
            _check(text, kind, values)
            return Restriction(kind, values)
    raise PromiseError(
        "PROMISE_UNKNOWN", f"{text[:200]!r} is nothing that a run can be held to", place=text[:200], fix=_FORM
    )


def _check(text: str, kind: Kind, values: tuple[str, ...]) -> None:
    if len(values) > _MANY:
        raise _value(text, f"at most {_MANY} of them")
    if len(set(values)) != len(values):
        raise _value(text, "each once")
    for value in values:
        if kind in PLACES and not is_place(value):
            raise _value(text, "a place is a path in the workspace, without patterns, such as src/app")
        if kind in HOSTS and not _HOST.fullmatch(value):
            raise _value(text, "a host is written as in a grant, such as api.example.org")
        if kind in TOOLS and not _TOOL.fullmatch(value):
            raise _value(text, "a tool is namespace/name, namespace/* or server:tool")


def is_place(text: str) -> bool:
    """Whether a text is a path in the workspace as a rule may name it: relative, no pattern, no way up."""
    if not text or text != text.strip() or len(text) > 4096 or _NO_PLACE.search(text) or text.startswith("~"):
        return False
    return without(text, INVISIBLE) == text and all(part not in ("", ".", "..") for part in text.split("/"))


def _value(text: str, fix: str) -> PromiseError:
    return PromiseError(
        "PROMISE_VALUE", f"{text[:200]!r} names what cannot be held to", place=text[:200], fix=fix
    )


# ---- The promises of an Intent.

Item: TypeAlias = "Budget | str | Constraint | Predicate | Preference"


@dataclass(frozen=True, slots=True)
class Promise:
    """One thing that an Intent promises. place: its path, such as `frame.constraints[0]`; item: what stands
    there. A success criterion, a budget and a deadline are hard; a preference is soft."""

    place: str
    hard: bool
    item: Item

    @property
    def kind(self) -> str:
        """Its type, as the Frame names it; budget, deadline or preference for what has none."""
        if isinstance(self.item, Budget):
            return "budget"
        if isinstance(self.item, str):
            return "deadline"
        return "preference" if isinstance(self.item, Preference) else self.item.type

    @property
    def says(self) -> str:
        """What is promised, in plain words."""
        return _said(self.item)


def promises_of(intent: Intent) -> tuple[Promise, ...]:
    """Everything that an Intent promises: budget, deadline, constraints, success criteria, preferences."""
    frame = intent.frame
    found = [Promise("budget", True, intent.budget)] if intent.budget is not None else []
    if intent.deadline:
        found.append(Promise("deadline", True, intent.deadline))
    found += [Promise(f"frame.constraints[{at}]", one.hard, one) for at, one in enumerate(frame.constraints)]
    found += [
        Promise(f"frame.success_criteria[{at}]", True, one) for at, one in enumerate(frame.success_criteria)
    ]
    found += [Promise(f"frame.preferences[{at}]", False, one) for at, one in enumerate(frame.preferences)]
    return tuple(found)


def _said(item: Item) -> str:
    match item:
        case str():
            return f"done by {item}"
        case Budget():
            return _budget(item)
        case BudgetConstraint(max=most):
            return f"at most {most.amount} {most.asset}" if most else "a budget without an amount"
        case DeadlineConstraint(by=by):
            return f"done by {by}" if by else "a deadline without a moment"
        case JurisdictionConstraint(allow=allow, deny=deny):
            parts = [f"only in {', '.join(allow)}"] if allow else []
            parts += [f"not in {', '.join(deny)}"] if deny else []
            return ", ".join(parts) or "any region"
        case QualityConstraint(metric=metric, min=least, share=share):
            return f"{metric} at least {f'{least * 100:g} %' if share else f'{least:g}'}"
        case RuleConstraint(rule=rule, keeps=keeps):
            return _kept(keeps) or rule
        case PolicyConstraint(policy=policy):
            return f"the policy {policy}"
        case DeliveredPredicate(artifact=artifact):
            return f"{artifact} exists"
        case SignedOffPredicate(by=by, what=what):
            about = f": {what}" if what else ""
            return f"{by or 'whoever accepted it'} signs it off{about}"
        case ExternalPredicate(url=url, check=check):
            return f"{url or 'an address'}: {check or 'any success'}"
        case AttestationPredicate(source=source, topic=topic):
            return f"{source or 'somebody'} has attested {topic or 'a success'}"
        case CommandPredicate(tool_ref=tool, args=args):
            said = " ".join(f"{name}={text}" for name, text in sorted(args.items()))
            return f"{' '.join(filter(None, (tool or 'a command', said)))} exits with status 0"
        case Preference(prefer=prefer):
            return prefer
    return " ".join(text for text in (item.type, item.schema, item.data) if text)


def _kept(keeps: str) -> str:
    try:
        return parse_keeps(keeps).words if keeps else ""
    except PromiseError:
        return ""


def _budget(budget: Budget) -> str:
    parts = [f"at most {budget.max_cost.amount} {budget.max_cost.asset}"] if budget.max_cost else []
    parts += [f"at most {budget.max_time}"] if budget.max_time else []
    parts += [f"at most {budget.max_calls} calls"] if budget.max_calls is not None else []
    parts += [f"at most {budget.max_agents} sub-agents"] if budget.max_agents is not None else []
    return ", ".join(parts) or "a budget without limits"


# ---- What becomes of each.

StandingWord: TypeAlias = Literal["enforced", "checked", "signed_off", "not_checkable"]


class PromiseStanding(Document):
    """How a promise is kept. enforced: a call that would break it is refused; checked: looked at when the run
    ends; signed_off: a person signs it at the end; not_checkable: nothing here can hold or see it.

    place: its path in the Intent. says: what is promised, in plain words. why: of what is not checkable, the
    reason. by: of a quality that is checked, the output that measures it (`count.output.rows`).
    """

    place: Text
    standing: StandingWord
    hard: Flag = False
    says: Text = ""
    why: Text = ""
    by: Text = ""
