"""Commands that the operator declared: a tool each, with values that are never more than values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Walks, tool

from executor import Grants, Outcome, Registry, ToolError
from executor.tools.process.commands import declared_commands, expand, parse

COMMANDS = f"""
[say]
description = "Says its arguments, one a line."
argv = [
    "{sys.executable}", "-c", "import sys; print(*sys.argv[1:], sep='\\\\n')",
    "{{what}}", "--to={{who}}", "{{loud}}", "{{times}}",
]
effect = "read"
idempotent = true

[say.args.what]
type = "string"
[say.args.who]
type = "string"
optional = true
[say.args.loud]
type = "boolean"
flag = "--loud"
optional = true
[say.args.times]
type = "integer"
default = 1

[build]
description = "Makes a file out of another."
version = "2.1.0"
folder = "sub"
argv = ["cp", "--", "{{from}}", "out.txt"]
timeout_ms = 5000

[build.args.from]
type = "path"

[report]
description = "Writes its report, and nothing else."
argv = ["./report.sh"]
effect = "read"
outputs = ["reports/daily"]

[fails]
description = "Ends with status 3."
argv = ["sh", "-c", "echo so bad; exit 3"]
effect = "read"
"""


@pytest.fixture(params=["sandboxed", "unsandboxed"])
def project(walks: Walks, request: pytest.FixtureRequest) -> Walks:
    request.getfixturevalue(request.param)
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    place = walks.home.path / "commands.toml"
    place.write_text(COMMANDS)
    walks.tools = list(declared_commands(place)[0])
    return walks


def call(walks: Walks, name: str, /, *, version: str = "1.0.0", verb: str = "build", **args: str) -> Outcome:
    return walks.go(tool("n1", f"process/run-{name}", "shell", version=version, **args), verb=verb)


def said(outcome: Outcome) -> list[str]:
    assert outcome.failure is None, outcome.failure
    found: Any = outcome.outputs["n1"]
    return str(found["text"]).splitlines()[2:]


def code_of(outcome: Outcome) -> str:
    assert outcome.failure is not None, outcome.outputs
    return outcome.failure.code


def test_each_value_is_one_argument_and_what_is_left_out_is_left_out(project: Walks) -> None:
    assert said(call(project, "say", what="a b; $(id) *", verb="find")) == ["a b; $(id) *", "1"]
    found = said(call(project, "say", what="x", who="--me", loud="true", times="2"))
    assert found == ["x", "--to=--me", "--loud", "2"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"what": "-rf"}, "VALUE_IS_OPTION"),
        ({"what": "--help"}, "VALUE_IS_OPTION"),
        ({"what": "x", "times": "-1"}, "VALUE_IS_OPTION"),
        ({"what": "a\x1b[2J"}, "BAD_VALUE"),
        ({"what": ""}, "INVALID_ARGS"),
        ({}, "INVALID_ARGS"),
        ({"what": "x", "more": "y"}, "INVALID_ARGS"),
        ({"what": "x", "loud": "--force"}, "INVALID_ARGS"),
        ({"what": "x", "folder": "elsewhere"}, "INVALID_ARGS"),
    ],
)
def test_a_value_never_becomes_an_option(project: Walks, args: Mapping[str, str], code: str) -> None:
    assert code_of(call(project, "say", **args)) == code


def test_a_path_is_one_of_the_workspace_seen_from_the_commands_folder(project: Walks) -> None:
    project.write("sub/keep.txt", "")
    project.write("-n.txt", "top\n")
    assert call(project, "build", version="2.1.0", **{"from": "-n.txt"}).failure is None
    assert (project.workspace / "sub/out.txt").read_text() == "top\n"
    for path, code in (("../x", "OUT_OF_SCOPE"), ("/etc/passwd", "OUT_OF_SCOPE"), (".env", "PROTECTED_PATH")):
        assert code_of(call(project, "build", version="2.1.0", **{"from": path})) == code


def test_a_command_that_reads_may_write_its_declared_outputs_and_nothing_else(project: Walks) -> None:
    script = project.write("report.sh", "#!/bin/sh\necho fine > reports/daily/today.txt\n")
    script.chmod(0o755)
    assert call(project, "report", verb="analyze").failure is None
    assert (project.workspace / "reports/daily/today.txt").read_text() == "fine\n"
    script.write_text("#!/bin/sh\necho fine > reports/today.txt\n")
    assert code_of(call(project, "report", verb="analyze")) in ("COMMAND_FAILED", "WROTE_UNDECLARED")


def test_a_status_that_is_no_success_is_an_error_with_the_end_of_the_log(project: Walks) -> None:
    outcome = call(project, "fails")
    assert code_of(outcome) == "COMMAND_FAILED"
    assert outcome.failure is not None
    assert outcome.failure.message == "fails ended with status 3: so bad"


def test_a_command_that_writes_is_no_matter_for_a_verb_that_looks(project: Walks) -> None:
    project.write("sub/a.txt", "")
    assert (
        code_of(call(project, "build", version="2.1.0", verb="find", **{"from": "sub/a.txt"}))
        == "INTENT_MISMATCH"
    )
    assert not (project.workspace / "sub/out.txt").exists()


def test_a_command_that_was_changed_waits_for_approval(project: Walks) -> None:
    project.write("sub/a.txt", "")
    assert call(project, "build", version="2.1.0", **{"from": "sub/a.txt"}).failure is None
    place = project.home.path / "commands.toml"
    place.write_text(COMMANDS.replace('"cp", "--"', '"mv", "--"'))
    project.tools = list(declared_commands(place)[0])
    assert code_of(call(project, "build", version="2.1.0", **{"from": "sub/a.txt"})) == "TOOL_CHANGED"


def test_a_named_variable_reaches_the_command_and_no_other(
    project: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_NUMBER", "42")
    monkeypatch.setenv("OTHER", "43")
    monkeypatch.setenv("DEPLOY_TOKEN", "a-secret-value")
    place = project.home.path / "commands.toml"
    place.write_text(
        '[env]\ndescription = "x"\neffect = "read"\nargv = ["env"]\n'
        'environment = ["BUILD_NUMBER", "DEPLOY_TOKEN", "HOME", "PATH"]\n'
    )
    project.tools = list(declared_commands(place)[0])
    # The value of a variable whose name speaks of a secret is given to the command, and taken out of its log.
    lines = said(
        project.run(
            project.accept(tool("n1", "process/run-env", "shell")),
            environment={"DEPLOY_TOKEN": "a-secret-value"},
        )
    )
    assert "BUILD_NUMBER=42" in lines
    assert "DEPLOY_TOKEN=[redacted: value of the environment]" in lines
    assert not any(line.startswith("OTHER=") for line in lines)
    assert [line for line in lines if line.startswith("HOME=")] != [f"HOME={Path.home()}"]


def test_a_declared_command_is_a_tool_like_any_other(project: Walks) -> None:
    manifests = {one.uri.partition("/run-")[2]: one for one in Registry(project.tools).manifests}
    assert list(manifests) == ["build@2.1.0", "fails@1.0.0", "report@1.0.0", "say@1.0.0"]
    say, build = manifests["say@1.0.0"], manifests["build@2.1.0"]
    assert (say.effects, say.operation, say.safety, say.idempotent) == (["shell"], "read", "D", True)
    assert (build.effects, build.operation, build.timeout_ms) == (["shell", "write"], "write", 5000)
    assert build.scope.paths == {"folder": "write", "from": "read"}
    assert say.args["required"] == ["what"]
    assert say.command is not None
    assert say.command.flags == {"loud": "--loud"}


def test_without_the_file_there_are_no_commands(tmp_path: Path) -> None:
    assert declared_commands(tmp_path / "commands.toml") == ((), {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not toml at all", "Expected"),
        ("x = 1", "x: "),
        ("[X]\nargv = ['a']\ndescription = 'd'", "a command's name"),
        ("[x]\nargv = []\ndescription = 'd'", "argv"),
        ("[x]\nargv = ['a']", "description"),
        ("[x]\nargv = ['a']\ndescription = 'd'\nshell = true", "shell"),
        ("[x]\nargv = ['{a}']\ndescription = 'd'\n[x.args.a]\ntype='string'", "begins with a program"),
        ("[x]\nargv = ['a', '{b']\ndescription = 'd'", "brace"),
        ("[x]\nargv = ['a', '{b}']\ndescription = 'd'", "same values: b"),
        ("[x]\nargv = ['a']\ndescription = 'd'\n[x.args.b]\ntype='string'", "same values: b"),
        ("[x]\nargv = ['a', '{folder}']\ndescription = 'd'\n[x.args.folder]\ntype='path'", "folder"),
        ("[x]\nargv = ['a', '{b}']\ndescription = 'd'\n[x.args.b]\ntype='boolean'", "has a flag"),
        ("[x]\nargv = ['a', '{b}']\ndescription = 'd'\n[x.args.b]\ntype='string'\nflag='-b'", "has a flag"),
        (
            "[x]\nargv = ['a', 'c{b}']\ndescription = 'd'\n[x.args.b]\ntype='boolean'\nflag='-b'",
            "stands alone",
        ),
        ("[x]\nargv = ['a', '{b}']\ndescription = 'd'\n[x.args.b]\ntype='string'\npattern='['", "x: "),
        ("[x]\nargv = ['a', '{b}']\ndescription = 'd'\n[x.args.b]\ntype='path'\noptional=true", "default"),
        (
            "[x]\nargv=['a','{b}']\ndescription='d'\neffect='read'\n[x.args.b]\ntype='path'\nwrites=true",
            "written",
        ),
        ("[x]\nargv = ['a']\ndescription = 'd'\neffect = 'destructive'", "effect"),
    ],
)
def test_a_mistake_in_one_command_breaks_that_command_alone(tmp_path: Path, text: str, why: str) -> None:
    place = tmp_path / "commands.toml"
    place.write_text("[good]\nargv = ['true']\ndescription = 'd'\n" + text)
    tools, broken = declared_commands(place)
    [(address, fault)] = broken.items()
    assert (fault.code, fault.place) == ("BAD_COMMANDS", str(place))
    assert why in fault.message
    begins = "matrix://tool/process/run-"
    if address in (begins, f"{begins}good"):  # no TOML at all, or a line that is of the one before
        assert tools == ()
    else:
        assert [tool.manifest.uri for tool in tools] == [f"{begins}good@1.0.0"]
    registry = Registry(tools, None, broken)
    assert registry.fault(f"{address}x@1.0.0" if address == begins else f"{address}@1.0.0") is fault
    assert registry.fault("matrix://tool/fs/read@1.0.0") is None


@given(
    st.lists(st.text(alphabet="ab-{}= x", min_size=1, max_size=6), max_size=4),
    st.dictionaries(st.sampled_from(["a", "b"]), st.text(alphabet="-ab \x00ü=;$", max_size=5)),
)
def test_whatever_the_template_an_argument_that_begins_with_a_value_is_no_option(
    argv: list[str], values: dict[str, str]
) -> None:
    try:
        elements = parse(["program", *argv])
        made = expand(elements[1:], values, {})
    except (ValueError, ToolError) as problem:
        assert getattr(problem, "code", "VALUE_IS_OPTION") in ("VALUE_IS_OPTION", "BAD_VALUE")  # noqa: PT017
        return
    kept = [one for one in elements[1:] if all(name in values for name in one.names)]
    assert len(made) == len(kept)
    for element, argument in zip(kept, made, strict=True):
        assert not argument.startswith("-") or element.texts[0].startswith("-")
        assert "\x00" not in argument
