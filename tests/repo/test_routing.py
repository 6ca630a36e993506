"""Who answers a prompt: a model, the matcher in its place, or nobody."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from contracts import ROWS

from mcl.core.errors import ModelError, RepoError
from mcl.model import Candidate, Choice, ExtractForm, Span, load_model
from mcl.plugins.repo.routing import route

KEYS = ("mq-hal", "macos-scripts")
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Sure:
    """A model that is as sure as it is told to be of one intent ("" for none)."""

    intent: str
    share: float = 0.9999
    fails: bool = False
    digest: str = ""
    version: str = "told/1"
    grammar: str = "told"

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        if self.fails:
            raise ModelError("MODEL_FAILED", "it stopped")
        rest = (1 - self.share) / len(candidates)
        names = [*(one.skill_id for one in candidates), ""]
        shares = tuple((name, self.share if name == self.intent else rest) for name in names)
        return Choice(self.intent or None, "find", self.share, 1.0, shares)

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        return ()

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        raise AssertionError("nothing is written here")


def test_without_a_model_the_matcher_answers():
    routed = route("git status i mq-hal", KEYS, model=None)
    assert (routed.contract.intent, routed.contract.repo, routed.by) == ("git_status", "mq-hal", "matcher")
    assert routed.note == ""


def test_without_a_model_and_a_rule_there_is_no_route():
    with pytest.raises(RepoError) as caught:
        route("what a lovely day", KEYS, model=None)
    assert (caught.value.code, caught.value.exit) == ("NO_ROUTE", 1)
    assert caught.value.fix


def test_compat_is_passed_on_to_the_matcher():
    assert route("perfect", KEYS, model=None, compat=True).contract.command == "perf"
    with pytest.raises(RepoError):
        route("perfect", KEYS, model=None)


def test_a_sure_model_answers_though_a_rule_fits():
    routed = route("anything modified by run tests", KEYS, model=Sure("git_status", 1 - 1e-9))
    assert (routed.contract.intent, routed.by) == ("git_status", "model")


def test_of_two_wishes_no_model_chooses_one():
    routed = route("visa status och byt till mq-hal", KEYS, model=Sure("git_status", 1 - 1e-9))
    assert (routed.contract.intent, routed.by) == ("refuse", "matcher")
    assert "git_status (status) and switch_repo (byt till)" in routed.contract.why
    compat = route("visa status och byt till mq-hal", KEYS, model=Sure("git_status", 1 - 1e-9), compat=True)
    assert compat.contract.intent == "git_status"


def test_where_the_model_is_unsure_the_matcher_stands_in_and_says_so():
    routed = route("git thing with doctor thing maybe", KEYS, model=Sure("pwd", 0.99))
    assert (routed.contract.command, routed.by) == ("doctor", "matcher")
    assert "unsure" in routed.note


def test_where_the_model_is_unsure_and_no_rule_fits_nothing_is_guessed():
    routed = route("git thing with other thing maybe", KEYS, model=Sure("pwd", 0.99))
    assert (routed.contract.intent, routed.by) == ("refuse", "model")
    assert routed.note


def test_strict_lets_nobody_stand_in_for_an_unsure_model():
    routed = route("git thing with doctor thing maybe", KEYS, model=Sure("pwd", 0.99), strict=True)
    assert (routed.contract.intent, routed.by) == ("refuse", "model")


def test_a_model_that_is_sure_that_nothing_fits_is_believed():
    routed = route("book the doctor for my mother tomorrow", KEYS, model=Sure("", 1 - 1e-9))
    assert (routed.contract.intent, routed.by, routed.note) == ("refuse", "model", "")


def test_a_model_that_fails_is_stood_in_for_where_a_rule_fits():
    routed = route("run tests", KEYS, model=Sure("", fails=True))
    assert (routed.contract.intent, routed.by) == ("run_test", "matcher")
    assert "MODEL_FAILED" in routed.note


@pytest.mark.parametrize(("prompt", "strict"), [("run tests", True), ("what a lovely day", False)])
def test_a_model_that_fails_is_told_of_where_nobody_may_or_can_stand_in(prompt, strict):
    with pytest.raises(ModelError):
        route(prompt, KEYS, model=Sure("", fails=True), strict=strict)


@pytest.fixture(scope="module")
def bundled():
    return load_model(None, home_path=None)


@pytest.mark.parametrize(("trigger", "intent", "argument"), ROWS)
def test_each_trigger_of_the_table_gets_its_intent_with_the_bundled_model_too(
    bundled, trigger, intent, argument
):
    for where, repo in (("", None), (" in mq-hal", "mq-hal"), (" i macos-scripts", "macos-scripts")):
        contract = route(f"{trigger} {argument}".strip() + where, KEYS, model=bundled).contract
        assert (contract.intent, list(contract.args)) == (intent, [argument] if argument else [])
        assert contract.repo == (repo if intent not in ("help", "list_repos") else None)


def test_without_a_model_nothing_of_one_is_loaded():
    program = (
        "import sys; from mcl.plugins.repo.routing import route; route('git status', ('a',), model=None); "
        "print([name for name in ('numpy', 'llguidance', 'llama_cpp') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "[]"
