"""Words become addresses of memories: every entry of a list, by the first line that finds it, and before
the prompt is filled."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor import Home
from mcl.compiler.compiler import Clarify, Compiled, Outcome, compile_goal
from mcl.language.skills import find_skills
from mcl.memory import MemoryStore
from mcl.usecases.documents import of_result
from tests.compiler.conftest import ORDER, PLAN, Scripted, compile_with

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
    return compile_with(goal, home=home, skills=found, model=model, **options)


def uris(outcome: Outcome) -> dict[str, str]:
    assert isinstance(outcome, Compiled | Clarify)
    return {one.value: one.uri for one in outcome.intent.frame.objects if one.uri}


def test_a_second_resolve_line_finds_what_the_first_did_not(home: Home, tmp_path: Path) -> None:
    MemoryStore(home).put("Goal", "Acme")
    other = LINE.replace("type=Fact", "type=Goal")
    outcome = order(home, tmp_path, f"{LINE}\n{other}")
    assert isinstance(outcome, Compiled)
    assert outcome.intent.unknowns == ()
    assert uris(outcome)["Acme"].startswith("matrix://cortex/Goal/")


def test_each_entry_of_a_list_is_looked_up_by_its_own_words(home: Home, tmp_path: Path) -> None:
    for name in ("office", "home"):
        MemoryStore(home).put("Fact", name)
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
    MemoryStore(home).put("Fact", "Acme", id="acme", tags=["ours"])
    outcome = order(home, tmp_path, f"resolve slot.supplier <- {line}")
    assert ("Acme" in uris(outcome)) == resolved


def test_what_a_person_gave_is_resolved_before_the_prompt_is_filled(home: Home, tmp_path: Path) -> None:
    memory = MemoryStore(home).put("Fact", "Acme")
    prompt = (
        LINE
        + '\non slot.supplier=Acme\n  prompt\n    system="Ours"\n    user="From {slot.supplier}"\n  end\nend'
    )
    outcome = order(home, tmp_path, prompt, slots={"supplier": "Acme"}, store=False)
    assert isinstance(outcome, Compiled)
    assert outcome.prompt.user == f"From {memory.uri}"
    assert of_result(outcome, stored=False)["prompt"] == {"system": "Ours", "user": f"From {memory.uri}"}
    assert "prompt" not in of_result(outcome, stored=True)
    assert home.journal.rows(kind="intent.draft") == []


def test_memories_of_types_that_there_are_not_are_not_read(home: Home, tmp_path: Path) -> None:
    MemoryStore(home).put("Fact", "Acme sells paper")
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


def test_an_address_gets_the_version_that_is_current_and_an_old_one_stays(home: Home, tmp_path: Path) -> None:
    cortex = MemoryStore(home)
    for text in ("Acme in Oslo", "Acme in Bergen"):
        cortex.put("Fact", text, id="acme")
    address = "matrix://cortex/Fact/acme"
    for number, (said, uri, summary) in enumerate(
        (
            (address, f"{address}@v2", "Acme in Bergen"),
            (f"{address}@v1", f"{address}@v1", "Acme in Oslo"),
        )
    ):
        outcome = order(home, tmp_path / str(number), LINE, slots={"supplier": said})
        assert isinstance(outcome, Compiled)
        assert uris(outcome) == {said: uri}
        references = [(one.uri, one.role, one.summary) for one in outcome.intent.references]
        assert references == [(uri, "slot.supplier", summary)]


@pytest.mark.parametrize("version", ["", "@v1", "@v2", "@v9"])
def test_an_address_at_which_nothing_is_remembered_blocks(home: Home, tmp_path: Path, version: str) -> None:
    cortex = MemoryStore(home)
    cortex.put("Fact", "Acme in Oslo", id="acme")
    cortex.forget("matrix://cortex/Fact/acme")
    said = f"matrix://cortex/Fact/{'acme' if version != '@v9' else 'other'}{version}"
    outcome = order(home, tmp_path, LINE, slots={"supplier": said})
    if version == "@v1":  # what it said then is still what it said
        assert uris(outcome) == {said: said}
        return
    assert isinstance(outcome, Clarify)
    [gap] = outcome.intent.unknowns
    assert (gap.field, gap.severity, gap.rationale) == (
        "slot.supplier",
        "blocking",
        f"nothing is remembered at {said}",
    )
    assert uris(outcome) == {}


def test_a_person_may_answer_with_an_address(home: Home, tmp_path: Path) -> None:
    cortex = MemoryStore(home)
    north = cortex.put("Fact", "Acme of the north", id="north")
    cortex.put("Fact", "Acme of the south", id="south")
    outcome = order(home, tmp_path, LINE)
    assert isinstance(outcome, Compiled)
    [gap] = outcome.intent.unknowns
    assert (gap.severity, set(gap.options)) == ("preferred", {north.uri, "matrix://cortex/Fact/south@v1"})
    answered = order(home, tmp_path / "again", LINE, slots={"supplier": north.uri})
    assert isinstance(answered, Compiled)
    assert answered.intent.unknowns == ()


def test_an_empty_slot_is_never_filled_from_memory(home: Home, tmp_path: Path) -> None:
    for tags in (("pinned",), ()):
        MemoryStore(home).put("Fact", f"order paper from Acme {tags}", tags=tags, importance=1.0)
    outcome = order(home, tmp_path, LINE, says={"slot.item": "paper"})
    assert isinstance(outcome, Compiled)
    assert [one.name for one in outcome.intent.frame.objects] == ["item", "speed"]
    assert outcome.intent.references == ()


def test_a_context_is_cut_where_its_budget_ends(home: Home, tmp_path: Path) -> None:
    cortex = MemoryStore(home)
    cortex.put("Fact", "Acme sells paper", id="short")
    cortex.put("Fact", "Acme sells paper " + "and many other things " * 20, id="long")
    for number, (budget, found) in enumerate(((1, 0), (25, 1), (500, 2))):
        line = f"resolve slot.supplier <- cortex.context(type=Fact, near=slot.supplier, budget={budget})"
        outcome = order(home, tmp_path / str(number), line)
        assert isinstance(outcome, Compiled | Clarify)
        options = [one.options for one in outcome.intent.unknowns]
        assert len(uris(outcome)) == (found == 1)
        assert [len(one) for one in options] == ([] if found == 1 else [found])


def test_a_skill_may_be_told_less_than_the_pipeline_allows(home: Home, tmp_path: Path) -> None:
    for place in range(30):
        MemoryStore(home).put("Fact", f"paper of kind {place} is sold by Acme", id=f"kind{place}")
    told = {}
    for budget in ("", "budget=60\n", "budget=100000\n"):
        folder = tmp_path / f"b{len(budget)}" / "order"
        folder.mkdir(parents=True)
        (folder / "SKILL.mtx").write_text(ORDER.replace("reads=Fact\n", f"reads=Fact\n{budget}"))
        found = find_skills([folder.parent])
        assert not found.broken
        model = Scripted(says={"slot.item": "paper"})
        outcome = compile_goal("order paper", home=home, skills=found, model=model)
        assert isinstance(outcome, Compiled)
        told[budget] = outcome.prompt.user.count("matrix://cortex/")
    assert 0 < told["budget=60\n"] < told[""] == told["budget=100000\n"]


def test_the_bundle_of_a_goal_is_the_same_bytes_whatever_was_remembered_since(
    home: Home, tmp_path: Path
) -> None:
    from mcl.compiler.compiler import recompile

    cortex = MemoryStore(home)
    for place in range(5):
        cortex.put("Fact", f"paper of kind {place} is sold by Acme", id=f"kind{place}")
    folder = tmp_path / "skills" / "order"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(ORDER)
    found, model = find_skills([folder.parent]), Scripted(says={"slot.item": "paper"})
    before = compile_goal("order paper", home=home, skills=found, model=model)
    assert isinstance(before, Compiled)
    for place in range(20):
        cortex.put("Fact", f"order paper now {place}", id=f"kind{place}", importance=1.0)
    cortex.forget("matrix://cortex/Fact/kind1")
    draft = home.journal.view(before.intent.id).draft
    assert draft is not None
    again = recompile(before.intent, draft, home=home, skills=found, model=model)
    assert again == before.intent
    assert model.asked[0] == model.asked[-1]
    after = compile_goal("order paper", home=home, skills=found, model=model)
    assert isinstance(after, Compiled)
    assert after.prompt != before.prompt
