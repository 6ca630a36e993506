"""`mcl hook install`: what is put into the settings of a host."""

from __future__ import annotations

import json
import subprocess

import pytest

from mcl.cli.main import main


def test_the_settings_name_both_hooks_and_a_hook_that_cannot_start_refuses(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "a home"))
    assert main(["hook", "install", "claude-code", "--json"]) == 0
    hooks = json.loads(capsys.readouterr().out)["hooks"]
    (before,), (after,) = hooks["PreToolUse"], hooks["PostToolUse"]
    command = before["hooks"][0]["command"]
    assert command.startswith(f"MCL_HOME='{tmp_path}/a home' ")
    assert command.endswith(" || exit 2")
    assert "exit" not in after["hooks"][0]["command"]
    assert "matcher" not in before
    gone = "/nowhere/mcl hook pre-tool-use --host claude-code || exit 2"
    assert subprocess.run(["sh", "-c", gone], capture_output=True).returncode == 2


def test_calls_that_ended_with_an_error_are_told_of_too_also_where_we_were_installed_before(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".claude/settings.json"
    assert main(["hook", "install", "claude-code", "--write"]) == 0
    hooks = json.loads(place.read_text())["hooks"]
    assert hooks["PostToolUseFailure"] == hooks["PostToolUse"]
    before = {name: hooks[name] for name in ("PreToolUse", "PostToolUse")}
    place.write_text(json.dumps({"hooks": before, "theme": "dark"}))
    assert main(["hook", "install", "claude-code", "--write"]) == 0
    assert json.loads(place.read_text()) == {"hooks": hooks, "theme": "dark"}


def test_installing_keeps_other_hooks_and_replaces_older_ones_of_ours(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".gemini/settings.json"
    place.parent.mkdir()
    theirs = '"BeforeTool": [{"hooks": [{"command": "theirs"}]}]'
    theirs = f'{{\n  "theme": "dark",\n  "hooks": {{{theirs}}}\n}}\n'
    place.write_text(theirs)
    for agent in ("first", "second"):
        assert main(["hook", "install", "gemini-cli", "--agent", agent, "--write", "--json"]) == 0
    text = place.read_text()
    assert json.loads(text)["theme"] == "dark"
    assert "--agent first" not in text
    assert text.count("--agent second") == 2
    assert '"command": "theirs"' in text
    capsys.readouterr()
    assert main(["hook", "install", "gemini-cli", "--agent", "second", "--write", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["written"] is False
    assert main(["hook", "install", "emacs"]) != 0


def test_a_second_name_takes_the_place_of_the_first_and_says_how_two_agents_are_told_apart(
    capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["hook", "install", "claude-code", "--agent", "one", "--write"]) == 0
    assert "MCL_AGENT" not in capsys.readouterr().err
    assert main(["hook", "install", "claude-code", "--agent", "worker-2"]) == 0
    told = capsys.readouterr().err
    assert "takes the place" in told
    assert "MCL_AGENT=worker-2" in told
    assert main(["hook", "install", "claude-code", "--agent", "worker-2", "--write"]) == 0
    told = capsys.readouterr().err
    assert "one" in told
    assert "MCL_AGENT=worker-2" in told
    assert (tmp_path / ".claude/settings.json").read_text().count("--agent") == 3
    assert main(["hook", "install", "claude-code", "--agent", "worker-2", "--write", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replaces"] == []
    assert main(["hook", "install", "claude-code", "--write", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["replaces"] == ["worker-2"]


def test_hooks_in_the_other_settings_too_are_told_of(capsys, monkeypatch, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    assert main(["hook", "install", "claude-code", "--write"]) == 0
    capsys.readouterr()
    assert main(["hook", "install", "claude-code", "--agent", "two", "--project", "--write"]) == 0
    told = capsys.readouterr().err
    assert "judged twice" in told
    assert f"{tmp_path}/.claude/settings.json" in told.replace("\n", "")


@pytest.mark.parametrize(
    "said", ["{ // mine\n}", "null", "[]", '{"hooks": null}', '{"hooks": []}', '{"hooks": {"PreToolUse": 1}}']
)
def test_settings_that_are_none_are_left_as_they_are(capsys, monkeypatch, tmp_path, said):
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".claude/settings.json"
    place.parent.mkdir()
    place.write_text(said)
    assert main(["hook", "install", "claude-code", "--write"]) not in (0, 70)
    assert "CONFIG_NOT_UNDERSTOOD" in capsys.readouterr().err
    assert place.read_text() == said
