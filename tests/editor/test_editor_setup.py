"""What docs/editor.md and the extension for VS Code say is true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from editor_texts import SKILL
from textmate_engines import GRAMMAR, ROOT

PAGE = (ROOT / "docs" / "editor.md").read_text()
EXTENSION = ROOT / "editors" / "vscode"


def block(language: str) -> str:
    """The first block of a language on the page."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_extension_uses_the_grammar_and_the_command_of_the_package() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    (language,) = package["contributes"]["languages"]
    (grammar,) = package["contributes"]["grammars"]
    assert (language["id"], language["extensions"]) == ("mtx", [".mtx"])
    assert grammar["scopeName"] == json.loads(GRAMMAR.read_text())["scopeName"]
    assert Path(grammar["path"]).name == GRAMMAR.name
    assert package["contributes"]["configuration"]["properties"]["mtx.server"]["default"] == [
        "mcl",
        "skill",
        "lsp",
    ]
    assert GRAMMAR.name in (EXTENSION / "grammar.js").read_text()


def test_the_extension_indents_what_the_formatter_indents() -> None:
    rules = json.loads((EXTENSION / "language-configuration.json").read_text())["indentationRules"]
    depth = 0
    for line in re.search(r"§PROCEDURE\n(.*?)\n\n", SKILL, re.DOTALL)[1].split("\n"):  # type: ignore[index]
        depth -= bool(re.search(rules["decreaseIndentPattern"], line))
        assert line.startswith("  " * depth)
        assert not line[2 * depth :].startswith(" ")
        depth += bool(re.search(rules["increaseIndentPattern"], line))
    assert depth == 0


def test_the_settings_for_helix_name_the_command() -> None:
    settings = tomllib.loads(block("toml"))
    (language,) = settings["language"]
    server = settings["language-server"][language["language-servers"][0]]
    assert [server["command"], *server["args"]] == ["mcl", "skill", "lsp"]
    assert language["file-types"] == ["mtx"]


ASK = """
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end)
local found = {}
for _, one in ipairs(vim.diagnostic.get(0)) do
  table.insert(found, string.format("%s %d:%d-%d", one.code, one.lnum, one.col, one.end_col))
end
io.stdout:write(vim.bo.filetype .. "\\n" .. table.concat(found, "\\n"))
vim.cmd("qa!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="no Neovim here")
def test_the_lines_for_neovim_show_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "SKILL.mtx").write_text(SKILL.replace("find analyze", '"🙂" x'))
    (tmp_path / "init.lua").write_text(block("lua"))
    (tmp_path / "ask.lua").write_text(ASK)
    (tmp_path / "mcl").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcl "$@"\n')
    (tmp_path / "mcl").chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    done = subprocess.run(
        [
            "nvim",
            "--headless",
            "-n",
            "-i",
            "NONE",
            "-u",
            "init.lua",
            "demo/SKILL.mtx",
            "-c",
            "luafile ask.lua",
        ],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "MCL_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    shown = (done.stdout + done.stderr).split()
    assert shown[0] == "mtx", done
    assert "JUNK" in shown
    # Neovim counts bytes: mcl.verbs="🙂" x
    assert "4:17-18" in shown
