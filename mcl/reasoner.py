"""What the walker needs for the step nodes of a plan, filled in by a model and a skill."""

from collections.abc import Callable, Sequence
from threading import Lock

from anyio import to_thread

from ir import Intent
from mcl.errors import SkillError
from mcl.model.protocol import Model
from mcl.mtx.interpret import SlotValue, interpret
from mcl.skills import Skill


class ModelReasoner:
    """Answers step nodes with a model, which is opened at the first of them and asked one thing at a time."""

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._model: Model | None = None
        # A model is not for several threads; a step that was given up may still be in it.
        self._turn = Lock()

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """One value for each name in `outputs`. Raises ModelError."""

        def ask() -> dict[str, object]:
            with self._turn:
                self._model = self._model or self._load()
                return self._model.reason(system, user, outputs, kind)

        return await to_thread.run_sync(ask, abandon_on_cancel=True)


class SkillPrompts:
    """The prompts of the skill that an Intent was compiled with."""

    def __init__(self, intent: Intent, skill: Skill) -> None:
        self._intent = intent
        self._skill = skill

    def prompt(self, skill_ref: str, name: str) -> str:
        """The system text of a skill's prompt for this Intent; `name` is a verb, "" the Intent's own.

        Raises SkillError SKILL_CHANGED (the installed skill is another one than the plan's).
        """
        if skill_ref != self._skill.ref:
            raise SkillError(
                "SKILL_CHANGED",
                f"the plan was made with {skill_ref}; installed is {self._skill.ref}",
                place=str(self._skill.path),
                fix="install that version, or compile the goal again",
            )
        slots: dict[str, list[SlotValue | str]] = {}
        for entry in self._intent.frame.objects:
            slots.setdefault(entry.name, []).append(SlotValue(entry.value, entry.uri, entry.value))
        verb = name or self._intent.frame.verb
        return interpret(self._skill, verb=verb, prose=self._intent.prose, slots=slots).system
