"""Models asked for a contract: whatever they say is in the grammar's language, and read like a stranger's."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from contracts import COMMANDS, INTENTS
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher, LLTokenizer

import grammars
from mcl.core.errors import ModelError
from mcl.model import Candidate, Choice, ExtractForm, Span, load_model
from mcl.model.answers import separators, shown
from mcl.model.protocol import Writer, WritingRequest, WrittenText
from mcl.plugins.repo.contract import intent_types, judge, read_contract
from mcl.plugins.repo.matcher import LONGEST_PROMPT, match
from mcl.plugins.repo.model_answer import (
    GRAMMAR,
    SURE,
    SURE_TO_ACT,
    UNSURE,
    ContractAnswer,
    ask,
    candidates,
    contract_rules,
)

KEYS = ("mq-hal", "macos-scripts", 'odd"key\\')
BYTES = LLTokenizer("byte")


def held(prompt: str, keys: Sequence[str] = KEYS, rules: str = "") -> LLMatcher:
    """The grammar of one request, over single bytes."""
    text = rules or contract_rules(shown(prompt), sorted(keys))
    lark = f"{grammars.load(GRAMMAR).text}\n{separators(False)}{text}"
    matcher = LLMatcher(BYTES, LLMatcher.grammar_from_lark(lark), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


def says(matcher: LLMatcher, text: str) -> bool:
    """Whether a text is a whole sentence of the grammar."""
    matcher, data = matcher.deep_copy(), list(text.encode())
    return matcher.validate_tokens(data) == len(data) and (
        matcher.consume_tokens(data) and matcher.is_accepting()
    )


@dataclass
class Tagger:
    """A model that chooses and finds what it is told to: a pick of the candidates (-1: none), a share for it,
    and a span."""

    pick: int = -1
    share: float = 1.0
    span: tuple[int, int] | None = None
    found: float = 1.0
    digest: str = ""
    version: str = "told/1"
    grammar: str = "told"
    asked: list[str] = field(default_factory=list)

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        self.asked.append(prose)
        rest = (1.0 - self.share) / len(candidates)
        shares = [
            (one.skill_id, self.share if at == self.pick else rest) for at, one in enumerate(candidates)
        ]
        shares.append(("", self.share if self.pick < 0 else rest))
        chosen = candidates[self.pick].skill_id if self.pick >= 0 else None
        return Choice(chosen, "find", self.share, 1.0, tuple(shares))

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        if self.span is None:
            return ()
        start, end = self.span
        name = f"slot.{form.slots[0].name}"
        return (Span(name, prose[start:end], start, end, self.found),) if prose[start:end] else ()

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        raise AssertionError("nothing is written here")


@dataclass
class Wanderer(Tagger):
    """A model that writes any sentence of the request's grammar, byte by byte, each with the same chance."""

    rng: random.Random = field(default_factory=lambda: random.Random(1))
    chance: float = 1.0
    sentence: str = ""
    requests: list[WritingRequest] = field(default_factory=list)

    def write(self, request: WritingRequest) -> WrittenText:
        self.requests.append(request)
        matcher, said = held("", rules=request.rules), bytearray()
        while not (matcher.is_accepting() and matcher.is_stopped()):
            bits = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
            allowed = [token for token in np.flatnonzero(bits).tolist() if token < 256]
            if not allowed:
                break
            told = self.sentence.encode()
            token = told[len(said)] if told else self.rng.choice(allowed)
            assert token in allowed, said
            said.append(token)
            assert matcher.consume_tokens([token])
            assert len(said) <= request.most
        parts = tuple((bytes([byte]), self.chance) for byte in said)
        return WrittenText(said.decode(), parts)


def sentence(intent: str, *args: str, repo: str | None = None, command: str | None = None) -> str:
    fields = {"schema": "mq-hal.intent.v1", "intent": intent, "repo": repo, "command": command, "args": args}
    return json.dumps({**fields, "message": "I do it."}, ensure_ascii=False, separators=(",", ":"))


WANTED = {"grep_repo": ["late fee"], "open_editor": ["src/a.py"], "create_branch": ["fix/a"]}


@pytest.mark.parametrize("intent", INTENTS)
def test_the_grammar_has_each_intent_with_what_it_wants(intent):
    matcher = held("late fee src/a.py fix/a")
    kind = intent_types()[intent]
    args, command = WANTED.get(intent, []), "perf" if kind.takes_command else None
    assert says(matcher, sentence(intent, *args, command=command))
    assert says(matcher, sentence(intent, *args, command=command, repo="mq-hal")) == (kind.repo != "unused")
    assert not says(matcher, sentence(intent, *args, "late", command=command))
    assert not says(matcher, sentence(intent, *args, command="doctor" if command is None else None))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_grammar_has_each_command_of_mqlaunch(command):
    assert says(held("x"), sentence("run_mqlaunch", command=command))


