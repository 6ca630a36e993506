"""What the pages in docs/ say is true: commands, examples, links, codes, the skill that they teach."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

import mcl
from mcl.cli.app import app_for
from mcl.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PYTHON = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:```text\n(?P<prints>.*?)^```$)?", re.DOTALL | re.MULTILINE
)
EXAMPLES = [
    pytest.param(found["code"], found["prints"], id=f"{page.stem}-{number}")
    for page in (*PAGES, ROOT / "README.md")
    for number, found in enumerate(PYTHON.finditer(page.read_text()), 1)
]
MENTION = re.compile(r"^\$ (mcl .*)$|`(mcl [^`\n]+)`", re.MULTILINE)
NOT_CODES = {
    "CAP_PERFMON",
    "CAP_SYS_ADMIN",
    "CAP_SYS_PTRACE",
    "INTENT",
    "COLUMNS",
    "NO_COLOR",
    "MCL_HOME",
    "MCL_PASSPHRASE",
    "MCL_DEBUG",
    "BEFOREHAND",
    "EXAMPLES",
    "KINDS",
    "PAYLOADS",
    "PT20M",
    "SHIPPED",
    "STAGES",
    "P7D",
}
HELP = {"-h", "--help"}


def block(page: str, language: str) -> str:
    """The first block of a language on a page."""
    found = re.search(
        rf"^```{language}\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE
    )
    assert found is not None
    return found[1]


def mentioned(page: Path) -> list[str]:
    """The command lines that a page shows, less redirections and comments."""
    lines = (line or code for line, code in MENTION.findall(page.read_text()))
    return [re.split(r"\s#\s| [<>|]", line)[0].rstrip() for line in lines]


@cache
def program() -> Any:
    """All of mcl's commands, which take a tenth of a second to put together."""
    return typer.main.get_command(app_for())


def looked_up(line: str) -> tuple[str, set[str]]:
    """The full name of the command in a line, and its options; fails for what the program does not have."""
    command = program()
    words, name = shlex.split(line)[1:], "mcl"
    while getattr(command, "commands", None):
        if words and words[0] in command.commands:
            name, command = f"{name} {words[0]}", command.commands[words.pop(0)]
        elif name in ("mcl log", "mcl plan"):  # `mcl log @last` shows it
            name, command = f"{name} show", command.commands["show"]
        elif name == "mcl" and line.startswith('mcl "'):  # a goal
            name, command = "mcl do", command.commands["do"]
        elif name == "mcl review" and words:  # `mcl review app.py` reviews it
            name, command = f"{name} file", command.commands["file"]
        else:
            assert not words or words[0].startswith("-"), f"{line!r}: there is no {words[0]}"
            break
    known = {option for parameter in command.params for option in parameter.opts}
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert used <= known | HELP, f"{line!r}: {name} has no {', '.join(sorted(used - known))}"
    return name, used


def all_commands() -> dict[str, set[str]]:
    """Every command that runs something, with its options."""
    found: dict[str, set[str]] = {}

    def walk(command: Any, name: str) -> None:
        options = {one.opts[0] for one in command.params if one.param_type_name == "option"}
        if not getattr(command, "commands", None) or getattr(command, "invoke_without_command", False):
            found[name] = options
        for child, below in getattr(command, "commands", {}).items():
            walk(below, f"{name} {child}")

    walk(program(), "mcl")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    for line in mentioned(page):
        looked_up(line)


def test_the_page_of_the_command_line_shows_every_command_and_option() -> None:
    page = ROOT / "docs" / "cli.md"
    text, shown = page.read_text(), dict[str, set[str]]()
    for line in mentioned(page):
        name, used = looked_up(line)
        shown.setdefault(name, set()).update(used)
    commands = all_commands()
    assert set(commands) <= set(shown), sorted(set(commands) - set(shown))
    missing = {option for options in commands.values() for option in options if option not in text}
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_on_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(
            ("http:", "https:", "../mcl/model/data/")
        ):  # the model card comes with the weights
            continue
        path, _, heading = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", place.read_text(), re.MULTILINE)
            plain = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
            assert heading in plain, target


@pytest.mark.attended  # who writes a program uses a home of their own
@pytest.mark.parametrize(("code", "prints"), EXAMPLES)
def test_an_example_in_python_prints_what_the_page_says(
    code: str,
    prints: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["example.py"])
    (tmp_path / "notes").mkdir()  # which goals of examples look for
    exec(compile(code, "example.py", "exec"), {"__name__": "example"})
    if prints is not None:
        assert capsys.readouterr().out == prints


