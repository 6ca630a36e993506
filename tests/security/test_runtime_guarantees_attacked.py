"""The guarantees of the runtime contract, each attacked: paths, secrets, commits, commands, writes.

The sixth, drift, is attacked in test_runtime_drift_attacked.py.
"""

from __future__ import annotations

import ast
import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from runtime_yard import MANIFESTS, SECRET, Yard, short, started, template, yard

from executor.gate.grants import Grants
from executor.tools.manifest import Manifest
from mcl.catalog.contracts.contract import programs_of
from mcl.cli.app import app_for
from mcl.cli.main import main
from mcl.plugins.versions.plugin import PLUGIN

__all__ = ["template", "yard"]  # fixtures

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {short(one): one for one in MANIFESTS}
LOCAL = [one for one in MANIFESTS if one.scope.kind != "network"]
STARTING = [one for one in LOCAL if "shell" in one.effects or one.programs]
CALM = [one for one in LOCAL if one.safety in "AB"]
SOURCES = [*(ROOT / "executor").rglob("*.py"), *(ROOT / "mcl").rglob("*.py"), *(ROOT / "ir").rglob("*.py")]


# All tools take minutes; some of them are tried each time.
EACH = pytest.mark.parametrize("every", [5, pytest.param(0, marks=pytest.mark.slow)], ids=["some", "all"])


def example(manifest: Manifest) -> dict[str, Any]:
    """The first call that a manifest shows."""
    return dict(manifest.examples[0].args)


def texts(manifest: Manifest) -> list[str]:
    """The arguments of a tool that take any text."""
    properties: Any = manifest.args.get("properties", {})
    return [name for name, one in properties.items() if one.get("type") == "string" and "enum" not in one]


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Every call in the program's own code, with the file that it stands in."""
    return [
        (str(path.relative_to(ROOT)), node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]


# --- no path escape -------------------------------------------------------------------------------------


@EACH
def test_no_tool_reaches_what_lies_beside_the_workspace_whatever_a_person_says_yes_to(
    yard: Yard, every: int
) -> None:
    (yard.work / "way").symlink_to(yard.place / "beside")
    (yard.work / "link.txt").symlink_to(yard.place / "beside" / "secret.txt")
    before = yard.snapshot("beside", "home")
    for manifest in LOCAL[:: every or 1]:
        for name in manifest.scope.paths:
            for path in ("../beside/secret.txt", "way/secret.txt", "link.txt", "way"):
                called = yard.call(short(manifest), {**example(manifest), name: path})
                assert yard.codes.pop(), (manifest.uri, name, path)
                assert called is None or SECRET not in str(called.outcome)
    assert yard.snapshot("beside", "home") == before


@EACH
def test_a_write_by_an_absolute_path_is_refused_also_where_reading_is_allowed(yard: Yard, every: int) -> None:
    beside = yard.place / "beside"
    Grants(yard.home).grant_roots(yard.home.keyring.agent.did, [beside])
    yard.home.allowed = (str(beside),)
    before = yard.snapshot("beside")
    assert yard.call("fs/read", {"path": f"{beside}/secret.txt"}) is not None
    assert yard.codes == [""]
    for manifest in LOCAL[:: every or 1]:
        for name, mode in manifest.scope.paths.items():
            if mode in ("write", "add"):
                yard.call(short(manifest), {**example(manifest), name: f"{beside}/owned.svg"})
                assert yard.codes[-1] in ("OUT_OF_SCOPE", "INVALID_ARGS"), manifest.uri
    assert yard.snapshot("beside") == before


# --- no secret leakage ----------------------------------------------------------------------------------

VALUE = "korrekt-hast-batteri-haftklammer-4711"
NAMES = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "MCL_PASSPHRASE",
    "DB_PASSWORD",
    "AWS_SECRET_ACCESS_KEY",
)
# These take long, wait, or ask a model.
LONG = {
    "tool verify",
    "schedule run",
    "skill test",
    "compile",
    "activity watch",
    "release check",
    "review file",
    "review bootstrap",
}