@pytest.mark.parametrize(
    "text",
    [
        *(sentence("rm_rf"), sentence("grep_repo", "nowhere said"), sentence("grep_repo", "lat"), ""),
        *(sentence("git_status", repo="unknown"), sentence("run_mqlaunch", command="rm -rf /")),
        *(sentence("help") + " ", " " + sentence("help"), sentence("help")[:-1], sentence("grep_repo")),
    ],
)
def test_the_grammar_has_nothing_else(text):
    assert not says(held("late fee src/a.py"), text)


_PROMPTS = st.lists(
    st.sampled_from(
        ["open", "src/a.py", '"late fee"', "mq-hal", "i", "a\\b", "é", "\n", "…", "x" * 400, '"', ".", "C++"]
    )
    | st.text(max_size=8),
    max_size=10,
).map(" ".join)


@given(_PROMPTS, st.integers(0, 99))
@example("i 0", 3)
@example("open 0\x1b", 0)
@settings(max_examples=20)
def test_whatever_a_writing_model_says_becomes_a_contract(prompt, seed):
    model = Wanderer(rng=random.Random(seed))
    answer = ask(model, prompt, KEYS)
    if not answer.sure:
        assert answer.contract.intent == "refuse"
    if not answer.sure and answer.probability >= SURE_TO_ACT:  # for its repository, then
        said = read_contract(answer.text)
        assert not said.repo or said.repo not in prompt.split()  # none: the prompt names one, known or not
    if not shown(prompt).strip():
        assert answer.contract.intent == "refuse"
        return
    assert read_contract(answer.text).why == "" or any(ord(char) > 126 for char in prompt)
    contract = answer.contract
    assert contract.repo is None or contract.repo in KEYS
    assert all(one in prompt for one in contract.args)
    rejection = judge(contract)
    assert rejection is None or rejection.code in {
        *("REFUSED", "BAD_BRANCH_NAME", "PATH_OUTSIDE", "WRONG_ARGUMENTS", "EMPTY_QUERY")
    }


@given(
    _PROMPTS,
    st.integers(-1, len(INTENTS) - 2),
    st.sampled_from([0.05, 0.5, 0.999]),
    st.none() | st.tuples(st.integers(0, 30), st.integers(0, 60)),
)
@example('open "late fee" in mq-hal', 11, 0.999, None)
@example('open " "', 7, 0.999, None)
@example("search for a\\b and c in mq-hal", 7, 0.999, (11, 20))
@settings(max_examples=50)
def test_whatever_a_tagging_model_says_is_in_the_grammars_language(prompt, pick, share, span):
    answer = ask(Tagger(pick, share, span), prompt, KEYS)
    if shown(prompt).strip():
        assert says(held(prompt), answer.text), answer.text
    contract = answer.contract
    assert all(one in prompt for one in contract.args)
    if not answer.sure:
        assert (contract.intent, contract.why) == ("refuse", UNSURE)


_ODD = (
    "",
    " ",
    "  ",
    "\t",
    "\u00a0",
    "\u3000",
    "\u2028",
    "\u200b",
    "\x00",
    "\x7f",
    "\x85",
    ".",
    ",",
    "\\",
    "é",
)
_QUOTED = [
    f"{opens}{before}{inner}{behind}{closes}"
    for opens, closes in ('""', "''", "``", "“”")
    for inner in ((*_ODD, "a", "mq-hal", "a b", "null") if opens == '"' else ("", " ", "a"))
    for before, behind in (("", ""), (" ", ""), ("", "\u00a0"), ("\t", " "))
]


@pytest.mark.parametrize("said", ["open {} in mq-hal", "what is {}"])
@pytest.mark.parametrize("intent", sorted(WANTED))
def test_whatever_stands_in_quotes_is_an_argument_or_nothing_is_done(said, intent):
    """What a model finds is in the grammar's language, as what a model writes is; blanks are no name."""
    pick = [one.skill_id for one in candidates()].index(intent)
    for quoted in _QUOTED:
        prompt = said.format(quoted)
        answer = ask(Tagger(pick, 0.999), prompt, KEYS)
        assert says(held(prompt), answer.text), prompt
        for contract in filter(
            None, (answer.contract, match(prompt, KEYS), match(prompt, KEYS, compat=True))
        ):
            assert all(one in prompt for one in contract.args), prompt
            blank = not all(one.strip() for one in contract.args)
            assert not blank or judge(contract) is not None, prompt


