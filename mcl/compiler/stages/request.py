"""What is compiled: the goal with everything a person fixed beforehand or answered since. A draft says all
of it.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ir import (
    DocumentError,
    ExtensionConstraint,
    IntentAnswerBody,
    IntentDraftBody,
    canonical_bytes,
    parse_json,
)
from ir.characters import MEANINGLESS, without
from ir.inline_secrets import find_secret
from mcl.compiler.stages.file_names import FileReading
from mcl.core.errors import InputError

# In slot_values of the draft, where no slot can have such a name.
VERB, ZONE, GOAL, EXPIRES, WHEN, _OWN = "@verb", "@zone", "@goal", "@expires", "@when", "@"
FILES = "@files"
_SKILL_FIELD, _VERB_FIELD = "skill", "frame.verb"


@dataclass(frozen=True)
class GoalOptions:
    """What a person said beside the words of a goal, as it was given: nothing of it is checked yet.

    skill, verb: "" leaves the choice to the model. slots: values by slot name, those of a list slot between
    commas. at: when it was said (ISO 8601; "" is now). id: a ULID (None: a fresh one). zone: IANA name that
    days and times of day are meant in; the draft says it. truncate: cut a goal that is too long instead of
    refusing it. goal_id: a name for what several intents are to reach. expires: until when it may be accepted
    and run, as a moment or a time from then on, in words or as ISO 8601. extensions: constraints of plug-ins,
    by their kind (`x:words.atmost`), each with its data. when: in words, that it is to run again and
    again, or later: it is accepted with a schedule, or not at all.
    """

    skill: str = ""
    verb: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)
    at: str = ""
    id: str | None = None
    zone: str = "UTC"
    truncate: bool = False
    goal_id: str = ""
    expires: str = ""
    extensions: Mapping[str, str] = field(default_factory=dict)
    when: str = ""


@dataclass(frozen=True)
class GoalChange:
    """One correction of a goal, as a person said it.

    words: in plain words, "" for none. fields: texts by the field of an Unknown ("slot.target"), as answers
    are; an empty text drops the field from the goal.
    """

    words: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)

    def data(self) -> bytes:
        """As the body of an intent.correct has it: JSON bytes."""
        document: dict[str, object] = {"words": self.words} if self.words else {}
        document |= {"fields": dict(self.fields)} if self.fields else {}
        return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_data(cls, data: bytes) -> "GoalChange":
        """Read such bytes. Raises InputError CORRECTION_UNREAD."""
        try:
            document = parse_json(data)
        except DocumentError as error:
            raise _unread(error.message) from error
        if not isinstance(document, dict) or document.keys() - {"words", "fields"}:
            raise _unread("it has other things than words and fields")
        words, fields = document.get("words", ""), document.get("fields", {})
        if not isinstance(fields, dict) or not all(isinstance(one, str) for one in (words, *fields.values())):
            raise _unread("words and fields are texts")
        return cls(words, fields)


def _unread(why: str) -> InputError:
    return InputError(
        "CORRECTION_UNREAD",
        f"what was said of the goal cannot be read: {why}",
        place="goal",
        fix="correct it again with this version of mcl",
    )


@dataclass(frozen=True)
class GoalRequest:
    """One goal to compile: its words and its options, checked and made plain.

    id: ULID. at: ISO 8601 UTC. zone: IANA name. actor, agent: DIDs. prose: normalised. skill, verb: "" where
    the model chooses. goal_id: the name of what it is to reach; expires: ISO 8601 UTC; extensions: those
    of plug-ins. when: words that say when it is to run. slots: values by slot name; answers: texts by the
    field of the Unknown they answer (a field with an empty answer is dropped from the goal). drafted: skill
    and verb as they were before any answer. files: what words for files mean. changes: what was corrected
    since, in that order; `answers` has their fields too. opens: words that promise what nobody here can
    check, and that stay open, as the plan can be undone.
    """

    id: str
    at: str
    zone: str
    actor: str
    agent: str
    prose: str
    skill: str = ""
    verb: str = ""
    slots: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    drafted: tuple[str, str] | None = None
    goal_id: str = ""
    expires: str = ""
    extensions: tuple[ExtensionConstraint, ...] = ()
    changes: tuple[GoalChange, ...] = ()
    when: str = ""
    opens: frozenset[str] = frozenset()
    files: FileReading = field(default_factory=FileReading, compare=False, repr=False)

    @property
    def told(self) -> str:
        """All that was said in words: the goal, then each correction on a line of its own."""
        return "\n".join([self.prose, *(change.words for change in self.changes if change.words)])

    def corrected(self, changes: Iterable[GoalChange]) -> "GoalRequest":
        """The same request with these corrections after those that it has."""
        request = self
        for change in changes:
            request = request.answered({**request.answers, **change.fields})
            request = replace(request, changes=(*request.changes, change))
        return request

    def draft(self) -> IntentDraftBody:
        """The body of the intent.draft that says this request, its answers left out."""
        reserved = {VERB: self.verb, ZONE: self.zone, GOAL: self.goal_id, EXPIRES: self.expires}
        reserved |= {WHEN: self.when}
        if self.files.found:
            reserved[FILES] = json.dumps(self.files.found, ensure_ascii=False, sort_keys=True)
        reserved |= {f"{_OWN}{one.type}": canonical_bytes(one).decode() for one in self.extensions}
        values = {**self.slots, **{key: value for key, value in reserved.items() if value}}
        return IntentDraftBody(prose=self.prose, slot_values=values, preferred_skill=self.skill)

    @classmethod
    def of_draft(
        cls,
        draft: IntentDraftBody,
        answers: Iterable[IntentAnswerBody],
        *,
        id: str,
        at: str,
        actor: str,
        agent: str,
    ) -> "GoalRequest":
        """The request that a draft and the answers after it say. Raises InputError ANSWER_PATCH."""
        values = dict(draft.slot_values)
        verb, zone = values.pop(VERB, ""), values.pop(ZONE, "UTC")  # drafts of old left UTC out
        goal, expires = values.pop(GOAL, ""), values.pop(EXPIRES, "")
        when, files = values.pop(WHEN, ""), FileReading(found=_files_found(values.pop(FILES, "")))
        given = [values.pop(name) for name in list(values) if name.startswith(f"{_OWN}x:")]
        extensions = tuple(map(ExtensionConstraint.from_json, given))
        said = cls(id, at, zone, actor, agent, draft.prose, draft.preferred_skill, verb, values)
        said = replace(said, goal_id=goal, expires=expires, extensions=extensions, when=when, files=files)
        document = said.document()
        for answer in answers:
            document = _patched(document, answer.patches)
        return said.answered({str(key): str(text) for key, text in document["answers"].items()})

    def answered(self, answers: Mapping[str, str]) -> "GoalRequest":
        """The same request with these answers; those that name the skill or the verb fix it."""
        drafted = self.drafted or (self.skill, self.verb)
        skill, verb = answers.get(_SKILL_FIELD) or drafted[0], answers.get(_VERB_FIELD) or drafted[1]
        return replace(self, skill=skill, verb=verb, answers=dict(answers), drafted=drafted)

    def asked_first(self) -> "GoalRequest":
        """The request as it was before any answer named the skill or the verb; itself where none did."""
        if self.drafted in (None, (self.skill, self.verb)):
            return self
        skill, verb = self.drafted or ("", "")
        return replace(self, skill=skill, verb=verb)

    def document(self) -> dict[str, dict[str, str]]:
        """What an intent.answer patches (RFC 6902): {"answers": {field of the Unknown: text}}."""
        return {"answers": dict(self.answers)}


def _files_found(text: str) -> dict[str, list[str]]:
    """What a draft says that words for files were taken for. Raises InputError DRAFT_UNREAD."""
    try:
        found = parse_json(text) if text else {}
    except DocumentError as error:
        raise _unread(error.message) from error
    if not isinstance(found, dict) or not all(isinstance(paths, list) for paths in found.values()):
        raise _unread("what words for files mean is no object of lists")
    return {key: [str(path) for path in paths] for key, paths in found.items()}


def patches_for(answers: Mapping[str, str]) -> bytes:
    """The RFC 6902 patches of a request's document that add `answers` (texts by field): JSON bytes."""
    steps = [
        {"op": "add", "path": f"/answers/{field.replace('~', '~0').replace('/', '~1')}", "value": text}
        for field, text in answers.items()
    ]
    return json.dumps(steps, ensure_ascii=False, separators=(",", ":")).encode()


