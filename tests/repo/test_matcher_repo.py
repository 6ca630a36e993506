"""The matcher: every row of the contract's table in both languages, and what it will not guess."""

from __future__ import annotations

import json
import unicodedata

import pytest
from contracts import INTENTS, ROWS, TABLE
from hypothesis import example, given
from hypothesis import strategies as st

from mcl.plugins.repo.contract import intent_types, judge, read_contract
from mcl.plugins.repo.matcher import LONGEST_PROMPT, match
from mcl.plugins.repo.wording import rules

KEYS = ("mq-hal", "macos-scripts", "hal")


def matched(prompt: str, *, compat: bool = False, keys: tuple[str, ...] = KEYS) -> dict[str, object]:
    """The document that a prompt makes; {} where nothing fits."""
    contract = match(prompt, keys, compat=compat)
    return contract.to_json() if contract else {}


def args(prompt: str, **options: object) -> object:
    return matched(prompt, **options)["args"]  # type: ignore[arg-type]


@pytest.mark.parametrize("compat", [False, True], ids=["words", "compat"])
@pytest.mark.parametrize(("trigger", "intent", "argument"), ROWS)
def test_each_trigger_of_the_table_routes_to_its_intent(trigger, intent, argument, compat):
    for said in (trigger, trigger.upper(), trigger.capitalize(), unicodedata.normalize("NFD", trigger)):
        for prompt in (f"{said} {argument}".strip(), f"  {said} {argument}\n"):
            document = matched(prompt, compat=compat)
            assert document["intent"] == intent, prompt
            assert document["args"] == ([argument] if argument else [])
            assert document["command"] == (trigger if intent == "run_mqlaunch" else None)
            assert document["repo"] is None
            assert judge(read_contract(json.dumps(document))) is None


@pytest.mark.parametrize("compat", [False, True], ids=["words", "compat"])
@pytest.mark.parametrize(("trigger", "intent", "argument"), ROWS)
def test_each_trigger_may_name_a_repository(trigger, intent, argument, compat):
    for before in ("i", "in", "för", "for"):
        document = matched(f"{trigger} {argument} {before} mq-hal", compat=compat)
        assert document["intent"] == intent
        assert document["args"] == ([argument] if argument else [])
        assert document["repo"] == ("mq-hal" if intent not in ("help", "list_repos") else None)


@pytest.mark.parametrize("compat", [False, True], ids=["words", "compat"])
@pytest.mark.parametrize(
    ("prompt", "intent", "repo"),
    [
        *(("byt till mq-hal", "switch_repo", "mq-hal"), ("switch to mq-hal", "switch_repo", "mq-hal")),
        *(
            ("byt repo till mq-hal", "switch_repo", "mq-hal"),
            ("switch to the repo hal", "switch_repo", "hal"),
        ),
        *(("switch to unheard-of", "switch_repo", "unheard-of"), ("byt till", "switch_repo", None)),
        *(("cd mq-hal", "print_cd", "mq-hal"), ("gå till mq-hal", "print_cd", "mq-hal")),
        *(("go to macos-scripts", "print_cd", "macos-scripts"), ("cd", "print_cd", None)),
        *(("var är jag", "pwd", None), ("Where am I?", "pwd", None), ("pwd", "pwd", None)),
    ],
)
def test_what_the_table_has_no_row_for_is_reached_too(prompt, intent, repo, compat):
    document = matched(prompt, compat=compat)
    assert (document["intent"], document["repo"]) == (intent, repo)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("help", "list repos"), ("list repos", "create branch x"), ("inspect json", "status")),
        *(("create branch x", "inspect json"), ("status", "commits"), ("commits", "tree")),
        *(("tree", "run tests"), ("run tests", "doctor")),
    ],
)
def test_of_two_rules_that_fit_the_first_of_the_table_decides(first, second):
    intents = {matched(prompt)["intent"] for prompt in (first, f"{first} {second}", f"{second} {first}")}
    assert intents == {matched(first)["intent"]}


def test_the_rules_stand_in_the_order_of_the_design():
    order = [rule.intent for rule in rules()[0] if rule.intent in TABLE or rule.intent == "run_mqlaunch"]
    assert list(dict.fromkeys(order)) == [
        *("help", "list_repos", "grep_repo", "open_editor", "create_branch", "repo_status_json"),
        *("git_status", "git_log", "repo_tree", "run_test", "run_mqlaunch"),
    ]


