"""What is compiled: the goal with everything a person fixed beforehand or answered since. A draft says all
of it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ir import IntentAnswerBody, IntentDraftBody
from mcl.core.errors import InputError

VERB, ZONE = "@verb", "@zone"  # in slot_values of the draft, where no slot can have such a name
_SKILL_FIELD, _VERB_FIELD = "skill", "frame.verb"


@dataclass(frozen=True)
class Request:
    """One goal to compile.

    id: ULID. at: ISO 8601 UTC. zone: IANA name. actor, agent: DIDs. prose: normalised. skill, verb: "" where
    the model chooses. slots: values by slot name; answers: texts by the field of the Unknown they answer (a
    field with an empty answer is dropped from the goal). drafted: skill and verb as they were before any
    answer.
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

    def draft(self) -> IntentDraftBody:
        """The body of the intent.draft that says this request, its answers left out."""
        reserved = {VERB: self.verb, ZONE: self.zone}
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
    ) -> "Request":
        """The request that a draft and the answers after it say. Raises InputError ANSWER_PATCH."""
        values = dict(draft.slot_values)
        verb, zone = values.pop(VERB, ""), values.pop(ZONE, "UTC")  # drafts of old left UTC out
        said = cls(id, at, zone, actor, agent, draft.prose, draft.preferred_skill, verb, values)
        document = said.document()
        for answer in answers:
            document = _patched(document, answer.patches)
        return said.answered({str(key): str(text) for key, text in document["answers"].items()})

    def answered(self, answers: Mapping[str, str]) -> "Request":
        """The same request with these answers; those that name the skill or the verb fix it."""
        drafted = self.drafted or (self.skill, self.verb)
        skill, verb = answers.get(_SKILL_FIELD) or drafted[0], answers.get(_VERB_FIELD) or drafted[1]
        return replace(self, skill=skill, verb=verb, answers=dict(answers), drafted=drafted)

    def asked_first(self) -> "Request":
        """The request as it was before any answer named the skill or the verb; itself where none did."""
        if self.drafted in (None, (self.skill, self.verb)):
            return self
        skill, verb = self.drafted or ("", "")
        return replace(self, skill=skill, verb=verb)

    def document(self) -> dict[str, dict[str, str]]:
        """What an intent.answer patches (RFC 6902): {"answers": {field of the Unknown: text}}."""
        return {"answers": dict(self.answers)}


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
