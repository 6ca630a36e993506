"""What is rejected although its document keeps the rules: exit 2, and nothing runs."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from contracts import COMMANDS, INTENTS, document
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcl.plugins.repo.contract import (
    LONGEST_BRANCH,
    LONGEST_QUERY,
    Rejection,
    RepoIntent,
    intent_types,
    judge,
    read_contract,
)

TOOLS = Path(__file__).resolve().parents[2] / "mcl" / "plugins" / "repo" / "tools"
WANTED = {"grep_repo": ["text"], "open_editor": ["src/a.py"], "create_branch": ["fix/a"]}


def rejected(**changed: object) -> Rejection:
    """The rejection of a contract that is read as one."""
    contract = read_contract(json.dumps(document(**changed)))
    assert not contract.why
    rejection = judge(contract)
    assert rejection is not None
    assert rejection.exit == 2
    assert rejection.message
    assert rejection.fix
    return rejection


def accepted(**changed: object) -> bool:
    return judge(read_contract(json.dumps(document(**changed)))) is None


@pytest.mark.parametrize("intent", [name for name in INTENTS if name != "refuse"])
def test_each_intent_is_accepted_with_what_it_wants(intent):
    command = "perf" if intent == "run_mqlaunch" else None
    assert accepted(intent=intent, args=WANTED.get(intent, []), command=command)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_of_the_six_commands_is_accepted(command):
    assert accepted(intent="run_mqlaunch", command=command)


@pytest.mark.parametrize(
    "command", ["rm -rf /", "", None, "Doctor", "doctor ", "doctor; id", "self-test", "--help", "perfect"]
)
def test_any_other_command_of_mqlaunch_is_rejected(command):
    assert rejected(intent="run_mqlaunch", command=command).code == "UNKNOWN_COMMAND"


def test_a_command_of_any_other_intent_is_rejected():
    assert rejected(intent="git_status", command="doctor").code == "WRONG_ARGUMENTS"


def test_the_contracts_path_escape_is_rejected():
    line = (
        '{"schema":"mq-hal.intent.v1","intent":"open_editor","repo":"mq-hal","command":null,'
        '"args":["../../etc/passwd"],"message":""}'
    )
    rejection = judge(read_contract(line))
    assert rejection is not None
    assert (rejection.code, rejection.exit) == ("PATH_OUTSIDE", 2)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/etc/passwd",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "~/x",
            "~",
            "//x",
            ".git/config",
            ".env",
            "id_rsa",
        ),
        *("a/.ssh/config", "x" * 300, "a/" * 3000 + "b", ".orchestration/active_intents.yaml", ".GIT/config"),
    ],
)
def test_a_path_that_leaves_the_repository_or_is_protected_is_rejected(path):
    assert rejected(intent="open_editor", args=[path]).code == "PATH_OUTSIDE"


def test_a_path_with_a_zero_byte_is_rejected_wherever_the_contract_comes_from():
    rejection = judge(RepoIntent("open_editor", None, None, ("a\0b",), ""))
    assert rejection is not None
    assert rejection.code == "PATH_OUTSIDE"


@pytest.mark.parametrize(
    "path", ["README.md", "src/a b.py", "./x", "-rf", "+x", "å/ä.md", "a//b", ".github/x.yml"]
)
def test_a_path_inside_is_accepted(path):
    assert accepted(intent="open_editor", args=[path])


@pytest.mark.parametrize("path", ["", ".", "./", "src/", " ", "   ", "\u00a0", "\u3000", "src/ ", "./ "])
def test_a_path_that_names_no_file_is_rejected(path):
    assert rejected(intent="open_editor", args=[path]).code == "WRONG_ARGUMENTS"


@pytest.mark.parametrize(
    ("intent", "args"),
    [
        *(("grep_repo", []), ("grep_repo", ["a", "b"]), ("open_editor", []), ("create_branch", ["a", "b"])),
        *(("git_status", ["-s"]), ("run_test", ["--cov"]), ("help", [""]), ("run_mqlaunch", ["-x"])),
    ],
)
def test_more_or_fewer_arguments_than_the_intent_takes_are_rejected(intent, args):
    command = "doctor" if intent == "run_mqlaunch" else None
    assert rejected(intent=intent, args=args, command=command).code == "WRONG_ARGUMENTS"


@pytest.mark.parametrize("repo", [None, "", " ", "\u3000"])
def test_switching_to_no_repository_is_rejected(repo):
    assert rejected(intent="switch_repo", repo=repo).code == "WRONG_ARGUMENTS"


@pytest.mark.parametrize("query", ["", " ", "\u3000"])
def test_an_empty_query_is_rejected(query):
    assert rejected(intent="grep_repo", args=[query]).code == "EMPTY_QUERY"


@pytest.mark.parametrize("query", ["-e", "--pre=sh", "a b", "*", "$(id)", "`id`", ";rm -rf /"])
def test_a_query_may_be_any_text_as_nothing_reads_it_as_an_option(query):
    assert accepted(intent="grep_repo", args=[query])


@pytest.mark.parametrize(
    "name",
    [
        *(
            "-x",
            "/x",
            ".x",
            "x/",
            "x//y",
            "x/.y",
            "x..y",
            "x.lock",
            "x.lock/y",
            "x.",
            "HEAD",
            "@",
            "a@{1}",
            "a b",
        ),
        *("", "å", "a~1", "a^", "a:b", "a?b", "a*b", "a[b", "a\\b", "a;b", "$(id)", "--force", "x" * 121),
    ],
)
def test_a_name_that_is_none_of_a_branch_is_rejected(name):
    assert rejected(intent="create_branch", args=[name]).code == "BAD_BRANCH_NAME"


@pytest.mark.parametrize(
    "name",
    ["main", "feature/hal-router", "v1.2", "_x", "0", "a_b-c.d/e", "x" * 120, "head", "a/HEAD", "lock"],
)
def test_a_name_of_a_branch_is_accepted(name):
    assert accepted(intent="create_branch", args=[name])


def test_a_refusal_is_rejected_with_its_own_words():
    assert rejected(intent="refuse", message="That is not my work.").message == "That is not my work."
    made_here = judge(read_contract("nonsense"))
    assert made_here is not None
    assert made_here.code == "REFUSED"
    assert "JSON" in made_here.message


_SEEDS_LIST = re.compile(r"[A-Za-z0-9._/-]+")
_NAMES = st.text(st.sampled_from("aZ0._-/"), min_size=1, max_size=12) | st.lists(
    st.sampled_from(
        ["a", ".", "..", "/", "lock", ".lock", "HEAD", "refs", "heads", "-", "_", "0", "x.y", "@", "{"]
    ),
    min_size=1,
    max_size=7,
).map("".join)


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nowhere")


@given(name=_NAMES)
@example(name="HEAD")
@example(name="a.lock/b")
@settings(max_examples=50)
def test_the_allow_list_and_git_itself_say_which_branch_names_are_good(git, name):
    checked = subprocess.run(["git", "check-ref-format", "--branch", name], cwd=git, capture_output=True)
    good = bool(_SEEDS_LIST.fullmatch(name)) and name[0] not in "-/." and checked.returncode == 0
    assert (judge(RepoIntent("create_branch", None, None, (name,), "")) is None) == (
        good and len(name) <= LONGEST_BRANCH
    )


@given(
    st.sampled_from(INTENTS), st.none() | st.text(), st.none() | st.text(), st.lists(st.text(), max_size=3)
)
def test_any_contract_gets_a_verdict(intent, repo, command, args):
    contract = RepoIntent(intent, repo, command, tuple(args), "")
    rejection = judge(contract)
    if rejection is None:
        kind = intent_types()[intent]
        assert len(args) == len(kind.arguments)
        assert (command in COMMANDS) == kind.takes_command


def test_a_query_is_as_long_as_what_searches_takes():
    for tool, name in (("search", "pattern"), ("grep", "query")):
        manifest = tomllib.loads((TOOLS / "code" / f"{tool}.toml").read_text("utf-8"))
        assert manifest["args"]["properties"][name]["maxLength"] == LONGEST_QUERY
    assert accepted(intent="grep_repo", args=["å" * LONGEST_QUERY])
    assert rejected(intent="grep_repo", args=["å" * (LONGEST_QUERY + 1)]).code == "WRONG_ARGUMENTS"


@pytest.mark.parametrize("intent", WANTED)
def test_who_names_a_repository_and_nothing_else_is_told_of_quotes(intent):
    assert "quotes" in rejected(intent=intent, repo="shop", args=[""]).fix
    assert "quotes" not in rejected(intent=intent, repo=None, args=[""]).fix