def test_every_intent_but_refuse_has_a_rule_with_phrases_of_both_languages():
    table, _ = rules()
    assert {rule.intent for rule in table} == {*INTENTS} - {"refuse"}
    for rule in table:
        assert rule.where == "commands" or {language for _, language in rule.phrases} == {"sv", "en"}


@pytest.mark.parametrize(
    "prompt",
    [
        *("perfect", "a demonstration", "the helper", "statusbar", "researching", "opened it", "doctoral"),
        *("", " ", "?!", "book a flight", "vad blir det för väder", "delete everything", "rm -rf /"),
        *("commit my changes", "git push", "merge main", "go to work", "gå hem", "switch to dark mode"),
    ],
)
def test_nothing_is_guessed_of_a_prompt_that_no_rule_fits(prompt):
    assert match(prompt, KEYS) is None


def test_compat_looks_at_plain_substrings():
    assert matched("perfect", compat=True)["command"] == "perf"
    assert matched("söker TODO", compat=True)["args"] == ["TODO"]
    assert matched("statusbar", compat=True)["intent"] == "git_status"
    assert match("söker TODO", KEYS) is None
    assert matched("sök hjälp", compat=True)["intent"] == "help"
    assert matched("sök hjälp")["intent"] == "grep_repo"


@pytest.mark.parametrize(
    "prompt",
    [
        "vad har ändrats sedan senaste commit",
        "vad har ändrats, sedan den senaste commiten?",
        "vad är ändrat sen sista commiten",
    ],
)
def test_since_when_is_no_second_wish(prompt):
    assert matched(prompt)["intent"] == "git_status"
    assert matched("visa status och sedan senaste commit")["intent"] == "refuse"


@pytest.mark.parametrize(
    ("prompt", "first", "second"),
    [
        ("run tests and then create branch x", "run_test (run tests)", "create_branch (create branch)"),
        ("visa status och byt till mq-hal", "git_status (status)", "switch_repo (byt till)"),
        ("byt till mq-hal och visa status", "switch_repo (byt till)", "git_status (status)"),
        ("create branch fix/x, run tests", "create_branch (create branch)", "run_test (run tests)"),
        ("kör tester; skapa en ny branch x", "run_test (kör tester)", "create_branch (skapa en ny branch)"),
        ("Run the tests. Then show me the latest commits", "run_test (Run the tests)", "git_log (commits)"),
        ("visa status sedan trädet", "git_status (status)", "repo_tree (trädet)"),
        ("open app.py and run tests", "open_editor (open)", "run_test (run tests)"),
        ("kolla status och sök TODO", "git_status (status)", "grep_repo (sök)"),
        ("status & doctor", "git_status (status)", "run_mqlaunch (doctor)"),
        ("please show status in mq-hal and create a branch called x", "git_status", "create_branch"),
    ],
)
def test_two_wishes_in_one_prompt_are_refused_and_both_are_named(prompt, first, second):
    contract = match(prompt, KEYS)
    assert contract is not None
    assert contract.intent == "refuse"
    for one in (first, second):
        assert one in contract.why
    assert contract.why.index(first) < contract.why.index(second)
    compat = match(prompt, KEYS, compat=True)
    assert compat is None or "two things" not in compat.why


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        *(("grep foo and bar", "grep_repo"), ("sök status och tree", "grep_repo")),
        *(("find commits, tree, status", "grep_repo"), ('search "TODO; and run tests"', "grep_repo")),
        *(
            ('create branch "fix, status and tree"', "create_branch"),
            ("ny branch help-and-status", "create_branch"),
        ),
        *(('open "notes and status.md"', "open_editor"), ('open "status.py and tree.py"', "open_editor")),
        *(("kör tester och testerna i mq-hal", "run_test"), ("status and status", "git_status")),
        *(("vad är ändrat, och i vilka filer", "git_status"), ("help, please", "help")),
        *(("run tests and tell me how it went", "run_test"), ("hej, visa status", "git_status")),
        *(("and status", "git_status"), ("status, tack", "git_status"), ("then run tests", "run_test")),
        *(("git status in 'a, b and tree'", "git_status"), ("thanks, run the tests", "run_test")),
    ],
)
def test_what_joins_no_two_wishes_is_one(prompt, intent):
    assert matched(prompt)["intent"] == intent


