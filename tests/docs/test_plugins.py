"""The page on plug-ins is followed to the letter; what is said where an extra, or a plug-in, is not sound."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = re.compile(r'^```\w+ title="(?P<name>[^"]+)"\n(?P<text>.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A folder with a note, to stand in."""
    (tmp_path / "yard/notes").mkdir(parents=True)
    (tmp_path / "yard/notes/monday.txt").write_text("call the plumber about the sink\n")
    return tmp_path / "yard"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A folder of packages with the distribution of the page, as an installer leaves it."""
    site = tmp_path / "site"
    files = {found["name"]: found["text"] for found in FILE.finditer((ROOT / "docs/plugins.md").read_text())}
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    [(group, points)] = project["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    return site


def mcl(
    yard: Path, *command: str, site: Path | None = None, without: str = "", given: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own. without: modules that cannot be imported there."""
    cut = f"import sys; sys.modules.update(dict.fromkeys({without.split()!r}))\n" if without else ""
    script = cut + "import sys; from mcl.cli.main import main; sys.exit(main(sys.argv[1:]))"
    path = os.pathsep.join(str(one) for one in (site, ROOT) if one)
    own = {"MCL_HOME": str(yard.parent / "home"), "PYTHONPATH": path, "COLUMNS": "200", "MCL_NO_HELPER": "1"}
    return subprocess.run(
        [sys.executable, "-c", script, *command],
        cwd=yard,
        env=os.environ | own,
        capture_output=True,
        text=True,
        input=given,
    )


def test_the_plug_in_of_the_page_adds_a_command_a_tool_and_a_skill(yard: Path, words: Path) -> None:
    mcl(yard, "init", "--unattended", site=words)
    assert mcl(yard, "words", "to be or not to be", site=words).stdout == "6\n"
    assert "Counts the words" in mcl(yard, "tool", "show", "words/count", site=words).stdout
    compiled = mcl(
        yard, "compile", "--skill", "count-words", "count the words in notes/monday.txt", site=words
    )
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    assert mcl(yard, "accept", "@last", "--yes", site=words).returncode == 0
    ran = mcl(yard, "run", "@last", site=words)
    assert "6 words" in ran.stdout, ran.stdout + ran.stderr
    assert mcl(yard, "log", "verify", site=words).returncode == 0
    assert mcl(yard, "words", "x").returncode != 0, "and without it there is no such command"


@pytest.mark.parametrize(("most", "code"), [(6, 0), (5, 5)])
def test_the_plug_in_of_the_page_looks_at_promises_of_its_kind(
    yard: Path, words: Path, most: int, code: int
) -> None:
    mcl(yard, "init", "--unattended", site=words)
    data = json.dumps({"path": "notes/monday.txt", "words": most})
    said = ("compile", "--skill", "count-words", "count the words in notes/monday.txt")
    given = ("--constraint", f"x:words.atmost={data}", "--json")
    compiled = json.loads(mcl(yard, *said, *given, site=words).stdout)
    (promise,) = compiled["plan"]["promises"]
    assert promise["standing"] == "checked", promise
    assert mcl(yard, "accept", "@last", "--yes", site=words).returncode == 0
    without = mcl(yard, "run", "@last")  # the plug-in is gone: nothing begins
    assert without.returncode == 4, without.stdout + without.stderr
    ran = mcl(yard, "run", "@last", "--json", site=words)
    assert ran.returncode == code, ran.stdout + ran.stderr
    (criterion,) = json.loads(ran.stdout.splitlines()[-1])["criteria"]
    assert criterion["holds"] is (code == 0)


def test_a_plug_in_says_nothing_of_commands_that_are_not_its_own(yard: Path, words: Path) -> None:
    rows = (
        '[commands]\nwords = { who = "shows" }\naccept = { who = "shows" }\n"key new" = { who = "agent" }\n'
    )
    (words / "mcl_words/commands.toml").write_text(rows)
    mcl(yard, "init", site=words)  # a person's home
    refused = mcl(yard, "key", "new", "--role", "agent", site=words)
    assert refused.returncode == 4, refused.stdout + refused.stderr


def test_a_plug_in_that_cannot_be_loaded_stops_what_is_begun_and_says_which(yard: Path, words: Path) -> None:
    (words / "mcl_words/plugin.py").write_text("raise RuntimeError('no good')\n")
    done = mcl(yard, "list", site=words)
    assert done.returncode not in (0, 70)
    assert "PLUGIN_BROKEN" in done.stderr
    assert "no good" in done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(r"pip uninstall .*mcl-words$", done.stderr, re.MULTILINE), "what takes it away"


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("--help", "mcl.plugins.agents.plugin"),
        ("list", "mcl.plugins.agents.plugin"),
        ("work", "mcl.plugins.agents.cli.work"),
    ],
)
def test_a_shipped_plug_in_that_cannot_be_loaded_is_no_fault_of_mcl(
    yard: Path, command: str, module: str
) -> None:
    done = mcl(yard, command, without=module)
    assert done.returncode == 2, done.stderr
    assert "PLUGIN_BROKEN" in done.stderr
    assert "agents" in done.stderr
    assert "install it again" in done.stderr


