"""How each promise of an Intent is kept: by its plan, the tools and keys there are, what is known of hosts.

Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from executor.core.errors import ScopeError
from executor.gate.looks import unfit_command, unfit_extension
from executor.gate.measures import Find, Measure, find_measure, nothing_found
from executor.gate.page import GRAMMAR, parse_check
from executor.gate.rules import fits, strange_region
from executor.sandbox.files import components
from executor.sandbox.origin import Origin, parse_url
from ir import (
    AttestationPredicate,
    Budget,
    BudgetConstraint,
    CommandPredicate,
    DeadlineConstraint,
    DeliveredPredicate,
    ExtensionConstraint,
    ExtensionPredicate,
    ExternalPredicate,
    Intent,
    JurisdictionConstraint,
    PlanTree,
    Promise,
    PromiseError,
    PromiseStanding,
    QualityConstraint,
    RuleConstraint,
    SignedOffPredicate,
    parse_keeps,
    promises_of,
)
from ir.promises import StandingWord

if TYPE_CHECKING:
    from executor.store.keys.keyring import KeyEntry

Regions = Mapping[Origin, tuple[str, ...]]

_PREFIXES: Final = ("matrix://artifact/", "matrix://file/", "file:", "./")
_ADDRESS: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_CITED: Final = re.compile(r"[a-z][a-z0-9+.-]*:\S+")
# What is a path by its form alone; a word, a name or an address is one only where the plan says so.
_PATH: Final = re.compile(r"(?:[^:@]*/[^:@]*|[^\s:@]*[._-][^\s:@]*)")


@dataclass(frozen=True)
class Signers:
    """Dids of keys that are known here. users: whose sign-off counts; all: also agents, and the revoked."""

    users: frozenset[str] = frozenset()
    all: frozenset[str] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[KeyEntry]) -> Signers:
        """Those of a keyring."""
        known = tuple(entries)
        users = (one.did for one in known if one.role == "user" and not one.revoked_at)
        return cls(frozenset(users), frozenset(one.did for one in known))


@dataclass(frozen=True)
class _Plan:
    intent: Intent
    plan: PlanTree | None
    signers: Signers
    regions: Regions
    find: Find

    def texts(self) -> Iterator[tuple[str, str]]:
        """The side-effect class and each argument of the plan's calls."""
        for node, _ in self.plan.root.walk() if self.plan is not None else ():
            if node.tool_call is not None:
                for text in node.tool_call.args.values():
                    yield node.tool_call.side_effect_class, text


def standings(
    intent: Intent,
    plan: PlanTree | None,
    *,
    signers: Signers,
    regions: Regions,
    find: Find = nothing_found,
) -> tuple[PromiseStanding, ...]:
    """How each promise is kept, in the order of `promises_of`. find: the manifest at a pinned address."""
    known = _Plan(intent, plan, signers, regions, find)
    return tuple(_standing(promise, known) for promise in promises_of(intent))


def unchecked(found: tuple[PromiseStanding, ...]) -> tuple[PromiseStanding, ...]:
    """The hard ones that nothing here can hold or see."""
    return tuple(one for one in found if one.hard and one.standing == "not_checkable")


def _standing(promise: Promise, known: _Plan) -> PromiseStanding:
    kind, by = type(promise.item), ""
    if not promise.hard:
        word, why = "not_checkable", "it is a wish"
    elif kind in _KINDS:
        word, why = _KINDS[kind](promise, known)
    else:
        word, why = "not_checkable", "nothing here knows how to look at it"
    if word == "checked" and isinstance(promise.item, QualityConstraint):
        by, why = why, ""
    return PromiseStanding(
        place=promise.place, hard=promise.hard, standing=word, says=promise.says, why=why, by=by
    )


Found = tuple[StandingWord, str]


def _budget(promise: Promise, known: _Plan) -> Found:
    if isinstance(promise.item, BudgetConstraint) and (
        promise.item.max is None or not promise.item.max.asset
    ):
        return "not_checkable", "it names no amount"
    return "enforced", ""


def _deadline(promise: Promise, known: _Plan) -> Found:
    if isinstance(promise.item, DeadlineConstraint) and not promise.item.by:
        return "not_checkable", "it names no moment"
    return "enforced", ""


def _rule(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, RuleConstraint), "asked by its type"
    if not promise.item.keeps:
        return "not_checkable", "it says nothing that a call could be held to"
    try:
        parse_keeps(promise.item.keeps)
    except PromiseError as problem:
        return "not_checkable", problem.message
    return "enforced", ""


