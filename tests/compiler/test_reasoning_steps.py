"""Step nodes ask one model, which can do one thing at a time."""

import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from mcl.compiler.compiler import Compiled
from mcl.compiler.execution import ModelReasoner, SkillPrompts
from mcl.language.skills import load_skill
from tests.compiler.conftest import ORDER, PLAN, Compile, Scripted


class OneAtATime(Scripted):
    busy = 0
    overlapped = False

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        self.busy += 1
        self.overlapped = self.overlapped or self.busy > 1
        time.sleep(0.05)
        self.busy -= 1
        return dict.fromkeys(outputs, user)


def test_steps_that_run_in_parallel_or_were_given_up_ask_the_model_in_turn() -> None:
    model, loads = OneAtATime(), []

    def load() -> OneAtATime:
        loads.append(model)
        time.sleep(0.02)
        return model

    reasoner, answers = ModelReasoner(load), []

    async def ask(user: str) -> None:
        asked = await reasoner.reason(system="s", user=user, outputs=["o"], kind="reason")
        answers.append(asked.outputs)

    async def walk() -> None:
        with anyio.move_on_after(0.03):
            await ask("given up")
        async with anyio.create_task_group() as group:
            for user in ("a", "b", "c"):
                group.start_soon(ask, user)

    anyio.run(walk)
    assert sorted(str(answer["o"]) for answer in answers) == ["a", "b", "c"]
    assert not model.overlapped
    assert len(loads) == 1


def test_a_prompt_is_told_all_values_of_a_list(compiles: Compile, tmp_path: Path) -> None:
    folder = tmp_path / "order"
    folder.mkdir()
    (folder / "SKILL.mtx").write_text(ORDER.replace('"Mark what is ordered."', '"Order: {slot.tags}"'))
    (folder / "plan.yaml").write_text(PLAN)
    says = {"slot.item": "paper", "slot.tags": ["office", "home"]}
    outcome = compiles("order paper for office and home", Scripted(says=says))
    assert isinstance(outcome, Compiled)
    skill = load_skill(folder)
    assert SkillPrompts(outcome.intent, skill).prompt(skill.ref, "", {}) == ("Order: office, home", "")