@pytest.mark.parametrize(
    ("prompt", "query"),
    [
        *(("search for TODO", "TODO"), ("sök efter TODO", "TODO"), ("grep OLLAMA_MODEL", "OLLAMA_MODEL")),
        *(
            ('search "foo bar"', "foo bar"),
            ("find `a b` in mq-hal", "a b"),
            ("sök 'git status' i hal", "git status"),
        ),
        *(("sök i mq-hal efter TODO", "TODO"), ("search in the repo mq-hal for x y", "x y")),
        *(("mq-hal: sök TODO", "TODO"), ("please find TODO", "TODO"), ("kan du söka efter TODO?", "TODO")),
        *(
            ("sök TODO i repot", "TODO"),
            ("find main() in this repo", "main()"),
            ("grep def __init__(self):", "def __init__(self)"),
        ),
        *(
            ("search --pre=sh", "--pre=sh"),
            ("search mq-hal", ""),
            ("search", ""),
            ('search "mq-hal"', "mq-hal"),
        ),
        *(
            ("search help", "help"),
            ("hitta filer", "filer"),
            ("SÖK Ångström", "Ångström"),
            ("find a  b", "a  b"),
        ),
        *(("sök int main() {", "int main() {"), ("grep x = {} i mq-hal", "x = {}"), ("grep {", "{")),
        *(("find C++ and C#", "C++ and C#"), ('search "a" or "b"', '"a" or "b"'), ("sök $(id)", "$(id)")),
    ],
)
def test_a_query_is_what_is_left_of_the_prompt(prompt, query):
    assert matched(prompt)["intent"] == "grep_repo"
    assert args(prompt) == [query]


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        *(
            ("open README.md", "README.md"),
            ("öppna filen src/a.py i mq-hal", "src/a.py"),
            ("open the file .env", ".env"),
        ),
        *(
            ('open "my notes.txt"', "my notes.txt"),
            ("open ../x", "../x"),
            ("edit (app)/page.tsx", "(app)/page.tsx"),
        ),
        *(("can you open docs/a.md, please", "docs/a.md"), ("Öppna Åsa.md.", "Åsa.md")),
    ],
)
def test_a_path_is_what_is_left_of_the_prompt(prompt, path):
    assert matched(prompt)["intent"] == "open_editor"
    assert args(prompt) == [path]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        *(
            ("create branch fix/x", "fix/x"),
            ("skapa en ny branch fix/x i mq-hal", "fix/x"),
            ("new branch called a", "a"),
        ),
        *(
            ("i mq-hal, skapa branch som heter a.b", "a.b"),
            ("create a branch named fix_1", "fix_1"),
            ("ny branch", ""),
        ),
        *(("create branch fix login bug", "fix login bug"), ("create branch --force", "--force")),
    ],
)
def test_a_branch_is_named_by_what_is_left_of_the_prompt(prompt, name):
    assert matched(prompt)["intent"] == "create_branch"
    assert args(prompt) == [name]


@pytest.mark.parametrize(
    ("prompt", "repo"),
    [
        *(("run tests in elsewhere", "elsewhere"), ("kör testerna i repot annat, tack", "annat")),
        *(('run tests in "mq-hal"', "mq-hal"), ("kör tester i 'annat'", "annat")),
        *(("run the tests of ~/code/other", "~/code/other"), ("run doctor in /tmp/other", "/tmp/other")),
        *(("run tests in this repo", None), ("kör testerna åt mig", None), ("run the tests here", None)),
    ],
)
def test_nobody_works_in_the_active_repository_who_names_another(prompt, repo):
    assert matched(prompt)["intent"] in ("run_test", "run_mqlaunch")
    assert matched(prompt)["repo"] == repo


def test_two_repositories_are_refused_as_ambiguous():
    contract = match("git status in mq-hal and macos-scripts", KEYS)
    assert contract is not None
    assert contract.intent == "refuse"
    assert "macos-scripts" in contract.why
    assert "mq-hal" in contract.why
    assert matched("git status in mq-hal, I mean mq-hal")["repo"] == "mq-hal"


def test_the_longest_key_is_the_one_that_is_named():
    assert matched("git status mq-hal")["repo"] == "mq-hal"
    assert matched("git status hal")["repo"] == "hal"
    assert matched("git status mq-hal-old")["repo"] is None
    assert matched("open mq-hal/README.md")["args"] == ["mq-hal/README.md"]


def test_a_repository_is_named_whatever_the_case_unless_two_differ_in_case_alone():
    assert matched("status MQ-HAL")["repo"] == "mq-hal"
    assert matched("status App", keys=("App", "app"))["repo"] == "App"
    assert matched("status APP", keys=("App", "app"))["intent"] == "refuse"