def diagnostics() -> list[list[str]]:
    """Every command that answers as JSON and needs no argument."""
    found: list[list[str]] = []

    def walk(command: Any, words: list[str]) -> None:
        for name, below in getattr(command, "commands", {}).items():
            walk(below, [*words, name])
        options = {option for one in command.params for option in one.opts}
        needs = any(one.required for one in command.params)
        if not getattr(command, "commands", None) and "--json" in options and not needs:
            found.append(words)

    walk(typer.main.get_command(app_for()), [])
    return [words for words in found if " ".join(words) not in LONG]


def in_every_shape(value: bytes) -> list[str]:
    """What a secret looks like in a text."""
    coded = [base64.b64encode(value), base64.urlsafe_b64encode(value)]
    return [value.hex(), *(one.decode().rstrip("=") for one in coded)]


@EACH
def test_no_diagnostic_tells_a_secret_of_the_environment_or_a_key(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], every: int
) -> None:
    for name in NAMES:
        if name != "MCL_PASSPHRASE":  # it would have to be the right one
            monkeypatch.setenv(name, VALUE)
    keys = [line for path in (yard.place / "mcl" / "keys").iterdir() for line in _private(path)]
    assert keys
    ran = 0
    for words in diagnostics()[:: every or 1]:
        monkeypatch.setattr("sys.stdin", None)
        code = main([*words, "--json"])
        said = capsys.readouterr()
        ran += code == 0
        for text in [VALUE, *in_every_shape(VALUE.encode()), *keys]:
            assert text not in said.out + said.err, words
    assert ran > (2 if every else 20)


def _private(path: Path) -> list[str]:
    """The texts of a key file that nobody else may see."""
    if not path.is_file() or path.stat().st_mode & 0o077:
        return []
    words = re.findall(r"[A-Za-z0-9+/_=-]{40,}", path.read_text("utf-8", "replace"))
    return [word for word in words if not word.startswith("z6Mk")]  # a did is public


LEAKS = {
    "a file that holds it": lambda yard: ("fs/read", {"path": "leak.txt"}),
    "a search for its beginning": lambda yard: ("fs/search", {"query": VALUE[:8]}),
    "a search by pattern": lambda yard: ("code/search", {"pattern": "korrekt.*"}),
    "a table of it": lambda yard: ("data/summary", {"path": "leak.csv"}),
    "a difference": lambda yard: ("git/diff", {}),
    "a name of a file": lambda yard: ("fs/list", {"path": "."}),
    "a path that is missing": lambda yard: ("fs/read", {"path": f"{VALUE}/missing.txt"}),
    "a scan": lambda yard: ("review/scan", {}),
    "a look": lambda yard: ("review/look", {"path": "leak.txt", "text": True}),
}


@pytest.mark.parametrize("leak", LEAKS.values(), ids=LEAKS)
def test_no_answer_of_a_tool_and_no_error_tells_it(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, leak: Any
) -> None:
    monkeypatch.setenv("DB_PASSWORD", VALUE)
    (yard.work / "leak.txt").write_text(f"password = {VALUE}\n")
    (yard.work / "leak.csv").write_text(f"name,value\npassword,{VALUE}\n")
    (yard.work / f"{VALUE}.md").write_text("x\n")
    with (yard.work / "src" / "shop.py").open("a") as file:
        file.write(f"PASSWORD = '{VALUE}'\n")
    called = yard.call(*leak(yard))
    assert called is not None
    assert called.outcome is not None
    told = json.dumps(called.outcome.to_json(), default=str)
    for text in [VALUE, *in_every_shape(VALUE.encode())]:
        assert text not in told


def test_a_file_is_told_as_it_is_where_nothing_in_it_is_a_secret(yard: Yard) -> None:
    (yard.work / "leak.txt").write_text(f"{VALUE}\n")
    called = yard.call("fs/read", {"path": "leak.txt"})
    assert called is not None
    assert VALUE in str(called.outcome)


# --- no commit ------------------------------------------------------------------------------------------