@pytest.mark.parametrize(
    ("intent", "chance", "sure"),
    [
        *(("git_status", SURE + 0.01, True), ("git_status", SURE - 0.01, False)),
        *(("run_test", SURE_TO_ACT + 0.01, True), ("run_test", SURE_TO_ACT - 0.01, False)),
    ],
)
def test_what_runs_something_needs_a_surer_model_than_what_reads(intent, chance, sure):
    text = sentence(intent)
    start, end = text.index('"intent"'), text.index('"message"')

    class Doubting(Wanderer):
        def write(self, request: WritingRequest) -> WrittenText:
            parts = (
                (text[:start].encode(), 1.0),
                (text[start:end].encode(), chance),
                (text[end:].encode(), 0.1),
            )
            return WrittenText(text, parts)

    answer = ask(Doubting(), "whatever", KEYS)
    assert answer.sure == sure
    assert answer.contract.intent == (intent if sure else "refuse")
    assert answer.probability == pytest.approx(chance)


def test_a_model_acts_in_no_repository_that_the_prompt_does_not_name():
    acting = Wanderer(sentence=sentence("run_test", repo="macos-scripts"))
    assert ask(acting, "run the tests of my scripts", KEYS).contract.why == UNSURE
    assert ask(acting, 'run the tests of "macos-scripts"', KEYS).contract.repo == "macos-scripts"
    reading = Wanderer(sentence=sentence("git_log", repo="macos-scripts"))
    assert ask(reading, "what is new in my scripts", KEYS).contract.repo == "macos-scripts"


@pytest.mark.parametrize("intent", ["list_repos", "git_status", "run_test"])
def test_a_model_that_leaves_out_the_repository_that_is_named_is_not_believed(intent):
    assert ask(Wanderer(sentence=sentence(intent)), "the files of mq-hal", KEYS).contract.why == UNSURE
    wrong = sentence("git_status", repo="macos-scripts")
    assert ask(Wanderer(sentence=wrong), "the files of mq-hal", KEYS).contract.why == UNSURE
    assert ask(Wanderer(sentence=sentence("refuse")), "the files of mq-hal", KEYS).sure


def test_a_model_that_leaves_out_a_repository_that_is_not_known_is_not_believed():
    assert told("run_test", "run the tests in elsewhere").contract.why == UNSURE
    assert told("run_test", "run the tests").contract.intent == "run_test"


def test_a_repository_may_be_called_like_a_field():
    model = Wanderer(sentence=sentence("git_log", repo="message"))
    assert ask(model, "git log in message", ("message", "intent")).contract.repo == "message"


def test_an_argument_is_given_in_the_prompts_own_characters():
    prompt = 'search for say"cheese\\now please'
    answer = ask(Wanderer(sentence=sentence("grep_repo", "say”cheese＼now")), prompt, KEYS)
    assert answer.contract.args == ('say"cheese\\now',)


def test_a_writing_model_is_told_of_every_intent_and_repository_and_asked_in_one_grammar():
    model = Wanderer(sentence=sentence("help"))
    ask(model, "help", KEYS)
    (request,) = model.requests
    assert request.grammar == GRAMMAR
    for name in (*INTENTS, *COMMANDS, "mq-hal", "macos-scripts"):
        assert name in request.fixed
    assert "help" in request.user
    assert "NAME" not in request.fixed


def test_a_tagging_model_is_offered_every_intent_but_refuse_with_examples():
    offered = candidates()
    assert {one.skill_id for one in offered} == {*INTENTS} - {"refuse"}
    assert all(one.examples and one.description for one in offered)


@pytest.mark.parametrize(
    "prompt", ["", " ", "\n", "x" * (LONGEST_PROMPT + 1)], ids=["empty", "blank", "newline", "long"]
)
def test_no_model_is_asked_of_no_prompt_or_too_long_a_one(prompt):
    model = Tagger(0)
    assert ask(model, prompt, KEYS).contract.intent == "refuse"
    assert model.asked == []


@pytest.mark.parametrize(
    ("prompt", "intent"),
    [
        *(("kör inte testerna", "run_test"), ("do not create branch x1", "create_branch")),
        *(("run the tests in mq-hal and macos-scripts", "run_test"), ("run doctor and demo", "run_mqlaunch")),
    ],
)
def test_a_tagging_model_that_is_sure_of_what_was_denied_or_is_two_things_is_not_believed(prompt, intent):
    pick = [one.skill_id for one in candidates()].index(intent)
    answer = ask(Tagger(pick, 0.9999, (0, 60)), prompt, KEYS)
    assert answer.contract.intent == "refuse"


def told(intent: str, prompt: str, found: str = "", share: float = 0.9999) -> ContractAnswer:
    """The answer where a tagging model chooses an intent and finds a part of the prompt."""
    pick = [one.skill_id for one in candidates()].index(intent)
    span = (prompt.index(found), prompt.index(found) + len(found)) if found else None
    return ask(Tagger(pick, share, span), prompt, KEYS)