@pytest.mark.parametrize(
    ("prompt", "key", "intent", "repo"),
    [
        *(("run tests in tree", "tree", "run_test", "tree"), ("git status", "git", "git_status", None)),
        *(
            ("git status status", "status", "git_status", "status"),
            ("status in git", "git", "git_status", "git"),
        ),
        *(("run demo", "demo", "run_mqlaunch", None), ("help", "help", "help", None)),
        *(
            ("switch to tree", "tree", "switch_repo", "tree"),
            ("search tree in tree", "tree", "grep_repo", "tree"),
        ),
    ],
)
def test_a_repository_called_like_a_trigger_is_told_from_it(prompt, key, intent, repo):
    document = matched(prompt, keys=(key,))
    assert (document["intent"], document["repo"]) == (intent, repo)


def test_with_compat_too_a_repository_is_not_named_by_the_trigger_itself():
    assert matched("git status", keys=("git",), compat=True)["repo"] is None
    assert matched("git status in git", keys=("git",), compat=True)["repo"] == "git"


@pytest.mark.parametrize(
    "prompt",
    ["kör inte testerna", "don't run tests", "no git status", "never run tests", "run doctor, not demo"],
)
def test_what_says_what_not_to_do_is_refused(prompt):
    assert matched(prompt)["intent"] == "refuse"


@pytest.mark.parametrize("prompt", ["öppna inte README.md", "sök inte efter TODO", "create branch not x"])
def test_a_word_that_denies_right_behind_the_phrase_is_refused(prompt):
    assert matched(prompt)["intent"] == "refuse"


def test_what_is_searched_for_denies_nothing():
    assert args("search not null") == ["not null"]
    assert args("search for not null") == ["not null"]
    assert args('search "not for"') == ["not for"]


@pytest.mark.parametrize(
    "prompt",
    [
        *("squash the last three commits", "ta bort grenen och visa status", "please push the commits"),
        *("delete the tree", "commit all files in the tree", "skriv testerna", "reset status"),
    ],
)
def test_what_begins_with_a_change_that_no_intent_makes_is_refused(prompt):
    assert matched(prompt)["intent"] == "refuse"


@pytest.mark.parametrize(
    "prompt", ["search for push", "open release.md", "create branch remove-x", "commit history"]
)
def test_a_word_of_change_elsewhere_refuses_nothing(prompt):
    assert matched(prompt)["intent"] in ("grep_repo", "open_editor", "create_branch", "git_log")


def test_two_commands_are_refused_as_ambiguous():
    assert matched("doctor and selftest")["intent"] == "refuse"
    assert matched("doctor, doctor!")["command"] == "doctor"


@pytest.mark.parametrize(
    "prompt", ["search a\nb", "open a\x00b", "sök \udcff", "search a\u2028b", "x" * (LONGEST_PROMPT + 1)]
)
def test_what_no_contract_can_hold_is_refused(prompt):
    assert matched(prompt)["intent"] == "refuse"


def test_the_message_is_in_the_prompts_language():
    assert matched("git status")["message"] == "Shows git status."
    assert matched("visa git status")["message"] == "Visar git status."
    assert matched("kör doctor")["message"] == "Kör mqlaunch doctor."


_WORDS = st.sampled_from(
    [trigger for trigger, _, _ in ROWS]
    + [*KEYS, "in", "i", "för", '"', "'", "…", "ß", "İ", "e\u0301", "-", "\n", "cd", "byt till"]
)


@given(st.lists(_WORDS | st.text(max_size=6), max_size=8).map(" ".join), st.booleans())
@example("ß perf", True)
@example("İstatus git log", True)
def test_whatever_is_said_gives_a_contract_or_nothing_and_the_same_each_time(prompt, compat):
    contract = match(prompt, KEYS, compat=compat)
    assert contract == match(prompt, KEYS[::-1], compat=compat)
    if contract is None:
        return
    again = read_contract(contract.text)
    assert again.to_json() == contract.to_json()
    assert contract.repo is None or contract.repo in KEYS or contract.repo in prompt
    kind = intent_types()[contract.intent]
    assert len(contract.args) == len(kind.arguments)


def test_a_prompt_of_many_words_is_read_in_reasonable_time():
    prompt = "please " * 500
    assert match(prompt, KEYS) is None
    assert match("create a the a " * 270, KEYS) is None