def _patched(document: dict[str, dict[str, str]], patches: bytes) -> dict[str, dict[str, str]]:
    import jsonpatch  # 10 ms: only where there are answers

    try:
        patched = jsonpatch.apply_patch(document, patches.decode())
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, ValueError, TypeError) as error:
        raise _bad_patch(str(error)) from error
    answers = patched.get("answers") if isinstance(patched, dict) and len(patched) == 1 else None
    if not isinstance(answers, dict):
        raise _bad_patch("it changes more than answers")
    if not all(isinstance(text, str) for text in answers.values()):
        raise _bad_patch("an answer is not a text")
    return {"answers": answers}


def _bad_patch(why: str) -> InputError:
    return InputError(
        "ANSWER_PATCH",
        f"the patches of an answer do not apply: {why}",
        place="answer",
        fix='patch {"answers": {field: text}} with RFC 6902 operations',
    )


# ---- Stage 1: the goal as text that can be compiled, shown and signed. Pure.

_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n ?")
_GAPS = re.compile(r"\n{3,}")


def normalise(goal: str | bytes, *, longest: int, truncate: bool = False) -> str:
    """`goal` in NFC with plain blanks and line breaks, without control and invisible characters.

    longest: in characters. truncate: cut a longer goal at the last word that fits instead of refusing it. The
    result is a fixed point: normalising it again changes nothing. Raises InputError GOAL_EMPTY,
    GOAL_TOO_LONG, GOAL_BINARY (NUL bytes, or not UTF-8).
    """
    text = _text(goal)
    if "\0" in text:
        raise _binary(f"a NUL at character {text.index(chr(0))}")
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    # Directional overrides, invisible separators and tag characters make a text read otherwise than it is.
    text = without(text, MEANINGLESS | {"control"})
    text = _GAPS.sub("\n\n", _LINES.sub("\n", _BLANKS.sub(" ", text))).strip()
    text = unicodedata.normalize("NFC", text)  # what was taken out may have kept a mark from its letter
    if not text:
        raise InputError(
            "GOAL_EMPTY", "the goal is empty", place="goal", fix="say what you want in a few words"
        )
    if len(text) > longest:
        if not truncate:
            raise InputError(
                "GOAL_TOO_LONG",
                f"the goal has {len(text)} characters; at most {longest} are read",
                place="goal",
                fix="say it in fewer words, name files instead of quoting them, or cut it with --truncate",
                data={"length": len(text), "longest": longest},
            )
        cut = text[: longest + 1].rsplit(maxsplit=1)[0] if " " in text[:longest] else text[:longest]
        text = cut[:longest].rstrip()
    return text


def without_secret(text: str) -> str:
    """The text as it is. Raises InputError SECRET_INLINE where a key or token seems to stand in it: what is
    said is kept in the journal for good. A compile asks; a replay takes what was kept."""
    if found := find_secret("", text, goal=True):
        raise InputError(
            "SECRET_INLINE",
            f"the goal has what looks like {found} in it, and goals are kept in the journal",
            place="goal",
            fix="leave it out; a tool that needs it takes it from a variable, named as $env:NAME",
        )
    return text


def _text(goal: str | bytes) -> str:
    try:
        text = goal.decode("utf-8") if isinstance(goal, bytes) else goal
        text.encode("utf-8")
    except UnicodeDecodeError as error:
        raise _binary(f"byte {error.start} is not UTF-8") from error
    except UnicodeEncodeError as error:
        raise _binary(f"half a surrogate pair at character {error.start}") from error
    return text


def _binary(why: str) -> InputError:
    return InputError(
        "GOAL_BINARY", f"the goal is not text: {why}", place="goal", fix="give the goal as UTF-8 text"
    )
