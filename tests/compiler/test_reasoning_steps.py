"""Step nodes ask one model, which can do one thing at a time."""

import time
from collections.abc import Sequence

import anyio

from mcl.reasoner import ModelReasoner
from tests.compiler.conftest import Scripted


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
        answers.append(await reasoner.reason(system="s", user=user, outputs=["o"], kind="reason"))

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
