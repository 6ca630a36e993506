"""A skill whose §CORTEX writes Goal and Event leaves memories of what was signed and of how it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from mcl.compiler.compiler import Compiled, compile_goal
from mcl.core.home import open_home
from mcl.language.skills import find_skills
from mcl.memory import Memory, MemoryStore
from mcl.memory.lessons import bundle
from mcl.plugins.memories.verification import verify_home
from tests.compiler.conftest import ORDER, PLAN, Scripted


def done(tmp_path: Path, writes: str, *, exists: bool = False) -> tuple[str, list[Memory], str]:
    """Compile, accept and run one order; the intent's id, what is remembered, and how the run ended."""
    folder, work = tmp_path / "skills" / "order", tmp_path / "work"
    folder.mkdir(parents=True)
    work.mkdir()
    cortex_section = f"reads=Fact Event\n{writes}tags=shop Shop"
    (folder / "SKILL.mtx").write_text(ORDER.replace("reads=Fact", cortex_section))
    (folder / "plan.yaml").write_text(PLAN)
    if exists:
        (work / "order.txt").mkdir()  # the tool cannot write there
    with open_home(tmp_path / "home") as home:
        MemoryStore(home).put("Fact", "Acme sells paper", id="acme")
        found = find_skills([folder.parent])
        assert not found.broken
        model = Scripted(says={"slot.item": "paper", "slot.supplier": "Acme"})
        outcome = compile_goal("order paper from Acme", home=home, skills=found, model=model)
        assert isinstance(outcome, Compiled)
        id = outcome.intent.id
        signed = mcl.accept(id, home=home, skills=[folder.parent])
        ended = mcl.run(id, home=home, workspace=work, skills=[folder.parent])
        memories = MemoryStore(home).memories().find(limit=50)
        assert set(signed.remembered) <= {one.uri for one in memories}
        assert verify_home(home).flaws == []
        assert home.journal.verify().findings == []
        near = bundle(MemoryStore(home).memories(), "order paper", types=("Fact",), tags=(), tokens=400)
        assert ("Event" in near.text) == ("Event" in writes)
        return id, [one for one in memories if one.type != "Fact"], ended.state


def test_a_goal_when_it_is_signed_and_an_event_when_it_was_run(tmp_path: Path) -> None:
    id, memories, state = done(tmp_path, "writes=Goal Event\n")
    assert state == "completed"
    by_type = {one.type: one for one in memories}
    assert set(by_type) == {"Goal", "Event"}
    assert by_type["Goal"].text == "order paper from Acme"
    assert by_type["Event"].text == "acquire: order paper from Acme → completed"
    for one in memories:
        assert one.source == f"matrix://intent/{id}"
        assert one.tags == ("shop",)  # what cannot be a tag is left out
        assert one.edges == (("of", f"matrix://intent/{id}"), ("uses", "matrix://cortex/Fact/acme@v1"))


def test_a_run_that_failed_is_remembered_with_why(tmp_path: Path) -> None:
    _, [event], state = done(tmp_path, "writes=Event\n", exists=True)
    assert state == "failed"
    assert event.text.startswith("acquire: order paper from Acme → failed (")
    assert dict(event.data)["state"] == "failed"


@pytest.mark.parametrize("writes", ["", "writes=Fact Identity\n"])
def test_a_skill_that_writes_neither_leaves_nothing(tmp_path: Path, writes: str) -> None:
    assert done(tmp_path, writes)[1] == []
