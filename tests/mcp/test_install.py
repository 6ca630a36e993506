"""`mcl mcp install`: what is printed, and what becomes of a file that a person keeps by hand."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from desks import Desk
from hypothesis import given
from hypothesis import strategies as st

from mcl.core.errors import InputError, McpError
from mcl.plugins.agents.install import HOSTS, Host, change_of, entry_for, host_named, write
from mcl.plugins.agents.install.changes import changed, read_object


def entry(host: str, **environment: str) -> Any:
    return entry_for(host_named(host), "mcl", workspace=Path("/project"), environment=environment)


# ---- what is printed ----


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_the_snippet_is_a_whole_file_of_the_form_that_the_program_reads(host: Host) -> None:
    made = entry(host.name)
    said = tomllib.loads(made.snippet) if host.format == "toml" else json.loads(made.snippet)
    assert said == {host.key: {"mcl": made.value}}


def test_the_command_that_is_printed_starts_this_very_mcl() -> None:
    made = entry("cursor")
    assert Path(made.command).is_absolute()
    command = [made.command, *made.args[: made.args.index("mcp")], "--version"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.startswith("mcl ")


def test_a_home_that_is_named_is_named_there_too_and_nothing_else_of_the_environment() -> None:
    made = entry("cursor", MCL_HOME="/homes/work", GITHUB_TOKEN="ghp_" + "a" * 36, MCL_PASSPHRASE="secret")
    assert made.value["env"] == {"MCL_HOME": "/homes/work"}
    assert "env" not in entry("cursor").value


def test_the_workspace_is_what_the_program_works_in_where_it_says_what_that_is() -> None:
    def args(host: str) -> tuple[str, ...]:
        return entry_for(host_named(host), "mcl", workspace=None, environment={}).args

    assert args("vscode")[-2:] == ("--workspace", "${workspaceFolder}")
    assert args("claude-code")[-2:] == ("mcp", "serve")
    assert args("claude-desktop")[-2:] == ("--workspace", str(Path.cwd()))
    assert entry("claude-code").args[-2:] == ("--workspace", "/project")


def test_an_unknown_program_is_refused_with_the_nearest(desk: Desk) -> None:
    with pytest.raises(InputError, match="claude-code is") as caught:
        host_named("claud-code")
    assert caught.value.code == "HOST_UNKNOWN"
    with pytest.raises(InputError) as caught:
        entry_for(HOSTS[0], "a name", workspace=None, environment={})
    assert caught.value.code == "BAD_NAME"


def test_the_command_prints_and_writes_only_when_it_is_told_to(desk: Desk) -> None:
    file = Path(desk.environment["HOME"]) / ".cursor" / "mcp.json"
    listed = json.loads(desk("mcp", "install", "--json").out)
    assert [one["name"] for one in listed["hosts"]] == [host.name for host in HOSTS]
    told = json.loads(desk("mcp", "install", "--host", "cursor", "--json").out)
    assert told["file"] == str(file)
    assert json.loads(told["snippet"]) == {"mcpServers": {"mcl": told["entry"]}}
    assert told["entry"]["env"] == {"MCL_HOME": desk.environment["MCL_HOME"]}
    assert json.loads(desk("mcp", "install", "--host", "cursor").out) == json.loads(told["snippet"])
    assert not file.exists()
    assert not Path(desk.environment["MCL_HOME"]).exists(), "nothing of it needs a home"
    assert "+" in desk("mcp", "install", "--host", "cursor", "--write").out
    assert json.loads(file.read_text()) == json.loads(told["snippet"])
    again = json.loads(desk("mcp", "install", "--host", "cursor", "--write", "--json").out)
    assert (again["written"], again["diff"]) == (False, "")
    assert desk("mcp", "install", "--write", expect=2).err.startswith("error: ")


# ---- what is written ----

KEPT = """{
    "theme": "One",
    "context_servers": {
        "other": {
            "command": "other",
            "env": {
                "TOKEN": "very-secret"
            }
        }
    }
}
"""


def test_other_settings_and_servers_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(KEPT)
    file.chmod(0o640)
    change = change_of(entry("zed"), file)
    assert "very-secret" not in change.diff
    write(change)
    said = file.read_text()
    assert all(line in said.replace("},", "}").splitlines() for line in KEPT.replace("},", "}").splitlines())
    assert json.loads(said)["context_servers"]["mcl"]["args"] == ["mcp", "serve", "--workspace", "/project"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["settings.json"]


def test_what_a_file_of_one_line_says_besides_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"other": {"env": {"TOKEN": "very-secret"}}}}')
    change = change_of(entry("cursor"), file)
    assert "mcl" in change.diff
    assert "very-secret" not in change.diff


def test_an_entry_of_an_earlier_time_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"mcl": {"command": "old"}, "b": 1}}')
    write(change_of(entry("cursor"), file))
    assert json.loads(file.read_text()) == {"mcpServers": {"mcl": entry("cursor").value, "b": 1}}


@pytest.mark.parametrize("text", ['{\n  // mine\n  "theme": "dark"\n}', '{"theme": "dark",}', "/* */ {}"])
def test_a_file_with_remarks_is_left_alone_and_it_is_said_what_to_do(desk: Desk, text: str) -> None:
    file = Path(desk.environment["HOME"]) / ".gemini" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    told = desk("mcp", "install", "--host", "gemini-cli", "--write", expect=2).err
    assert "CONFIG_NOT_UNDERSTOOD" in told
    assert "mcl mcp install --host gemini-cli prints what goes into it" in told
    assert file.read_text() == text


def test_a_file_that_is_no_json_is_not_written_and_the_program_s_own_command_is_told(tmp_path: Path) -> None:
    with pytest.raises(McpError) as caught:
        change_of(entry("codex"), tmp_path / "config.toml")
    assert caught.value.code == "CONFIG_NOT_UNDERSTOOD"
    assert "codex mcp add mcl -- " in caught.value.fix


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        '{"mcpServers": []}',
        '{"mcpServers": {"mcl": 1, "mcl": 2}}',
        '{"mcpServers": {}, "mcpServers": {"a": 1}}',
        '{"a": 1',
        "\x00",
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(McpError) as caught:
        change_of(entry("cursor"), file)
    assert caught.value.code == "CONFIG_NOT_UNDERSTOOD"
    assert "mcl mcp install --host cursor" in caught.value.fix
    assert file.read_text() == text


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")
    change = change_of(entry("cursor"), file)
    file.write_text('{"mcpServers": {"new": {}}}')
    with pytest.raises(McpError) as caught:
        write(change)
    assert caught.value.code == "CONFIG_CHANGED"
    assert "new" in file.read_text()
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


def test_a_link_stays_one_and_what_it_leads_to_is_changed(tmp_path: Path) -> None:
    kept, link = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    kept.write_text("{}")
    link.symlink_to(kept)
    write(change_of(entry("cursor"), link))
    assert link.is_symlink()
    assert "mcl" in json.loads(kept.read_text())["mcpServers"]


def test_a_folder_in_the_place_of_the_file_and_a_folder_that_is_closed_are_told(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").mkdir()
    with pytest.raises(McpError) as caught:
        change_of(entry("cursor"), tmp_path / "mcp.json")
    assert caught.value.code == "CONFIG_UNREADABLE"
    (tmp_path / "file").write_text("")
    with pytest.raises(McpError) as caught:
        write(change_of(entry("cursor"), tmp_path / "file" / "mcp.json"))
    assert caught.value.code in ("CONFIG_UNREADABLE", "CONFIG_UNWRITABLE")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3) | st.none(),
    st.sampled_from([None, 2, "\t"]),
    st.text(alphabet='mclz"\\{}/*,é ', min_size=1, max_size=5),
)
def test_whatever_is_in_a_file_stays_and_the_entry_is_there(
    tmp_path_factory: pytest.TempPathFactory,
    others: dict[str, object],
    servers: dict[str, object] | None,
    indent: Any,
    name: str,
) -> None:
    whole = dict(others) | ({"servers": servers} if servers is not None else {})
    if not isinstance(whole.get("servers", {}), dict):
        return
    file = tmp_path_factory.mktemp("installing") / "mcp.json"
    file.write_text(json.dumps(whole, indent=indent, ensure_ascii=False))

    def edited(said: dict[str, Any]) -> dict[str, Any]:
        return {**said, "servers": {**said.get("servers", {}), name: {"command": "mcl"}}}

    said = json.loads(changed(file, edited, by_hand="").after)
    assert said == {**whole, "servers": {**whole.get("servers", {}), name: {"command": "mcl"}}}  # type: ignore[dict-item]


@given(st.text(alphabet='{}[]",:/*\n ab1', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_object(text)
    except ValueError:
        return


def test_this_python_is_started_where_there_is_no_script(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(python))
    made = entry("cursor")
    assert (made.command, made.args[:2]) == (str(python), ("-m", "mcl"))


def test_what_is_no_ordinary_file_is_neither_waited_for_nor_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    link = tmp_path / "mcp.json"
    link.symlink_to(tmp_path / "pipe")
    with pytest.raises(McpError) as caught:
        change_of(entry("cursor"), link)
    assert caught.value.code == "CONFIG_UNREADABLE"
    assert (tmp_path / "pipe").is_fifo()
