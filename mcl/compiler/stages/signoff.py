"""What becomes of a hard promise that nobody here can check: what is asked, and what an answer makes of it.

Names of people become the keys that are called so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from executor.gate.standings import is_cited
from ir import (
    AttestationPredicate,
    CommandPredicate,
    DeliveredPredicate,
    ExternalPredicate,
    Preference,
    Promise,
    PromiseStanding,
    SignedOffPredicate,
)
from ir.errors import REFUSED
from mcl.compiler.stages.constraints import CONSTRAINTS, Stated
from mcl.compiler.stages.gaps import Gap, sentence
from mcl.core.errors import InputError
from mcl.language.mtx.core import Core

if TYPE_CHECKING:
    from executor.store.keys.keyring import KeyEntry

FIELD: Final = "promise."  # and the words of the goal: such an Unknown is about the promise that they make
_PLAIN: Final = (
    "rule",
    "recurrence",
    "second",
    "external",
    "command",
    "delivered",
)  # words that say what is meant
_NAMED: Final = ("signed_off", "attestation")
_PREDICATES: Final = (
    AttestationPredicate,
    CommandPredicate,
    DeliveredPredicate,
    ExternalPredicate,
    SignedOffPredicate,
)


@dataclass(frozen=True)
class Choices:
    """What may become of it, in the words of the answers: signed by whoever accepts it, when the run has
    ended; a wish; nothing. unchecked, open, second, signer: the questions, with a place for {words}. oneself:
    what people call themselves."""

    sign: str
    wish: str
    drop: str
    unchecked: str
    open: str
    second: str
    signer: str
    oneself: frozenset[str]

    @classmethod
    def of(cls, core: Core) -> "Choices":
        """Those of the core modules. Raises SkillError NO_SETTING."""
        words, signs = core["promise"], core["predicate"]
        return cls(
            words.text("option.sign"),
            words.text("option.wish"),
            words.text("option.drop"),
            words.text("question.unchecked"),
            words.text("question.open"),
            words.text("question.second"),
            words.text("question.signer"),
            frozenset(one.casefold() for one in signs.phrases("oneself")),
        )

    @property
    def options(self) -> tuple[str, ...]:
        """What may be answered, in order."""
        return self.sign, self.wish, self.drop


@dataclass(frozen=True)
class KeyNames:
    """The labels of keys. users: those whose sign-off counts; known: all, also those of agents. Each by its
    label in small letters: the label as it is written, and the did; a label of two keys names none.

    ever: the same of all keys that there ever were, which an answer may name.
    """

    users: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    known: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    ever: "KeyNames | None" = None

    @classmethod
    def of(cls, entries: Iterable["KeyEntry"], at: str) -> "KeyNames":
        """Those of a keyring that held at a moment (ISO 8601 UTC, as journals write it)."""
        known = tuple(entries)
        held = [one for one in known if one.added_at <= at and not one.revoked_by(at)]
        return replace(cls._of(held), ever=cls._of(known))

    @classmethod
    def _of(cls, entries: "Sequence[KeyEntry]") -> "KeyNames":
        return cls(_by_label([one for one in entries if one.role == "user"]), _by_label(entries))


NO_KEYS: Final = KeyNames()


def _by_label(entries: "Sequence[KeyEntry]") -> dict[str, tuple[str, str]]:
    labels = [one.label.casefold() for one in entries]
    return {
        one.label.casefold(): (one.label, one.did)
        for one in entries
        if one.label.strip() and labels.count(one.label.casefold()) == 1
    }


def settled(
    found: Stated, words: str, answer: str | None, rank: int, choices: Choices, keys: KeyNames
) -> Stated | None:
    """What a limit or sign is with the answer that was given about its words; None where it is left out.

    answer: None where nobody was asked. rank: that of a preference.
    """
    if isinstance(found, Preference) or not isinstance(found, (*CONSTRAINTS, *_PREDICATES)):
        return found
    if answer is None:
        return _named(found, "", words, choices, keys)
    if answer in ("", choices.drop):
        return None
    if answer == choices.sign:
        return SignedOffPredicate(what=in_full(found.type, Promise("", True, found).says, words))
    if answer == choices.wish:
        if isinstance(found, CONSTRAINTS):
            return found.model_copy(update={"hard": False})
        return Preference(rank=rank, prefer=words)
    return _named(found, answer, words, choices, keys.ever or keys)


def in_full(kind: str, says: str, words: str) -> str:
    """The words of a promise, with what they mean where that is not plain (only in SE: Sweden)."""
    return words if kind in _PLAIN or words in says else f"{says}: {words}"


def _named(found: Stated, answer: str, words: str, choices: Choices, keys: KeyNames) -> Stated:
    """A sign of success with the key of whom it names, where one is known by that name.

    Who is answered to have attested what has no address signs it off instead: attestations cite addresses.
    """
    if isinstance(found, SignedOffPredicate) and found.by:
        name = _name(answer or found.by)
        if name in choices.oneself:
            return SignedOffPredicate(what=found.what)
        known = keys.users.get(name) or keys.users.get(name.removeprefix("the "))
        return SignedOffPredicate(by=known[1], what=found.what) if known else found
    if isinstance(found, AttestationPredicate) and (name := _name(answer or found.source)):
        if answer and not is_cited(found.topic):
            user = keys.users.get(name)
            return SignedOffPredicate(by=user[1], what=words) if user else found
        known = keys.known.get(name) or keys.known.get(name.removeprefix("the "))
        return found.model_copy(update={"source": known[1]}) if known else found
    return found


def _name(text: str) -> str:
    return text.strip().casefold()


def require_person(fields: Iterable[str], *, fix: str) -> None:
    """Raise InputError PERSON_ONLY where one of these fields is about a promise that nobody can check: what
    becomes of it is said by a person who was seen to say it."""
    if about := next((field for field in fields if field.startswith(FIELD)), ""):
        raise InputError(
            "PERSON_ONLY",
            f"what becomes of “{about.removeprefix(FIELD)}” is for a person to say",
            place=about,
            fix=fix,
            exit=REFUSED,
        )


def open_words(kind: str, words: str, choices: Choices, *, aside: bool = False) -> Gap:
    """The Unknown about words of a goal that nothing which was read says. It blocks where there is a plan
    that leaves them out and cannot be undone, but for an aside; else whoever signs it, or works at the goal,
    reads it."""
    template = choices.second if kind == "second" else choices.open
    prompt = template.replace("{words}", words)
    why = f"“{words}” was said besides" if aside else f"nothing that was read says “{words}”"
    return Gap(
        f"{FIELD}{words}", "string", "optional" if aside else "preferred", why, prompt, choices.options
    )


def left_open(unchecked: Sequence[PromiseStanding], said: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    """The words of those that nobody can check, whatever keys and grants there are. said: as of
    `asked_about`."""
    read = (said.get(one.place, ("", "")) for one in unchecked)
    return frozenset(words for kind, words in read if kind in ("rule", "recurrence", "delivered"))


def asked_about(
    unchecked: Sequence[PromiseStanding],
    said: Mapping[str, tuple[str, str]],
    choices: Choices,
    keys: KeyNames,
) -> tuple[Gap, ...]:
    """A blocking question for each hard promise that nobody here can check.

    said: kind and words of each promise, by its place, as they were read in the goal.
    """
    gaps: dict[str, Gap] = {}
    for one in unchecked:
        kind, words = said.get(one.place, ("", one.says))
        cites = kind == "attestation" and is_cited(words.partition(" by ")[0])
        named = keys.known if cites else keys.users
        names = tuple(label for label, _ in named.values()) if kind in _NAMED else ()
        template = choices.signer if kind == "signed_off" else choices.unchecked
        shown = words if kind == "signed_off" else in_full(kind, one.says, words)
        prompt = template.replace("{words}", shown).replace("{why}", sentence(one.why))
        why = f"nobody here can check “{shown}”: {one.why}"
        field_ = f"{FIELD}{words}"
        gaps.setdefault(field_, Gap(field_, "string", "blocking", why, prompt, (*names, *choices.options)))
    return tuple(gaps.values())