def test_the_examples_in_python_are_typed_as_a_strict_program_is(tmp_path: Path) -> None:
    for example in EXAMPLES:
        name = str(example.id).replace("-", "_").lower()
        (tmp_path / f"{name}.py").write_text(str(example.values[0]))
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *map(str, sorted(tmp_path.glob("*.py")))],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_check_by_hand_believes_a_row_and_nothing_that_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["check.py"])
    names: dict[str, Any] = {"__name__": "example"}
    exec(block("journal.md", "python"), names)
    with mcl.open_home(tmp_path / "home") as home:
        row = home.journal.record("record.example", {"note": "hello"})
        user, agent = home.keyring.user.did, home.keyring.agent.did
    names["check"](row.wire, agent)
    assert f"self_hash {row.self_hash}\nleaf {row.leaf.hex()}" in capsys.readouterr().out
    with pytest.raises(AssertionError):
        names["check"](row.wire, user)
    with pytest.raises(Exception, match=r"[Ss]ignature"):
        names["check"](row.wire.replace(b"hello", b"hullo"), agent)


def test_every_code_on_a_page_is_one_that_the_program_gives() -> None:
    sources = [path.read_text() for name in ("ir", "executor", "mcl") for path in (ROOT / name).rglob("*.py")]
    sources += [path.read_text() for path in (ROOT / "mcl").rglob("refusals.toml")]
    known = {code for text in sources for code in re.findall(r'"([A-Z][A-Z0-9_]+)"', text)}
    known |= {f"HEAD_{code}" for code in known}  # what is wrong with a saved head
    said = {code for page in PAGES for code in re.findall(r"`([A-Z][A-Z0-9_]+)`", page.read_text())}
    assert said - NOT_CODES <= known, sorted(said - NOT_CODES - known)


@pytest.fixture
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The skill that the page teaches, in a folder of its own."""
    folder = tmp_path / "skills" / "read-file"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(block("skills.md", "mtx"))
    (folder / "plan.yaml").write_text(block("skills.md", "yaml"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


def test_the_skill_that_the_page_teaches_is_sound_and_has_the_digest_shown(
    taught: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["skill", "check", "--strict", "skills/read-file"]) == 0
    assert main(["skill", "fmt", "--check", "skills/read-file"]) == 0
    capsys.readouterr()
    assert main(["skill", "hash", "skills/read-file"]) == 0
    assert capsys.readouterr().out in (ROOT / "docs" / "skills.md").read_text()


def test_the_mistakes_that_the_page_shows_are_told_as_it_shows_them(
    taught: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (taught / "SKILL.mtx").read_text()
    for right, wrong in (("analyze", "analyse"), ("  required", "  requird"), ("{prose}", "{pros}")):
        text = text.replace(right, wrong, 1)
    (taught / "SKILL.mtx").write_text(text)
    capsys.readouterr()
    assert main(["skill", "check", "skills/read-file"]) == 6
    shown = "$ mcl skill check skills/read-file\n" + capsys.readouterr().out
    assert shown in (ROOT / "docs" / "skills.md").read_text()


def test_every_tool_is_described_as_its_manifest_has_it() -> None:
    from mcl.catalog.tools import registry

    text = (ROOT / "docs" / "tools.md").read_text()
    cells = [
        line.strip("|").split("|") for line in text.splitlines() if re.match(r"\| `[a-z]+/[a-z]+@", line)
    ]
    rows = {name.strip(" `"): [cell.strip() for cell in more] for name, *more in cells}
    tools = {tool.uri.removeprefix("matrix://tool/"): tool for tool in registry().manifests}
    assert list(rows) == list(tools)
    for name, (arguments, effects, safety, answer) in rows.items():
        tool = tools[name]
        plain = re.sub(r"\([^)]*\)", "", arguments)
        assert [word.strip(" *") for word in plain.split(",") if word.strip()] == list(tool.properties), name
        assert re.findall(r"\*([a-z_]+)\*", arguments) == tool.args.get("required", []), name
        for argument, low, high in re.findall(r"([a-z_]+)\*? \((\d+)–(\d+)\)", arguments):
            schema = tool.properties[argument]
            assert (schema["minimum"], schema["maximum"]) == (int(low), int(high)), f"{name} {argument}"
        assert effects.partition(";")[0].split(", ") == list(tool.effects), name
        assert safety == tool.safety, name
        fields: Any = tool.output["properties"]
        assert set(answer.split(", ")) == set(fields) - {"text"}, name