CHANGES = {
    *(
        "add",
        "am",
        "apply",
        "branch",
        "cherry-pick",
        "clean",
        "clone",
        "commit",
        "commit-tree",
        "fast-import",
    ),
    *(
        "fetch",
        "filter-branch",
        "gc",
        "init",
        "merge",
        "mv",
        "notes",
        "pull",
        "push",
        "rebase",
        "receive-pack",
    ),
    *("replace", "reset", "restore", "revert", "rm", "send-pack", "stash", "submodule", "switch", "tag"),
    *("update-index", "update-ref", "symbolic-ref", "worktree", "write-tree", "checkout"),
}
# What changes a history because a person wants just that: tools of the plug-in versions.
VERSIONS = {
    *("git/add", "git/commit", "git/deliver", "git/drop", "git/merge", "git/push", "git/switch", "git/tag")
}
MAY_CHANGE = {"branch", "update-ref", "symbolic-ref"}  # of git/branch and git/checkout: a new name, no commit


def git_logs(yard: Yard) -> list[str]:
    """What git noted of every reference, line by line."""
    files = [path for path in sorted((yard.work / ".git" / "logs").rglob("*")) if path.is_file()]
    return [line for path in files for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_no_other_tool_tells_git_to_commit_or_push_and_references_stay(yard: Yard) -> None:
    head, refs, before = yard.commit(), yard.refs(), git_logs(yard)
    for manifest in (one for one in LOCAL if short(one) not in VERSIONS):
        for one in manifest.examples:
            yard.call(short(manifest), one.args)
    assert yard.codes.count("") > len(LOCAL) * 0.7, yard.codes
    told = yard.git_was_told()
    assert len(told) > 20
    used = {word for words in told for word in words} & CHANGES
    assert used <= MAY_CHANGE, used
    made = {name: text for name, text in yard.refs().items() if refs.get(name) != text}
    assert set(made) == {"refs/heads/paint-the-door"}
    assert set(made.values()) == {f"{head}\n"}
    assert yard.commit() == head
    logs = git_logs(yard)
    assert "".join(logs).count("commit") <= 2 * len(logs)
    moved = [one for one in logs if re.search(rf"{head} (?!{head})[0-9a-f]{{40}}", one)]
    assert [one for one in moved if one not in before] == []


def test_no_code_of_the_program_gives_git_a_word_that_commits() -> None:
    """The words that the program gives git, where it gives them: one that is new must be looked at."""
    given = {
        (path, node.args[0].value)
        for path, node in calls()
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "answer")
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value in CHANGES
    }
    others = {f"mcl/plugins/versions/tools/{name}.py" for name in PLUGIN.tools if name not in VERSIONS}
    given = {one for one in given if one[0] in others or not one[0].startswith("mcl/plugins/versions/")}
    assert {word for _, word in given} <= MAY_CHANGE
    assert {path for path, _ in given} <= {
        "mcl/plugins/versions/tools/git/branch.py",
        "mcl/plugins/versions/tools/git/checkout.py",
    }


HIDDEN = [
    ".git/refs/heads/main",
    ".git/HEAD",
    ".git/hooks/post-commit",
    ".GIT/config",
    "src/../.git/index",
    ".git",
]


@pytest.mark.parametrize("path", HIDDEN)
def test_no_tool_writes_what_git_keeps(yard: Yard, path: str) -> None:
    before = yard.refs()
    for name in (
        "fs/write",
        "fs/append",
        "fs/edit",
        "fs/delete",
        "calendar/add",
        "task/assign",
        "data/chart",
    ):
        manifest = BY_NAME[name]
        for argument, mode in manifest.scope.paths.items():
            if mode != "read":
                yard.call(name, {**example(manifest), argument: path})
                assert yard.codes[-1] in ("PROTECTED_PATH", "OUT_OF_SCOPE", "INVALID_ARGS"), name
    assert yard.refs() == before


# --- no arbitrary subprocess ----------------------------------------------------------------------------

