"""Replay says for each part whether it is the same, different, or not available, and compares the bytes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import skills as shipped
from mcl import compile_goal, open_home, replay
from mcl.core.errors import InputError
from mcl.memory import MemoryStore
from mcl.model.cues import load_cues
from mcl.usecases.models import Models

SLOTS = {"text": "invoice", "folder": "notes", "pattern": "*"}
PARTS = ("signature", "hash", "seed", "skill", "model", "grammar", "memory", "bytes", "plan")


def compiled(home, **more):
    """The id of an intent compiled without a model."""
    fixed = {"skill": "files-find", "verb": "find", "slots": SLOTS, "ai": False, **more}
    return compile_goal("find the word invoice in the folder notes", home=home, **fixed).intent.id


def verdicts(found) -> dict[str, str]:
    return {item.name: item.verdict for item in found.items}


@pytest.fixture
def own_skills(tmp_path: Path) -> Path:
    """A folder with a copy of the skill `files-find`."""
    shutil.copytree(Path(shipped.__file__).parent / "files-find", tmp_path / "skills" / "files-find")
    return tmp_path / "skills"


def test_nothing_changed_is_the_same_byte_for_byte(home):
    found = replay(compiled(home), home=home)
    assert verdicts(found) == dict.fromkeys(PARTS, "same")
    assert found.same


def test_a_changed_skill_is_named_and_its_plan_compared_apart(home, own_skills):
    id = compiled(home, skills=[own_skills])
    assert replay(id, skills=[own_skills], home=home).same
    plan = own_skills / "files-find" / "plan.yaml"
    plan.write_text(
        plan.read_text().replace("description: Find the text in the files\n", "description: Find it\n")
    )
    found = replay(id, skills=[own_skills], home=home)
    assert not found.same
    assert verdicts(found)["skill"] == verdicts(found)["plan"] == verdicts(found)["bytes"] == "different"
    [changed] = [item for item in found.items if item.name == "bytes"]
    assert "compile_metadata.mtx_digest" in changed.note


def test_layout_and_comments_of_a_skill_change_nothing(home, own_skills):
    id = compiled(home, skills=[own_skills])
    text = own_skills / "files-find" / "SKILL.mtx"
    text.write_text(text.read_text().replace("§INPUTS\n", "§INPUTS\n# a remark\n\n"))
    assert replay(id, skills=[own_skills], home=home).same


def test_a_skill_that_is_gone_is_not_available_and_where_to_get_it_is_said(home, own_skills):
    (own_skills / "files-find").rename(own_skills / "ours")
    text = own_skills / "ours" / "SKILL.mtx"
    text.write_text(text.read_text().replace("id=files-find", "id=ours"))
    id = compiled(home, skills=[own_skills], skill="ours")
    found = replay(id, home=home)
    assert verdicts(found)["skill"] == verdicts(found)["bytes"] == verdicts(found)["plan"] == "not available"
    assert "--skills" in next(item.note for item in found.items if item.name == "skill")


def test_memories_of_later_do_not_count_and_those_of_then_are_found_again(home):
    id = compiled(home)
    MemoryStore(home).put("Fact", "invoices lie in the folder notes")
    later = compiled(home)
    MemoryStore(home).put("Fact", "invoices moved to the folder archive")
    for each in (id, later):
        found = replay(each, home=home)
        assert found.same, [item for item in found.items if item.verdict != "same"]
    assert "2 later changes" in next(
        item.note for item in replay(id, home=home).items if item.name == "memory"
    )


def test_a_model_that_is_not_here_is_not_available(home, monkeypatch):
    id = compiled(home)
    monkeypatch.setattr("mcl.usecases.models.Models.with_digest", lambda *_: None)
    found = verdicts(replay(id, home=home))
    assert found["model"] == found["grammar"] == found["bytes"] == "not available"
    assert found["skill"] == found["hash"] == "same"


def test_what_was_never_compiled_cannot_be_replayed(home):
    asked = compile_goal("look around", home=home, skill="code-search", ai=False)
    with pytest.raises(InputError) as caught:
        replay(asked.intent.id, home=home)
    assert caught.value.code == "NOT_COMPILED"


def test_another_home_has_another_actor_and_so_another_intent(home, tmp_path):
    fixed = {"at": "2026-11-21T10:00:00Z", "id": "01KAGZ3M5N0000000000000001"}
    compiled(home, **fixed)
    with open_home(tmp_path / "elsewhere") as elsewhere:
        compiled(elsewhere, **fixed)
        assert replay("@last", home=elsewhere).same


def test_tables_of_patterns_that_read_otherwise_now_are_told(home, monkeypatch):
    id = compiled(home, ai=True)
    assert replay(id, home=home).same
    table = load_cues()
    monkeypatch.setattr("mcl.model.cues.load_cues", lambda: replace(table, digest="0" * 64))
    assert verdicts(replay(id, home=home))["grammar"] == "different"


class OtherProcessor:
    """The bundled model where the sums of its weights come out a little otherwise."""

    def __init__(self, home, factor: float) -> None:
        self.model = Models(home).open(path=None, ai=True)
        self.factor = factor

    def __getattr__(self, name: str):
        return getattr(self.model, name)

    def choose(self, prose, candidates):
        choice = self.model.choose(prose, candidates)
        return replace(choice, skill_probability=choice.skill_probability * self.factor)

    def extract(self, prose, form):
        spans = self.model.extract(prose, form)
        return tuple(replace(one, probability=one.probability * self.factor) for one in spans)


def compiled_by_the_model(home, **more):
    return compile_goal("find the word coffee in the folder docs", home=home, **more).intent


def test_a_last_digit_that_another_processor_rounds_otherwise_is_told_and_not_a_difference(home):
    intent = compiled_by_the_model(home)
    found = replay(intent.id, model=OtherProcessor(home, 0.999), home=home)
    assert found.same, [item for item in found.items if item.verdict != "same"]
    [rounded] = [item for item in found.items if item.name == "confidence"]
    assert f"{intent.confidence:.4f}" in rounded.recorded
    assert "by this processor" in rounded.recorded


def test_a_confidence_that_no_rounding_explains_is_a_difference(home):
    intent = compiled_by_the_model(home)
    found = replay(intent.id, model=OtherProcessor(home, 0.9), home=home)
    assert "confidence" not in verdicts(found)
    assert verdicts(found)["bytes"] == "different"


def test_where_the_skill_is_another_no_rounding_is_assumed(home, own_skills):
    intent = compiled_by_the_model(home, skills=[own_skills])
    text = own_skills / "files-find" / "SKILL.mtx"
    text.write_text(text.read_text().replace('display="Find', 'display="Seek'))
    found = replay(intent.id, model=OtherProcessor(home, 0.999), skills=[own_skills], home=home)
    assert "confidence" not in verdicts(found)
    assert verdicts(found)["bytes"] == "different"
