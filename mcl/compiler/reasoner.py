"""What the walker needs for the step nodes of a plan, filled in by a model and a skill."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock

from anyio import to_thread

from ir import Intent
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import File, Prompt, prompt_names
from mcl.language.mtx.interpret import Interpretation, Script, SlotInput, interpret, objects_by_slot
from mcl.language.skills import Skill
from mcl.model.protocol import Model


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

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """The system and user text of a skill's prompt for this Intent.

        name: the verb of the `on verb=` block that holds it; "": the one that fits the Intent, of
        which only the system text is taken. inputs: a step's texts by name. Those that are named
        like a slot fill it in the user text (never in the system text: they may come from tools), the others
        are added to it, a line each.

        Raises SkillError SKILL_CHANGED (the installed skill is another one than the plan's), NO_PROMPT.
        """
        if skill_ref != self._skill.ref:
            raise SkillError(
                "SKILL_CHANGED",
                f"the plan was made with {skill_ref}; installed is {self._skill.ref}",
                place=str(self._skill.path),
                fix="install that version, or compile the goal again",
            )
        names = prompt_names(self._skill.file)
        if name and name not in names:
            fix = f"name one of the skill's: {', '.join(names) or 'it has none'}"
            raise SkillError("NO_PROMPT", f"no prompt {name!r}", place=skill_ref, fix=fix)
        slots = objects_by_slot(self._intent)
        most = self._meant(self._skill, name, slots).output_cardinality
        script = _Blocks(self._skill.file) if name else self._skill
        system = self._meant(script, name, slots).system
        if most > 1:
            system = f"{system}\nGive at most {most} results.".strip()
        if not name:
            return system, ""
        declared = {slot.name for slot in self._skill.slots}
        bound = {**slots, **{key: inputs[key] for key in inputs if key in declared}}
        user = self._meant(script, name, bound).user
        left = [f"{key}: {text}" for key, text in inputs.items() if key not in declared or text not in user]
        return system, "\n".join([user, *left])

    def _meant(self, script: Script, name: str, slots: Mapping[str, SlotInput]) -> Interpretation:
        intent = self._intent
        return interpret(
            script,
            verb=name or intent.frame.verb,
            prose=intent.prose,
            slots=slots,
            confidence=intent.confidence,
            unknowns=[gap.rationale for gap in intent.unknowns],
        )


class CurrentPrompts:
    """The prompts of a run's skill for its Intent as it stands at each step: it may be corrected meanwhile.

    intent: gives it; skill: opens the skill, when the first step needs it or `load` asks for it.
    """

    def __init__(self, intent: Callable[[], Intent | None], skill: Callable[[], Skill]) -> None:
        self._intent = intent
        self._open = skill
        self._skill: Skill | None = None

    def load(self) -> Skill:
        """Open the skill. Raises SkillError."""
        self._skill = self._skill or self._open()
        return self._skill

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """As SkillPrompts.prompt."""
        intent = self._intent()
        assert intent is not None, "a step runs under an Intent"
        return SkillPrompts(intent, self.load()).prompt(skill_ref, name, inputs)


class _Blocks:
    """A skill without the prompt that stands outside of all blocks, which is the Intent's own."""

    def __init__(self, file: File) -> None:
        sections = tuple(
            replace(section, entries=tuple(one for one in section.entries if not isinstance(one, Prompt)))
            for section in file.sections
        )
        self.file = File(sections)
