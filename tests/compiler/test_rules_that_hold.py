"""What words of a rule mean to a run: read from the whole clause, and from nothing that may turn it."""

from __future__ import annotations

import pytest

from executor import Home
from ir import RuleConstraint
from mcl.compiler.compiler import Clarify, Compiled
from mcl.language.skills import Skills
from tests.compiler.conftest import Scripted, compile_with

WORDS = [
    *(
        (text, "change nothing")
        for text in ("don't change anything", "Don’t touch any files", "change nothing")
    ),
    *((text, "change nothing") for text in ("without altering anything", "no changes at all", "ändra inget")),
    *(
        (text, "change nothing")
        for text in ("leave everything as it is", "utan att ändra något", "rör ingenting")
    ),
    *((text, "read only") for text in ("only look", "just read", "bara läsa", "read-only", "bara titta")),
    *((text, "delete nothing") for text in ("delete nothing", "don't remove anything", "radera inget")),
    *((text, "delete nothing") for text in ("without deleting any files", "ta inte bort något")),
    *((text, "overwrite nothing") for text in ("don't overwrite anything", "skriv inte över något")),
    *((text, "no new files") for text in ("no new files", "create no new files", "inga nya filer")),
    *(
        (text, "no network")
        for text in ("no network", "without using the internet", "stay offline", "utan nätverk")
    ),
    *((text, "send nothing") for text in ("send nothing", "don't send anything", "skicka inget")),
    *((text, "no commands") for text in ("no commands", "don't run any scripts", "kör inga kommandon")),
    *((text, "only in src") for text in ("nothing outside src", "only in src/", "stay in the src folder")),
    *(
        (text, "only in src")
        for text in ("nothing outside of ./src", "håll dig i mappen src", "inget utanför src")
    ),
    *((text, "only in src, docs") for text in ("nothing outside src and docs", "only in src/, docs/")),
    *(
        (text, "not in secret")
        for text in ("stay out of secret", "don't read secret/", "håll dig borta från secret")
    ),
    *((text, "change only in src") for text in ("change nothing outside src", "only change src/")),
    *((text, "change only in src") for text in ("rör inget annat än src", "don't touch anything but src")),
    *(
        (text, "change not in a.md")
        for text in ("don't change a.md", "leave a.md as it is", "ändra inte a.md")
    ),
    ('don\'t change "my file"', "change not in my file"),
    ("don't change anything but docs", "change only in docs"),
    *(("never write outside src", "change only in src"), ("do not delete files", "delete nothing")),
    *(
        (text, "only host api.example")
        for text in ("only from api.example", "no other host than api.example")
    ),
    *((text, "no tool git/commit") for text in ("don't commit", "without committing", "committa inte")),
    *((text, "no tool git/push") for text in ("without pushing", "never push", "pusha inte")),
    *((text, "no tool git/push") for text in ("dont push anything yet", "no push yet", "pusha inte än")),
    *((text, "send nothing") for text in ("don't send it yet", "just a draft", "skicka inte än")),
    ("don't commit or push", "no tool git/commit, git/push"),
    ("change at most 3 files", "at most 3 files"),
    *((text, "ask before each") for text in ("ask me before each change", "fråga mig innan du ändrar något")),
]

NOTHING = [
    *(
        "delete nothing but the logs",
        "don't delete anything except the logs",
        "delete nothing, except the logs",
    ),
    *(
        "without changing anything else",
        "don't change anything unless it is broken",
        "change nothing, if you can",
    ),
    *(
        "don't only look",
        "radera inget utom loggarna",
        "ändra inget, om inte",
    ),
    *(
        "nothing outside budget",
        "nothing outside Sweden",
        "only in English",
        "don't change the tone",
        "be kind",
    ),
    *(
        "no network cables",
        "only read the first page",
        "don't push the deadline",
        "only in ../up/",
        "only in /etc/",
    ),
    *("only in *.md", "don't commit to a price", "ask before each Monday"),
]


@pytest.fixture
def rule_of(home: Home, skills: Skills):  # type: ignore[no-untyped-def]
    def compiled(text: str) -> RuleConstraint | None:
        model = Scripted(says={"slot.item": "paper", "rule": text}, quotes=True)
        found = compile_with(f"order paper, {text}", home=home, skills=skills, model=model)
        assert isinstance(found, Compiled | Clarify)
        rules = [one for one in found.intent.frame.constraints if isinstance(one, RuleConstraint)]
        return rules[0] if rules else None

    return compiled


@pytest.mark.parametrize(("text", "keeps"), WORDS)
def test_a_rule_keeps_what_its_words_mean(rule_of, text: str, keeps: str) -> None:  # type: ignore[no-untyped-def]
    found = rule_of(text)
    assert found is not None
    assert (found.keeps, found.hard) == (keeps, True)


@pytest.mark.parametrize("text", NOTHING)
def test_a_rule_with_a_word_more_keeps_nothing(rule_of, text: str) -> None:  # type: ignore[no-untyped-def]
    found = rule_of(text)
    assert found is None or found.keeps == ""


@pytest.mark.parametrize(("text", "keeps"), WORDS)
def test_a_clause_that_can_be_held_is_a_rule_whatever_a_model_marks(
    home: Home, skills: Skills, text: str, keeps: str
) -> None:
    model = Scripted(says={"slot.item": "paper"})
    found = compile_with(f"order paper, {text}", home=home, skills=skills, model=model)
    assert isinstance(found, Compiled | Clarify)
    rules = [one for one in found.intent.frame.constraints if isinstance(one, RuleConstraint)]
    assert [one.keeps for one in rules] == [keeps]


@pytest.mark.parametrize(
    "goal",
    [
        *("order paper read only", "order paper for who has no network", "order paper at most 3 files"),
        *("order paper that must never change anything", "order paper to leave a.md alone"),
    ],
)
def test_words_in_the_midst_of_a_clause_are_no_rule(home: Home, skills: Skills, goal: str) -> None:
    found = compile_with(goal, home=home, skills=skills, model=Scripted(says={"slot.item": "paper"}))
    assert isinstance(found, Compiled | Clarify)
    rules = [one for one in found.intent.frame.constraints if isinstance(one, RuleConstraint)]
    assert [one.keeps for one in rules if one.keeps] == []


def test_what_is_quoted_is_no_rule(home: Home, skills: Skills) -> None:
    model = Scripted(says={"slot.item": 'paper that says "don\'t change anything"'})
    goal = 'order paper that says "don\'t change anything"'
    found = compile_with(goal, home=home, skills=skills, model=model)
    assert isinstance(found, Compiled | Clarify)
    assert found.intent.frame.constraints == ()


def test_a_wish_stays_one(home: Home, skills: Skills) -> None:
    model = Scripted(says={"slot.item": "paper"})
    found = compile_with("order paper, ideally without network", home=home, skills=skills, model=model)
    assert isinstance(found, Compiled | Clarify)
    assert [
        (one.keeps, one.hard) for one in found.intent.frame.constraints if isinstance(one, RuleConstraint)
    ] == [("no network", False)]
