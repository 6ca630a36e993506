"""Fixed phrases of skills: which goals have them, what they fill, and what they count beside a model."""

import re
from pathlib import Path

import pytest

from grammars import core_modules
from mcl import compile_goal
from mcl.compiler.outcome import Compiled, CompileReasons
from mcl.compiler.stages.rules import Rules
from mcl.core.home import open_home
from mcl.language.mtx.checks import check
from mcl.language.mtx.core import Core, load_core
from mcl.language.mtx.parser import parse
from mcl.language.phrases import PhraseAround, PhraseMatch, best_phrases, find_phrase, goal_words, read_phrase
from mcl.language.skills import Skills, find_skills
from tests.compiler.conftest import ORDER, PLAN, Scripted, compile_with

AROUND = PhraseAround.of(["please", "can you"], ["the", "there", "my"])


def skill(id: str, lines: str) -> str:
    return ORDER.replace("id=order", f"id={id}").replace('example.1="order paper"', lines)


COUNT = skill(
    "count-lines", 'phrase.1="how many lines|rows are? in {item}"\nphrase.2="move {count} of {item}"'
)


def anything(id: str, match: PhraseMatch) -> bool:
    return True


def placed(goal: str, *phrases: str) -> dict[str, str] | None:
    match = find_phrase(goal_words(goal), phrases, AROUND)
    return None if match is None else {one.slot: goal[one.start : one.end] for one in match.places}


def test_a_phrase_holds_where_its_words_stand_in_their_order_from_the_beginning() -> None:
    said = "how many lines|rows are? in {file}"
    assert placed("How many lines in notes.txt?", said) == {"file": "notes.txt"}
    assert placed("please, how many rows are there in my notes.txt", said) == {"file": "notes.txt"}
    assert placed("can you how many lines in the file a b.txt", said) == {"file": "file a b.txt"}
    assert placed('how many lines in "my notes.txt" today', said) == {"file": '"my notes.txt" today'}
    assert placed("in notes.txt how many lines", said) is None
    assert placed("she asked how many lines in notes.txt", said) is None
    assert placed("how many in lines notes.txt", said) is None
    assert placed("how many lines in", said) is None
    assert placed("", said) is None


def test_a_place_in_the_middle_ends_where_the_next_word_of_the_phrase_stands() -> None:
    said = "replace {old} with {new} in {file}"
    assert placed("replace the old name with new in a with b in c.md", said) == {
        "old": "old name",
        "new": "new in a with b",
        "file": "c.md",
    }


def test_of_several_phrases_the_one_with_most_words_counts() -> None:
    assert placed("sort a.csv by name", "the? {file} please?", "sort up {x}") is None
    both = {"lines": ["put in order {file}"], "table": ["put in order {file} by {column}"]}
    assert set(best_phrases("put in order a.csv by name", both, AROUND, anything)) == {"table"}
    assert set(best_phrases("put in order a.csv", both, AROUND, anything)) == {"lines"}
    alike = {"a": ["tidy up {x}"], "b": ["tidy up {y}"]}
    assert set(best_phrases("tidy up here", alike, AROUND, anything)) == {"a", "b"}


@pytest.mark.parametrize(
    ("phrase", "flaw"),
    [
        ("{file}", "has a word that must be said"),
        ("sort? it? {file}", "has a word that must be said"),
        ("copy {a} {b} over there", "there must be a word"),
        ("copy {a} to here {a}", "stands in it twice"),
        ("copy this {a}s there", "a word by itself"),
        ("copy this| there", "a word is missing"),
    ],
)
def test_a_phrase_that_would_choose_too_much_is_told(phrase: str, flaw: str) -> None:
    assert flaw in read_phrase(phrase).flaw
    assert placed(phrase, phrase) is None, "and chooses nothing"


def test_a_phrase_with_a_place_that_is_no_input_is_an_error_where_it_stands() -> None:
    text = skill("x", 'phrase.1="how many lines in {itm}"').encode()
    [finding] = [one for one in check(parse(text).file) if one.code == "PHRASE"]
    assert (finding.line, finding.severity, finding.text) == (8, "error", "{itm}")
    assert "item" in finding.hint


@pytest.fixture(scope="module")
def with_phrases(tmp_path_factory: pytest.TempPathFactory) -> Skills:
    folder = tmp_path_factory.mktemp("phrases")
    for id, text in (("order", ORDER), ("count-lines", COUNT)):
        (folder / id).mkdir()
        (folder / id / "SKILL.mtx").write_text(text)
        (folder / id / "plan.yaml").write_text(PLAN)
    return find_skills([folder])


def test_a_phrase_chooses_its_skill_and_fills_its_slots(
    home: object, with_phrases: Skills, core: Core
) -> None:
    model = Scripted(skill=None, sure=0.9, says={"slot.item": "red"})
    goal = "please move twelve of the red boxes."
    made = compile_with(goal, home=home, skills=with_phrases, core=core, model=model)
    assert isinstance(made, Compiled)
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id == "count-lines"
    filled = {one.name: one.value for one in made.intent.frame.objects if one.name != "speed"}
    assert filled == {"count": "12", "item": "red boxes"}


def test_a_model_that_is_surer_of_another_skill_keeps_it_less_certainly(
    home: object, with_phrases: Skills, core: Core
) -> None:
    model = Scripted(skill="order", sure=0.9999, says={"slot.item": "lines"})
    goal = "how many lines in notes.txt"
    made = compile_with(goal, home=home, skills=with_phrases, core=core, model=model)
    reasons = made.reasons
    assert isinstance(reasons, CompileReasons)
    shares = dict(reasons.skills)
    assert shares["order"] > shares["count-lines"] > 0.02
    assert not (isinstance(made, Compiled) and not made.review)


def test_what_a_phrase_counts_and_what_may_stand_around_it_are_settings(tmp_path: Path, core: Core) -> None:
    def module(setting: str, value: str) -> Rules:
        text = core_modules()["verb"].read_text()
        changed = re.sub(rf"^{re.escape(setting)}=.*$", f"{setting}={value}", text, flags=re.MULTILINE)
        assert changed != text
        (tmp_path / "verb.mtx").write_text(changed)
        return Rules.of(load_core(core_modules() | {"verb": tmp_path / "verb.mtx"}))

    assert module("weight.phrase", "0.5").phrase_weight == 0.5
    goal, said = goal_words("tell me how many are there in here"), ["how many in {file}"]
    assert find_phrase(goal, said, Rules.of(core).around_phrases)
    assert not find_phrase(goal, said, module("before.phrase", '"oh"').around_phrases)
    assert not find_phrase(goal, said, module("between.phrase", '"oh"').around_phrases)


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("draft a mail to Olle saying the keys are under the mat", "the keys are under the mat"),
        ("draft a mail to Olle saying that we come on friday", "we come on friday"),
        ("draft a mail to Bo saying: hello there", "hello there"),
    ],
)
@pytest.mark.parametrize("ai", [True, False])
def test_what_a_message_says_is_taken_to_the_letter(tmp_path: Path, goal: str, said: str, ai: bool) -> None:
    made = compile_goal(goal, home=open_home(tmp_path / "home"), ai=ai, dry_run=True)
    assert isinstance(made, Compiled), made
    told = {one.name: one.value for one in made.intent.frame.objects}
    assert told["message"] == said