def test_the_version_and_hooks_are_answered_beside_a_broken_plug_in_of_others(
    yard: Path, words: Path
) -> None:
    event = json.dumps(
        {
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(yard),
            "tool_name": "Read", "tool_input": {"file_path": str(yard / "notes/monday.txt")},
        }
    )  # fmt: skip
    hook = ("hook", "pre-tool-use", "--host", "claude-code")
    mcl(yard, "init")
    sound = mcl(yard, *hook, site=words, given=event)
    assert sound.returncode == 0, sound.stderr
    (words / "mcl_words/plugin.py").write_text("raise RuntimeError('no good')\n")
    broken = mcl(yard, *hook, site=words, given=event)
    assert (broken.returncode, broken.stdout) == (0, sound.stdout)
    assert mcl(yard, "--version", site=words).returncode == 0


def test_a_plug_in_of_others_has_no_say_in_folders_and_is_told(yard: Path, words: Path) -> None:
    plugin = words / "mcl_words/plugin.py"
    plugin.write_text(plugin.read_text().replace("skills=True", 'skills=True, checkouts="mcl_words.say:Say"'))
    done = mcl(yard, "list", site=words)
    assert done.returncode == 2
    assert "PLUGIN_BROKEN" in done.stderr
    assert "checkouts" in done.stderr


def test_a_plug_in_of_others_has_its_extra_of_its_own_distribution(yard: Path, words: Path) -> None:
    plugin = words / "mcl_words/plugin.py"
    plugin.write_text(plugin.read_text().replace("skills=True", 'skills=True, needs=("not_there",)'))
    refused = mcl(yard, "words", "x", site=words)
    assert (refused.returncode, "EXTRA_MISSING" in refused.stderr) == (4, True)
    assert "mcl-words[words]" in refused.stderr
    assert f"{ROOT}[" not in refused.stderr, "mcl's own distribution has no such extra"


@pytest.mark.parametrize(
    ("goal", "extra", "without"),
    [
        ("summarise sales.csv", "data", "pygal"),
        ("remind me to call the plumber tomorrow at 9", "data", "icalendar"),
        ("fetch https://example.org/page", "data", "lxml"),
    ],
)
def test_what_an_extra_is_missing_for_is_said_before_anything_is_signed(
    yard: Path, goal: str, extra: str, without: str
) -> None:
    mcl(yard, "init", "--unattended")
    compiled = mcl(yard, "compile", goal, "--no-ai", without=without)
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    assert f"the extra {extra}" in compiled.stdout
    offered = compiled.stdout.splitlines()[-4:]
    assert f"[{extra}]" in offered[1], "the line that installs it, in the place of accept"
    assert not any(line.strip().startswith("mcl accept") for line in offered)
    checked = mcl(yard, "plan", "check", "@last", without=without)
    assert (checked.returncode, "EXTRA_MISSING" in checked.stdout) == (11, True)
    refused = mcl(yard, "accept", "@last", "--yes", without=without)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert "EXTRA_MISSING" in refused.stderr
    assert f"[{extra}]" in refused.stderr, "the line that installs it"


def test_skills_and_tools_say_which_extra_they_need_that_is_missing(yard: Path) -> None:
    for words, name in (("skill", "data-summary"), ("tool", "data/summary")):
        shown = mcl(yard, words, "list", without="pygal").stdout
        told = " ".join(shown.partition(f"\n{name} ")[2].split())
        assert 0 < told.index("needs the extra data") < 300
        assert "[data]" in mcl(yard, words, "show", name, without="pygal").stdout
        assert "needs the extra" not in mcl(yard, words, "list").stdout


@pytest.mark.parametrize(
    ("command", "without"),
    [(("review", "file", "notes/monday.txt"), "bandit"), (("skill", "lsp"), "pygls")],
)
def test_a_command_whose_extra_is_missing_says_what_to_install(
    yard: Path, command: tuple[str, ...], without: str
) -> None:
    mcl(yard, "init", "--unattended")
    refused = mcl(yard, *command, without=without)
    assert refused.returncode == 4
    assert "EXTRA_MISSING" in refused.stderr
    assert "install" in refused.stderr
