"""Plain ways to ask for a search: each becomes one, whatever the model makes of it."""

from __future__ import annotations

import pytest
from shops import Shop
from test_routing import Sure

from mcl.model import load_model
from mcl.plugins.repo.contract import RepoIntent
from mcl.plugins.repo.model_answer import ContractAnswer
from mcl.plugins.repo.routing import route

KEYS = ("shop", "mq-hal")
# How a search may be said, and the text that has to be searched for: what was understood once stays so.
SEARCHES = {
    "search for TODO": "TODO",
    'search for "connect timeout"': "connect timeout",
    "grep TODO": "TODO",
    "grep TODO in src": "TODO",
    "grep -rn TODO": "TODO",
    "grep for parse_config in src": "parse_config",
    "find TODO": "TODO",
    "find where parse_config is used": "parse_config",
    "find all uses of parse_config": "parse_config",
    "find every place that calls open_home": "open_home",
    "where is parse_config defined?": "parse_config",
    "where is DATABASE_URL used": "DATABASE_URL",
    'look for "max retries"': "max retries",
    "look for retry_count in src/": "retry_count",
    "look up parse_config": "parse_config",
    "show me where load_user is called": "load_user",
    "which files mention sqlite": "sqlite",
    "which files contain FIXME": "FIXME",
    "what files use requests?": "requests",
    "search the code for deadlock": "deadlock",
    "search all files for password reset": "password reset",
    "search src for RetryPolicy": "RetryPolicy",
    "search in the tests for flaky": "flaky",
    "can you find FIXME": "FIXME",
    "please search for websocket": "websocket",
    "could you look for uses of the logger": "logger",
    "find the definition of make_plan": "make_plan",
    "find references to BadRequest": "BadRequest",
    "find usages of get_user_by_id": "get_user_by_id",
    "list all occurrences of print(": "print(",
    "show all lines with TODO": "TODO",
    "show every occurrence of unwrap": "unwrap",
    "locate make_plan": "make_plan",
    "search for import os": "import os",
    'find "def main"': "def main",
    "search 'Hello, world'": "Hello, world",
    'find the string "not found"': "not found",
    "find the word banana": "banana",
    "who calls close_session": "close_session",
    "is there any mention of kubernetes": "kubernetes",
    "does the code use eval": "eval",
    "search for TODO comments": "TODO comments",
    "rg TODO src": "TODO",
    "ack FIXME": "FIXME",
    "find the text error code 42": "error code 42",
    "I want to search for cache_size": "cache_size",
    "search repo for api/v1/users": "api/v1/users",
    "find the function parse_line": "parse_line",
    "find class Walker": "class Walker",
    "find files containing licence": "licence",
    "sök efter TODO": "TODO",
    "sök TODO i src": "TODO",
    "hitta var parse_config används": "parse_config",
    'leta efter "timeout"': "timeout",
    "leta upp make_plan": "make_plan",
    "var används open_home?": "open_home",
    "var definieras Walker": "Walker",
    "vilka filer innehåller FIXME": "FIXME",
    "hitta alla anrop till close_session": "close_session",
    "sök i koden efter deadlock": "deadlock",
    "kan du söka efter websocket": "websocket",
    "visa alla rader med TODO": "TODO",
    "jag letar efter parse_config": "parse_config",
    "finns ordet banan någonstans": "banan",
    "grepa efter TODO": "TODO",
}
# What is said behind "in" is no repository that is known: the active one is searched, and that is told.
PLACES = {"grep TODO in src": "src", "rg TODO src": "src", "look for retry_count in src/": "src/"}


@pytest.fixture(scope="module")
def bundled():
    return load_model(None, home_path=None)


@pytest.fixture
def says(monkeypatch):
    """A model that answers every prompt with the same intent."""

    def make(intent, *, sure=True):
        contract = RepoIntent(intent, None, None, (), "")
        monkeypatch.setattr(
            "mcl.plugins.repo.model_answer.ask", lambda *_: ContractAnswer(contract, "", 1.0, sure)
        )
        return Sure(intent)

    return make


@pytest.mark.parametrize(("prompt", "text"), SEARCHES.items())
def test_a_plain_search_is_one_by_the_rules_alone(prompt, text):
    contract = route(prompt, KEYS, model=None).contract
    assert (contract.intent, contract.args) == ("grep_repo", (text,))
    assert contract.repo == PLACES.get(prompt, contract.repo)


@pytest.mark.parametrize("prompt", SEARCHES)
def test_no_model_makes_something_else_of_it(prompt, says):
    for intent in ("refuse", "git_log", "repo_tree", "run_test", "help"):
        for sure in (True, False):
            routed = route(prompt, KEYS, model=says(intent, sure=sure))
            assert (routed.contract.intent, routed.by) == ("grep_repo", "matcher")
            assert routed.note


@pytest.mark.parametrize("prompt", SEARCHES)
def test_with_the_bundled_model_too_a_plain_search_is_one(bundled, prompt):
    contract = route(prompt, KEYS, model=bundled).contract
    assert contract.intent == "grep_repo"
    assert contract.args[0] in SEARCHES[prompt] or SEARCHES[prompt] in contract.args[0]


@pytest.mark.parametrize(
    "prompt", ["run tests", "git status", "kör testerna i mq-hal", "create branch fix/x", "doctor"]
)
def test_an_exact_rule_beats_the_refusal_of_a_model(prompt, says):
    for sure in (True, False):
        routed = route(prompt, KEYS, model=says("refuse", sure=sure))
        assert (routed.contract.intent != "refuse", routed.by) == (True, "matcher")
    assert route(prompt, KEYS, model=says("refuse"), strict=True).contract.intent == "refuse"


@pytest.mark.parametrize(
    "prompt",
    ["book the doctor for my mother", "the status of my marriage", "open the pod bay doors for us", "search"],
)
def test_what_only_holds_words_of_a_rule_is_the_models_to_refuse(prompt, says):
    assert route(prompt, KEYS, model=says("refuse")).contract.intent == "refuse"


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        *(("where am i", "pwd"), ("which files are there", "repo_tree"), ("list files", "repo_tree")),
        *(("show status", "git_status"), ("show the latest commits", "git_log"), ("var är jag", "pwd")),
        *(("show the files", "repo_tree"), ("lista repon", "list_repos"), ("visa filerna", "repo_tree")),
    ],
)
def test_what_is_no_search_becomes_none(prompt, intent):
    assert route(prompt, KEYS, model=None).contract.intent == intent


def test_where_to_look_is_told_to_be_no_repository(shop: Shop) -> None:
    told = shop("run", "grep", "TODO", "in", "src", "--no-ai")
    assert told.code == 0
    assert "TODO" in told.out
    assert "'src'" in told.err