@pytest.mark.parametrize(
    ("intent", "prompt", "found", "said"),
    [
        *(("open_editor", "open Makefile or LICENSE", "Makefile or LICENSE", None),),
        *(("create_branch", "create branch alpha beta", "alpha beta", None),),
        *(("grep_repo", "search alpha in mq-hal beta", "alpha in mq-hal beta", None),),
        *(
            ("grep_repo", f'search for "{"x" * 400}"', "", None),
            ("grep_repo", "search for nothing", "", None),
        ),
        *(("open_editor", "open src/a.py", "", "src/a.py"), ("open_editor", "open a.py and b.py", "", None)),
        *(("grep_repo", "sök rätt på db_url i mq-hal", "på db_url i mq-hal", "db_url"),),
        *(
            ("grep_repo", "search for late fee", "late fee", "late fee"),
            ("create_branch", "branch x1", "x1", "x1"),
        ),
        *(("create_branch", "make a file x1", "x1", None), ("git_log", "amend the last commit", "", None)),
        *(("create_branch", "delete branch x1", "x1", None), ("open_editor", 'open "a b.md"', "", "a b.md")),
    ],
)
def test_an_argument_that_is_not_plainly_said_is_not_believed(intent, prompt, found, said):
    answer = told(intent, prompt, found)
    assert says(held(prompt), answer.text)
    assert answer.contract.intent == (intent if said else "refuse")
    assert answer.contract.args == ((said,) if said else ())


def test_a_goal_that_is_not_about_repositories_needs_more_to_be_taken_for_one():
    assert told("pwd", "where are my keys in here", share=0.9).contract.intent == "refuse"
    assert told("pwd", "where are my repos in here", share=0.9).contract.intent == "pwd"


@pytest.fixture(scope="module")
def bundled():
    return load_model(None, home_path=None)


@pytest.mark.parametrize(
    ("prompt", "intent", "repo", "args"),
    [
        *(("run the tests", "run_test", None, []), ("kör testerna i mq-hal", "run_test", "mq-hal", [])),
        *(("create branch fix/login", "create_branch", None, ["fix/login"]),),
        *(("sök efter OLLAMA_MODEL i mq-hal", "grep_repo", "mq-hal", ["OLLAMA_MODEL"]),),
        *(
            ("öppna README.md", "open_editor", None, ["README.md"]),
            ("what has changed", "git_status", None, []),
        ),
        *(("vilka repon finns?", "list_repos", None, []), ("what is the weather", "refuse", None, [])),
        *(("delete branch main", "refuse", None, []), ("skicka ett mejl till Anna", "refuse", None, [])),
        *(("squash the commits", "refuse", None, []), ("rör inga filer", "refuse", None, [])),
        *(("skapa en fil som heter todo.md", "refuse", None, []),),
        *(('find "late fee" in mq-hal', "grep_repo", "mq-hal", ["late fee"]),),
        *(("redigera config.yaml", "open_editor", None, ["config.yaml"]),),
    ],
)
def test_the_bundled_model_answers_in_the_contract_in_both_languages(bundled, prompt, intent, repo, args):
    answer = ask(bundled, prompt, ("mq-hal", "macos-scripts"))
    assert says(held(prompt, ("mq-hal", "macos-scripts")), answer.text)
    contract = answer.contract
    assert (contract.intent, contract.repo, list(contract.args)) == (intent, repo, args)
    assert ask(bundled, prompt, ("macos-scripts", "mq-hal")) == answer


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory):
    from tests.model.random_gguf import small_words, write_gguf

    path = tmp_path_factory.mktemp("chat") / "chat.gguf"
    write_gguf(path, small_words(control=("<|end|>",)), context=8192)
    return load_model(path, home_path=None)


@pytest.mark.parametrize("prompt", ['open "a\\b" in mq-hal', "é", "sök efter Ångström"])
def test_a_chat_model_with_any_weights_answers_in_the_contract(chatting, prompt):
    assert isinstance(chatting, Writer)
    answer = ask(chatting, prompt, KEYS)
    assert says(held(prompt), answer.text)
    assert answer.contract.intent in INTENTS


def test_a_chat_model_says_that_a_request_does_not_fit(tmp_path: Path):
    from tests.model.random_gguf import small_words, write_gguf

    path = write_gguf(tmp_path / "small.gguf", small_words(control=("<|end|>",)), context=512)
    with pytest.raises(ModelError) as caught:
        ask(load_model(path, home_path=None), "git status", KEYS)
    assert caught.value.code == "MODEL_CONTEXT"