def _jurisdiction(promise: Promise, known: _Plan) -> Found:
    """Enforced where the plan goes to hosts, and of each that it names somebody said where it is."""
    item = promise.item
    assert isinstance(item, JurisdictionConstraint), "asked by its type"
    if strange := strange_region(item):
        return "not_checkable", f"{strange!r} is no region (the two letters of ISO 3166-1, such as DE, or EU)"
    texts = [text for effect, text in known.texts() if effect in ("network", "chain")]
    texts += [
        one.url
        for one in known.intent.frame.success_criteria
        if isinstance(one, ExternalPredicate) and one.url
    ]
    origins = [origin for text in texts if (origin := _origin(text)) is not None]
    if not origins:
        return "not_checkable", "the plan names no host whose region could be held to it"
    for origin in origins:
        where = known.regions.get(origin, ())
        if not where:
            command = f"mcl grant add network --host {origin.short} --region …"
            return "not_checkable", f"nobody said in which region {origin.short} is ({command})"
        if not fits(where, item):
            return "not_checkable", f"{origin.short} is in {', '.join(where)}"
    return "enforced", ""


def _origin(text: str) -> Origin | None:
    try:
        return parse_url(text).origin if _ADDRESS.fullmatch(text) and "${" not in text else None
    except ScopeError:
        return None


def _quality(promise: Promise, known: _Plan) -> Found:
    """Checked where one call of the plan gives the number; by which, stands in place of the reason."""
    assert isinstance(promise.item, QualityConstraint), "asked by its type"
    found = find_measure(promise.item, known.plan, known.find)
    return ("checked", str(found)) if isinstance(found, Measure) else ("not_checkable", found)


def _delivered(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, DeliveredPredicate), "asked by its type"
    path = artifact_path(promise.item, known.intent)
    try:
        parts = components(path)
    except ScopeError as problem:
        return "not_checkable", problem.message
    told = any(path in (text, text.removeprefix("./")) for _, text in known.texts())
    told = told or any(path == entry.value for entry in known.intent.frame.objects)
    if parts and (promise.item.artifact != path or told or _PATH.fullmatch(path)):
        return "checked", ""
    return "not_checkable", "it names no file that could be looked for"


def artifact_path(predicate: DeliveredPredicate, intent: Intent) -> str:
    """Where the artifact of a criterion should lie: its own path, or that of an object of the Intent."""
    named = {entry.name: entry.uri or entry.value for entry in intent.frame.objects}
    path = named.get(predicate.artifact, predicate.artifact)
    for prefix in _PREFIXES:
        path = path.removeprefix(prefix)
    return path


def _signed_off(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, SignedOffPredicate), "asked by its type"
    who = promise.item.by.removeprefix("matrix://user/")
    if not who or who == known.intent.actor or who in known.signers.users:
        return "signed_off", ""
    return "not_checkable", f"{who} is no user whose signature counts here (mcl key trust … --role user)"


def _external(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, ExternalPredicate), "asked by its type"
    if not promise.item.url:
        return "not_checkable", "it names no address (url) that could be looked at"
    try:
        if "${" not in promise.item.url:  # else it is known when the nodes are done
            parse_url(promise.item.url)
    except ScopeError as problem:
        return "not_checkable", problem.message
    if parse_check(promise.item.check) is None:
        return "not_checkable", f"what it expects is not understood; write {GRAMMAR}"
    return "checked", ""


def _attestation(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, AttestationPredicate), "asked by its type"
    source, topic = promise.item.source.removeprefix("matrix://agent/"), promise.item.topic
    if topic and not is_cited(topic):
        return (
            "not_checkable",
            f"attestations cite addresses, such as file:report.md, and “{topic}” is none",
        )
    if source in known.signers.all:
        return "checked", ""
    return "not_checkable", f"{source or 'nobody'} is no key that is known here (mcl key trust …)"


def is_cited(topic: str) -> bool:
    """Whether an attestation could cite this: it cites addresses."""
    return _CITED.fullmatch(topic) is not None


def _command(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, CommandPredicate), "asked by its type"
    manifest = known.find(promise.item.tool_ref)
    why = unfit_command(promise.item, known.intent.frame.verb, manifest)
    return ("not_checkable", why) if why else ("checked", "")


def _extension(promise: Promise, known: _Plan) -> Found:
    assert isinstance(promise.item, ExtensionConstraint | ExtensionPredicate), "asked by its type"
    why = unfit_extension(promise.item, known.find(promise.item.schema))
    return ("not_checkable", why) if why else ("checked", "")


_KINDS: Final[Mapping[type, Callable[[Promise, _Plan], Found]]] = {
    Budget: _budget,
    BudgetConstraint: _budget,
    str: _deadline,
    DeadlineConstraint: _deadline,
    JurisdictionConstraint: _jurisdiction,
    QualityConstraint: _quality,
    RuleConstraint: _rule,
    DeliveredPredicate: _delivered,
    SignedOffPredicate: _signed_off,
    ExternalPredicate: _external,
    AttestationPredicate: _attestation,
    CommandPredicate: _command,
    ExtensionConstraint: _extension,
    ExtensionPredicate: _extension,
}