WORDS = [
    "; touch owned;",
    "$(touch owned)`touch owned`",
    "| touch owned && touch owned\ntouch owned\n",
    "'\"; touch owned; #",
    "--output=owned",
    "--exec=touch owned",
    "-oowned",
    "--pre=touch",
]


@EACH
def test_words_of_a_call_are_never_a_command(yard: Yard, every: int) -> None:
    with started() as seen:
        for manifest in STARTING[:: every or 1]:
            for name in texts(manifest):
                for word in WORDS[: 1 if every else None]:
                    yard.call(short(manifest), {**example(manifest), name: word})
                    declared = {name.strip("$").lower() for name in programs_of(manifest)} | {"bwrap"}
                    for argv in seen:
                        program = Path(argv[0]).name
                        assert program in declared, (manifest.uri, word, argv)
                        assert (
                            not {"-c", "touch"} & {Path(argv[1]).name if len(argv) > 1 else ""}
                            or program == "git"
                        )
                    seen.clear()
    assert not [path for path in yard.place.rglob("*") if path.name.startswith("owned")]


def test_no_tool_takes_a_command_line() -> None:
    """A tool that starts something says what; its arguments are none of the names that shells go by."""
    for manifest in MANIFESTS:
        assert not {"argv", "cmd", "shell", "script", "program", "exec"} & set(texts(manifest))
        if "shell" in manifest.effects:
            assert programs_of(manifest), manifest.uri
    command: Any = BY_NAME["process/mqlaunch"].args["properties"]
    assert command["command"]["enum"]


def test_no_code_of_the_program_starts_a_shell() -> None:
    for path, node in calls():
        name = ast.unparse(node.func)
        assert name not in ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"), (
            path
        )
        assert not name.endswith("create_subprocess_shell"), path
        for one in node.keywords:
            assert one.arg != "shell" or (isinstance(one.value, ast.Constant) and not one.value.value), path


# --- no write outside the declared scope ----------------------------------------------------------------


@EACH
def test_tools_that_only_read_leave_everything_as_it_was_whatever_they_are_told(
    yard: Yard, every: int
) -> None:
    hostile = ["../beside/owned", "owned", "-oowned", "a\nb", "*", "$(touch owned)"]
    before = yard.snapshot()
    for manifest in CALM[:: every or 1]:
        for one in manifest.examples[: 1 if every else None]:
            yard.call(short(manifest), one.args)
        for name in [] if every else texts(manifest):
            for word in hostile:
                yard.call(short(manifest), {**example(manifest), name: word})
    assert yard.codes.count("") >= 4
    assert yard.snapshot() == before


@pytest.mark.parametrize("effect", ["write", "shell", "network", "chain"])
def test_a_manifest_that_calls_itself_harmless_and_is_not_is_refused(effect: str) -> None:
    harmless = BY_NAME["fs/read"].model_dump(mode="json", exclude_none=True)
    lying = {**harmless, "effects": [effect], "operation": "write"}
    with pytest.raises(ValueError, match="safety is A, but these effects are class"):
        Manifest.model_validate(lying)


@EACH
def test_a_tool_that_writes_stays_in_the_places_that_it_names(yard: Yard, every: int) -> None:
    """What a class C call may change is what its path arguments say, and the home of mcl."""
    for manifest in LOCAL[:: every or 1]:
        if manifest.safety != "C" or not manifest.scope.paths or "git" in programs_of(manifest):
            continue
        for one in manifest.examples:
            before, args = yard.snapshot(), manifest.complete(one.args)
            yard.call(short(manifest), one.args)
            after = yard.snapshot()
            changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
            named = [
                str(path).rstrip("/")
                for name, mode in manifest.scope.paths.items()
                if mode != "read" and name in args
                for path in (args[name] if isinstance(args[name], list) else [args[name]])
            ]
            for path in changed:
                inside = path.removeprefix("work/")
                assert path.startswith("work/"), (manifest.uri, path)
                near = [
                    inside == name or inside.startswith(f"{name}/") or name.startswith(f"{inside}/")
                    for name in named
                ]
                assert any(near) or inside in {str(Path(name).parent) for name in named}, (manifest.uri, path)
