"""Hooks: paths that a host, or another process, reads as something else than what they say here."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tests.agents.conftest import Project, Written
from tests.agents.hosting import ClaudeCode, GeminiCli


@pytest.fixture
def host(project: Project) -> ClaudeCode:
    """An agent whose work has every file of the folder."""
    (project.root / "src").mkdir()
    (project.root / "src/main.py").write_text("one\n")
    project.sign(Written("INT-001", scope=("**", "*")))
    assert project.select("INT-001").success
    return ClaudeCode(project.home, project.root)


@pytest.fixture
def person(tmp_path, monkeypatch) -> Path:
    """The home folder of whoever runs this."""
    (folder := tmp_path / "person").mkdir()
    entry = pwd.getpwuid(os.geteuid())
    told = pwd.struct_passwd((*entry[:5], str(folder), entry.pw_shell))
    monkeypatch.setattr(pwd, "getpwuid", lambda user: told)
    return folder


ODD = [
    *("~/x.txt", "~", "~root/x", "~/../x"),  # a home folder, where the host takes it for one
    *(" /etc/hostname", "\t/etc/hostname", "\u00a0/etc/hostname", "\ufeff/etc/hostname", "\u3000/etc/x"),
    *("src/main.py ", "src/main.py\n", " src/main.py", "src/new.py\u2003"),  # without its blanks
    *("src/e\u0301.py", "/etc/A\u030a", "src/\u212b.py"),  # in composed characters
]


@pytest.mark.parametrize("path", ODD, ids=ascii)
def test_a_path_that_hosts_read_as_another_one_is_neither_written_nor_read_on_our_word(host, path) -> None:
    told = host.pre("Write", {"file_path": path, "content": "x"})
    assert (told.verdict, told.reason.partition(":")[0]) == ("deny", "OUT_OF_SCOPE")
    assert host.pre("Read", {"file_path": path}).out == {}
    gemini = GeminiCli(host.home, host.cwd)
    assert gemini.pre("write_file", {"file_path": path, "content": "x"}).verdict == "deny"


def test_nor_where_only_the_other_reading_leads_into_a_governed_folder(
    project, host, tmp_path, person
) -> None:
    elsewhere = ClaudeCode(project.home, tmp_path)
    for path in (f" {project.root}/src/main.py", f"{project.root}/src/main.py "):
        assert elsewhere.pre("Write", {"file_path": path}).verdict == "deny", path
    (person / "work").symlink_to(project.root)
    assert elsewhere.pre("Write", {"file_path": "~/work/src/main.py"}).verdict == "deny"
    assert elsewhere.pre("Write", {"file_path": "~/elsewhere.txt"}).out == {}
    (tmp_path / "in").symlink_to(project.root / "src")
    assert elsewhere.pre("Write", {"file_path": "in/../main.py"}).verdict == "deny"
    assert elsewhere.pre("Write", {"file_path": "other/../main.py"}).out == {}
    assert elsewhere.pre("Write", {"file_path": f"~/../{project.home.path.name}/mcl.db"}).verdict == "deny"


def test_a_path_by_way_of_a_process_is_another_ones_than_the_hosts(project, tmp_path, monkeypatch) -> None:
    (project.root / "src/auth").mkdir(parents=True)
    project.sign(Written("INT-001", scope=("src/auth/**",)))
    assert project.select("INT-001").success
    host = ClaudeCode(project.home, project.root)
    monkeypatch.chdir(project.root / "src/auth")  # the hook is run there, and the host elsewhere
    (tmp_path / "here").symlink_to("/proc/self/cwd")
    for path in ("/proc/self/cwd/x.py", f"/proc/{os.getpid()}/cwd/x.py", f"{tmp_path}/here/x.py"):
        told = host.pre("Write", {"file_path": path, "content": "x"})
        assert (told.verdict, told.reason.partition(":")[0]) == ("deny", "OUT_OF_SCOPE"), path
        assert host.pre("Read", {"file_path": path}).out == {}, path
    assert host.pre("Write", {"file_path": f"{project.root}/src/auth/x.py"}).verdict == "allow"


def test_a_tool_that_looks_for_a_file_of_that_name_is_told_the_whole_path(project, host) -> None:
    gemini = GeminiCli(project.home, project.root)
    edit = {"old_string": "one", "new_string": "two"}
    assert gemini.pre("replace", {"file_path": "main.py", **edit}).verdict == "deny"
    assert gemini.pre("replace", {"file_path": "src/main.py", **edit}).verdict == "allow"
    assert gemini.pre("replace", {"file_path": f"{project.root}/new.py", **edit}).verdict == "allow"
    assert gemini.pre("write_file", {"file_path": "new.py", "content": "x"}).verdict == "allow"


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".claude/hooks/check.sh",
            ".claude/plugins/x/plugin.json",
            ".gemini/extensions/x/gemini-extension.json",
        ),
        *(
            ".gemini/policies/a.toml",
            ".claude/settings.json.",
            ".mcp.json::$DATA",
            ".cl\u200baude/settings.json",
        ),
        *("\uff0emcp.json", "deep/.Gemini/Hooks/x"),
    ],
    ids=ascii,
)
def test_what_hosts_start_is_closed_in_every_spelling_that_a_file_system_folds(project, host, path) -> None:
    told = host.pre("Write", {"file_path": f"{project.root}/{path}", "content": "x"})
    assert (told.verdict, told.reason.partition(":")[0]) == ("deny", "PROTECTED_PATH")
