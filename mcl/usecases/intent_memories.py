"""What is remembered of an intent: the answers that led to it, the goal that was signed, how its run ended.

Answers are learned from whatever the skill (see mcl.memory.lessons); a Goal and an Event are left behind by
skills whose §CORTEX writes them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from executor.core.errors import KeyringError
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.lifecycle.view import View
from ir import ClarifyQuestion, Envelope, Intent, IntentClarifyBody, IntentCorrectBody
from ir.errors import MclError
from ir.inline_secrets import find_secret
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.core.errors import MemoryStoreError
from mcl.language.skills import Skill, Skills
from mcl.memory import Memories, Memory, MemoryStore, new_memory
from mcl.memory.lessons import SKILL, VERB, About, Asked, answer_of, folded, is_on, lesson, recalled
from mcl.memory.memory import LONGEST_TEXT, is_address, is_tag

if TYPE_CHECKING:
    from executor.walker.outcome import Outcome

_REDACTED = "[redacted: "
_MOMENT_FIELDS = ("frame.constraints.deadline.by",)


def keep_accepted(
    home: Home, envelope: Envelope, id: str, view: View, skills: Skills | None
) -> tuple[str, ...]:
    """Append an intent.accept and, in the same commit, what is remembered of it; the addresses of that.

    skills: the installed ones, None where they need not be looked at. What cannot be remembered (the agent's
    key is sealed, a field is too long) keeps nothing from being accepted. Raises what appending raises.
    """
    kept: list[Memory] = []
    with home.db.write():
        home.journal.append(envelope)
        with suppress(KeyringError, MemoryStoreError):
            store = MemoryStore(home)
            memories = [*_lessons(home, store, id, view, envelope.at)]
            skill = _skill_of(view.intent, skills)
            if view.intent is not None and skill is not None and "Goal" in skill.writes:
                memories.append(_goal(view.intent, skill, envelope.at))
            kept = store.write(memories) if memories else []
    return tuple(memory.uri for memory in kept)


def keep_outcome(home: Home, view: View, outcome: "Outcome", skills: Callable[[], Skills]) -> tuple[str, ...]:
    """Remember how a run ended, where its skill writes Events; the address of that memory.

    Nothing is raised: a run that has ended is not undone because it cannot be remembered.
    """
    with suppress(MclError):
        skill = _skill_of(view.intent, skills()) if outcome.envelope_id else None
        if view.intent is not None and skill is not None and "Event" in skill.writes:
            event = _event(view.intent, skill, outcome, home.clock.now())
            return tuple(memory.uri for memory in MemoryStore(home).write([event]))
    return ()


def _lessons(home: Home, store: MemoryStore, id: str, view: View, at: str) -> Iterator[Memory]:
    """What the answers to an intent's questions teach that is not known yet, and what was given instead of
    an answer that was learned before."""
    memories = store.memories()
    if view.intent is None or view.draft is None or not is_on(memories):
        return
    for asked, words, answer in (
        *_answered(home, id, view.intent, view),
        *_given(view.intent, view, memories),
    ):
        known = recalled(memories, asked)
        if known is None or answer_of(known) != answer:
            learned = lesson(asked, words, answer, source=f"matrix://intent/{id}", at=at)
            if learned is not None:
                yield learned


def _answered(home: Home, id: str, intent: Intent, view: View) -> Iterator[tuple[Asked, str, str]]:
    """Each answer that may be learned, with what was asked and the words of that."""
    if view.draft is None or not view.answers:
        return
    if any(isinstance(one.body, IntentCorrectBody) and one.body.goal for one in view.corrections):
        return  # of a goal that was corrected nobody knows what was right about its answers
    who = {"actor": intent.actor, "agent": intent.agent}
    request = GoalRequest.of_draft(view.draft, view.answers, id=id, at=intent.created_at, **who)
    questions, words = _asked(home, id)
    for field, answer in request.answers.items():
        question = questions.get(field)
        if question is None or not _may_be_learned(question, intent.prose, answer):
            continue
        by_value = answer.startswith("matrix://") and is_address(answer) and bool(words.get(field))
        said = words[field] if by_value else intent.prose
        about: About = "value" if by_value else "goal"
        yield Asked(_skill_asked(field, intent), field, about, folded(said)), said, answer


def _given(intent: Intent, view: View, memories: Memories) -> Iterator[tuple[Asked, str, str]]:
    """Each slot and the skill that a person gave where another answer was learned for this goal."""
    if view.draft is None or not memories.size:
        return
    given = {
        f"slot.{name}": text for name, text in view.draft.slot_values.items() if not name.startswith("@")
    }
    given |= {SKILL: view.draft.preferred_skill} if view.draft.preferred_skill else {}
    for field, text in given.items():
        asked = Asked(_skill_asked(field, intent), field, "goal", folded(intent.prose))
        if recalled(memories, asked) is not None and not _is_secret(field, intent.prose, text):
            yield asked, intent.prose, text


def _skill_asked(field: str, intent: Intent) -> str:
    made = intent.compile_metadata
    return made.skill_id if made is not None and field not in (SKILL, VERB) else ""


def _asked(home: Home, id: str) -> tuple[dict[str, ClarifyQuestion], dict[str, str]]:
    """The questions of an intent by field, and what the goal said where one was asked: the latest of each."""
    questions: dict[str, ClarifyQuestion] = {}
    words: dict[str, str] = {}
    for row in home.journal.rows(id):
        message = home.journal.open(row.wire)
        if isinstance(message, Record):
            words |= {str(field): str(said) for field, said in message.body.get("asked", {}).items()}
        elif isinstance(message.body, IntentClarifyBody):
            questions |= {question.field: question for question in message.body.questions}
    return questions, words


def _may_be_learned(question: ClarifyQuestion, prose: str, answer: str) -> bool:
    """No moments, which are another day later; no secrets; no answer that leaves the skill or verb open."""
    if question.type == "iso8601" or question.field in _MOMENT_FIELDS:
        return False
    if question.field.startswith(PROMISE):  # each promise is given up by a person, each time
        return False
    if not answer and question.field in (SKILL, VERB):
        return False
    return not _is_secret(question.field, prose, answer)


def _is_secret(field: str, *texts: str) -> bool:
    from executor.sandbox.redaction import Redactor

    name, clean = field.removeprefix("slot."), Redactor().text
    return any(find_secret(name, text) or _REDACTED in text or clean(text) != text for text in texts if text)


def _goal(intent: Intent, skill: Skill, at: str) -> Memory:
    return _of(intent, skill, "Goal", f"goal-{intent.id}", intent.prose, at, {})


def _event(intent: Intent, skill: Skill, outcome: "Outcome", at: str) -> Memory:
    why = f" ({outcome.failure.code}: {outcome.failure.message})" if outcome.failure else ""
    text = f"{intent.frame.verb}: {intent.prose} → {outcome.state}{why}"
    data = {"state": outcome.state, "envelope": outcome.envelope_id}
    return _of(intent, skill, "Event", f"run-{intent.id}", text, at, data)


def _of(intent: Intent, skill: Skill, type: str, id: str, text: str, at: str, data: dict[str, str]) -> Memory:
    """A memory of an intent: what it was about, which memories it rested on, with the skill's tags."""
    from executor.sandbox.redaction import visible

    uses = dict.fromkeys(("uses", one.uri) for one in intent.references if is_address(one.uri))
    given = {
        "type": type,
        "id": id,
        "text": visible(text)[:LONGEST_TEXT],
        "tags": [*_tags(skill)],
        "edges": [("of", f"matrix://intent/{intent.id}"), *uses][:64],
        "source": f"matrix://intent/{intent.id}",
        "data": {"skill": skill.id, **data},
    }
    return new_memory(given, at=at)


def _tags(skill: Skill) -> Sequence[str]:
    """The skill's tags as far as a memory may have them."""
    return tuple(dict.fromkeys(tag for tag in skill.tags if is_tag(tag)))[:64]


def _skill_of(intent: Intent | None, skills: Skills | None) -> Skill | None:
    """The installed skill of an Intent; None where it is gone or broken: then it leaves nothing behind."""
    made = intent.compile_metadata if intent is not None else None
    if skills is None or made is None or not made.skill_id:
        return None
    with suppress(MclError):
        return skills.get(made.skill_id)
    return None
