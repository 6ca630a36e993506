"""Words become addresses of memories: every entry of a list, by the first line that finds it, and before
the prompt is filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor import Home
from mcl.cli.documents import of_result
from mcl.compiler import Clarify, Compiled, Outcome, compile_goal
from mcl.cortex import Cortex
from mcl.skills import find_skills
from tests.compiler.conftest import ORDER, PLAN, Scripted

LINE = "resolve slot.supplier <- cortex.find(type=Fact, near=slot.supplier.prose, limit=5)"


def order(
    home: Home, tmp_path: Path, lines: str, goal: str = "order paper from Acme", **options: object
) -> Outcome:
    folder = tmp_path / "skills" / "order"
    folder.mkdir(parents=True)
    assert LINE in ORDER
    (folder / "SKILL.mtx").write_text(ORDER.replace(LINE, lines))
    (folder / "plan.yaml").write_text(PLAN)
    found = find_skills([folder.parent])
    assert not found.broken
    says = options.pop("says", {"slot.item": "paper", "slot.supplier": "Acme"})
    model = Scripted(says=says)  # type: ignore[arg-type]  # what the test gives
    return compile_goal(goal, home=home, skills=found, model=model, **options)  # type: ignore[arg-type]


def uris(outcome: Outcome) -> dict[str, str]:
    assert isinstance(outcome, Compiled | Clarify)
    return {one.value: one.uri for one in outcome.intent.frame.objects if one.uri}


def test_a_second_resolve_line_finds_what_the_first_did_not(home: Home, tmp_path: Path) -> None:
    Cortex(home).put("Goal", "Acme")
    other = LINE.replace("type=Fact", "type=Goal")
    outcome = order(home, tmp_path, f"{LINE}\n{other}")
    assert isinstance(outcome, Compiled)
    assert outcome.intent.unknowns == ()
    assert uris(outcome)["Acme"].startswith("matrix://cortex/Goal/")


def test_each_entry_of_a_list_is_looked_up_by_its_own_words(home: Home, tmp_path: Path) -> None:
    for name in ("office", "home"):
        Cortex(home).put("Fact", name)
    says = {"slot.item": "paper", "slot.tags": ["office", "home"]}
    outcome = order(
        home,
        tmp_path,
        LINE.replace("slot.supplier", "slot.tags"),
        "order paper for office and home",
        says=says,
    )
    assert isinstance(outcome, Compiled)
    found = uris(outcome)
    assert set(found) == {"office", "home"}
    assert len(set(found.values())) == 2


@pytest.mark.parametrize(
    ("line", "resolved"),
    [
        ("cortex.find(type=Fact, text=slot.supplier)", True),
        ("cortex.find(type=[Goal Fact])", True),
        ("cortex.find(type=Fact, tag=other)", False),
        ("cortex.find(type=Fact, tags=[ours])", True),
        ("cortex.context(near=slot.supplier, budget=100)", True),
        ("cortex.resolve(type=Fact, id=acme)", True),
        ("cortex.resolve(type=Goal, id=acme)", False),
        ('cortex.resolve(uri="matrix://cortex/Fact/acme")', True),
        ("cortex.resolve()", False),
        ("cortex.find(type=Fakt)", False),
    ],
)
def test_every_argument_of_a_resolve_line_counts(
    home: Home, tmp_path: Path, line: str, resolved: bool
) -> None:
    Cortex(home).put("Fact", "Acme", id="acme", tags=["ours"])
    outcome = order(home, tmp_path, f"resolve slot.supplier <- {line}")
    assert ("Acme" in uris(outcome)) == resolved


def test_what_a_person_gave_is_resolved_before_the_prompt_is_filled(home: Home, tmp_path: Path) -> None:
    memory = Cortex(home).put("Fact", "Acme")
    prompt = (
        LINE
        + '\non slot.supplier=Acme\n  prompt\n    system="Ours"\n    user="From {slot.supplier}"\n  end\nend'
    )
    outcome = order(home, tmp_path, prompt, slots={"supplier": "Acme"}, dry_run=True)
    assert isinstance(outcome, Compiled)
    assert outcome.prompt.user == f"From {memory.uri}"
    assert of_result(outcome, stored=False)["prompt"] == {"system": "Ours", "user": f"From {memory.uri}"}
    assert "prompt" not in of_result(outcome, stored=True)
    assert home.journal.rows(kind="intent.draft") == []


def test_memories_of_types_that_there_are_not_are_not_read(home: Home, tmp_path: Path) -> None:
    Cortex(home).put("Fact", "Acme sells paper")
    folder = tmp_path / "skills" / "order"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(ORDER.replace("reads=Fact", "reads=Facts"))
    outcome = compile_goal(
        "order paper",
        home=home,
        skills=find_skills([folder.parent]),
        model=Scripted(says={"slot.item": "paper"}),
    )
    assert isinstance(outcome, Compiled)
    assert outcome.prompt.user == "Goal: order paper\nMemories: "


@pytest.mark.parametrize(
    ("condition", "asked"), [("confidence<0.99", True), ("confidence<0.5", False), ("unknown", False)]
)
def test_an_unknown_block_under_a_late_condition_is_acted_on(
    home: Home, tmp_path: Path, condition: str, asked: bool
) -> None:
    block = f'on {condition}\n  unknown slot.count\n    severity=blocking\n    reason="how many"\n  end\nend'
    outcome = order(home, tmp_path, block)
    assert isinstance(outcome, Clarify) == asked
    if isinstance(outcome, Clarify):
        gaps = [(gap.field, gap.rationale, gap.severity) for gap in outcome.intent.unknowns]
        assert gaps == [("slot.count", "how many", "blocking")]
