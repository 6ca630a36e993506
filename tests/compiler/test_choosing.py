"""Which skills a model is shown, and how its choice is weighed with what else speaks for a skill."""

from pathlib import Path

import pytest

from mcl.compiler.stages.classify import Classified, OutOfScope, classify
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.compiler.tape import NotRecordedError, Player, Recorder
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skills, find_skills
from tests.compiler.conftest import Scripted

SKILL = """§SKILL
id={id}
version=1.0.0
display="{display}"
description="{description}"
mcl.verbs={verbs}
{examples}

§INPUTS
none

§CORTEX
none

§TOOLS
none

§SUB_SKILLS
none

§PROCEDURE
none

§OUTPUTS
none

§FAILURE_MODES
none
"""


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules.of(load_core())


def catalogue(folder: Path, *names: str, verbs: str = "find modify", example: str = "") -> Skills:
    for name in names:
        (folder / name).mkdir(parents=True)
        examples = f'example.1="{example}"' if example else ""
        text = SKILL.format(id=name, display=name, description=f"does {name}", verbs=verbs, examples=examples)
        (folder / name / "SKILL.mtx").write_text(text, encoding="utf-8")
    return find_skills([folder])


def request(prose: str) -> GoalRequest:
    at = "2026-11-21T10:00:00.000Z"
    return GoalRequest("01M7YRRT830000000000000001", at, "UTC", "did:key:a", "did:key:b", prose, "", "", {})


def numbered(start: int, end: int) -> list[str]:
    return [f"{chr(97 + i // 26)}{chr(97 + i % 26)}-thing" for i in range(start, end)]


def test_with_many_skills_the_model_is_shown_those_that_share_words_with_the_goal(
    tmp_path: Path, rules: Rules
) -> None:
    skills = catalogue(tmp_path, *numbered(0, 500), "order-paper")
    model = Scripted(skill="order-paper", verb="find")
    found = classify(request("please order some paper"), skills, model, rules)
    assert isinstance(found, Classified)
    assert found.skill.id == "order-paper"
    assert len(model.chosen[0]) == rules.candidates


def test_with_few_skills_the_model_is_shown_all_of_them(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, rules.whole))
    model = Scripted(skill=None)
    classify(request("please order some paper"), skills, model, rules)
    assert [one.skill_id for one in model.chosen[0]] == list(skills.ids)


def test_a_model_that_compares_with_every_skill_is_shown_all_of_them(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 200))
    model = Scripted(skill="ab-thing", verb="find", takes_all=True)
    found = classify(request("please order some paper"), skills, model, rules)
    assert isinstance(found, Classified)
    assert found.skill.id == "ab-thing"
    assert [one.skill_id for one in model.chosen[0]] == list(skills.ids)


def test_words_that_a_skill_shares_with_the_goal_count_nothing_beside_it(
    tmp_path: Path, rules: Rules
) -> None:
    skills = catalogue(tmp_path, *numbered(0, 4), "order-paper")
    shares = []
    for prose in ("order paper", "do it"):
        found = classify(request(prose), skills, Scripted(skill="ab-thing", sure=0.6, takes_all=True), rules)
        assert isinstance(found, Classified)
        shares.append(found.shares)
    assert shares[0] == shares[1]


def test_a_skill_taught_by_name_is_chosen_though_the_model_says_another(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 200))
    margin = dict.fromkeys(numbered(0, 100), -1.2) | {"bc-thing": 1.0}
    model = Scripted(skill="ab-thing", sure=0.6, margin=margin, takes_all=True)
    found = classify(request("how much have I got left"), skills, model, rules)
    assert isinstance(found, Classified)
    assert found.skill.id == "bc-thing"


def test_a_skill_never_taught_is_chosen_as_if_none_were(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 4))
    plain = classify(request("do it"), skills, Scripted(skill="ab-thing", sure=0.7, takes_all=True), rules)
    taught = Scripted(skill="ab-thing", sure=0.7, margin={"elsewhere": 2.0}, takes_all=True)
    assert plain == classify(request("do it"), skills, taught, rules)


def test_a_goal_that_is_clearly_for_no_taught_skill_is_out_of_scope(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 4))
    model = Scripted(skill="ab-thing", sure=0.5, margin=dict.fromkeys(numbered(0, 4), -1.4), takes_all=True)
    assert isinstance(classify(request("do it"), skills, model, rules), OutOfScope)


def test_the_answers_of_a_taught_model_can_be_played_again(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 30))
    margin = dict.fromkeys(numbered(0, 10), -1.0) | {"ac-thing": 0.8}
    model = Scripted(skill="ab-thing", verb="find", margin=margin, takes_all=True)
    recorder = Recorder(model, lambda work: work())
    said = classify(request("do it"), skills, recorder, rules)
    player = Player(recorder.tape())
    assert classify(request("do it"), skills, player, rules) == said
    with pytest.raises(NotRecordedError):
        classify(request("do something else"), skills, player, rules)


def test_a_skill_with_one_verb_is_not_asked_for_it(tmp_path: Path, rules: Rules) -> None:
    skills = catalogue(tmp_path, *numbered(0, 4), verbs="find")
    model = Scripted(skill="ab-thing", sure=0.4, margin={"ac-thing": 1.0}, takes_all=True)
    found = classify(request("do it"), skills, model, rules)
    assert isinstance(found, Classified)
    assert (found.skill.id, found.verb, found.verb_probability) == ("ac-thing", "find", 1.0)
    assert len(model.chosen) == 1
