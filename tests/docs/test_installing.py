"""Lines that install us: in the index `mcl` is somebody else's package, and `mcl-intent` is nobody's yet, so
that no page and no message may send a reader there."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from mcl.core import distribution
from mcl.core.distribution import DISTRIBUTION, install_line

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

INSTALLS = re.compile(
    r"\b(?:pip[3x]?|pipx|uv|uv\s+pip|uv\s+tool|poetry|pdm|conda)\s+(?:-\S+\s+)*(?:install|add|run|inject|download|upgrade)\b"
    r"(?P<pip>[^\n#;&|]*)|\buvx\s(?P<uvx>[^\n#;&|]*)"
)
OURS = re.compile(r"mcl(?:[-_.]+intent)?(?![\w.-]*\.(?:whl|tar\.gz))(?![\w./-])", re.IGNORECASE)
WITH_EXTRA = re.compile(rf"(?<![\w./-])mcl(?:[-_.]+intent)?\[(?:{'|'.join(EXTRAS)})\b", re.IGNORECASE)
OTHERS = re.compile(r"\..*|__pycache__|node_modules|dist|build|demo|out")  # folders that are not ours
AFTER_A_PATH = re.compile(r"[\w./\\:]")


def names_in_the_index(text: str) -> list[str]:
    """The parts of a text that have an installer look for one of our names in the index."""
    found = [one[0] for one in WITH_EXTRA.finditer(text)]
    for line in INSTALLS.finditer(text.replace("\\\n", " ")):
        words = line["pip"] or line["uvx"] or ""
        found += [
            line[0]
            for one in OURS.finditer(words)
            if not AFTER_A_PATH.fullmatch(words[one.start() - 1 : one.start()])
        ]
    return found


@pytest.mark.parametrize(
    "text",
    [
        *(
            'pip install "mcl[mcp]"',
            "pip install mcl",
            "pip3 install -U mcl==0.1.0",
            "svg and png with mcl[graph]",
        ),
        *("python -m pip install 'mcl-intent[mcp]'", "pip install mcl_intent", "uvx mcl mcp serve"),
        *(
            "uvx --from mcl-intent mcl",
            "pipx install mcl",
            "uv tool install MCL",
            "uv pip install mcl.intent",
        ),
        *(
            "pip install -q x mcl>=0.1",
            "pipx run mcl",
            "uv add mcl",
            "pip install \\\n  mcl",
            "`pip install mcl`",
        ),
    ],
)
def test_a_line_that_looks_for_us_in_the_index_is_seen(text: str) -> None:
    assert names_in_the_index(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "mcl server add time -- uvx mcp-server-time",
            'pip install -e ".[mcp]"',
            "pip install --editable .",
        ),
        *(
            "pip install dist/mcl_intent-0.1.0-py3-none-any.whl",
            "pip install /src/mcl",
            "pip install ~/mcl[mcp]",
        ),
        *(
            'pip install "mcl_intent-0.1.0-py3-none-any.whl[mcp]"',
            "mcl mcp install --host zed",
            "mcl hook install x",
        ),
        *(
            "pip uninstall mcl",
            "pip install x  # for mcl",
            "pip install mcp",
            "uvx mcp-server-time; mcl tool list",
        ),
    ],
)
def test_a_line_that_leads_to_files_or_elsewhere_is_not(text: str) -> None:
    assert not names_in_the_index(text)


def texts() -> Iterator[tuple[Path, str]]:
    """All that is written here: messages and docstrings of programs, and whole files of any other kind."""
    for folder, inner, names in os.walk(ROOT):
        inner[:] = sorted(one for one in inner if one == ".ci" or not OTHERS.fullmatch(one))
        for path in (Path(folder, name) for name in sorted(names)):
            data = path.read_bytes() if path.is_file() and path != Path(__file__) else b"\0"
            if b"\0" not in data:
                text = data.decode(errors="replace")
                yield path, "\n".join(strings(text)) if path.suffix == ".py" else text


def strings(source: str) -> Iterator[str]:
    """Every text that a program may say, f-strings with {} for what is filled in."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a broken file that a test reads
        yield source
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(one.value if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_page_and_no_message_sends_anybody_to_the_index_for_us() -> None:
    seen = dict(texts())
    assert not [
        f"{path.relative_to(ROOT)}: {one}" for path, text in seen.items() for one in names_in_the_index(text)
    ]
    places = ("README.md", "Makefile", "mcl/plugins/train/cli.py", "docs/mcp.md", "editors/vscode/README.md")
    assert {ROOT / place for place in places} <= set(seen)


def test_we_are_called_one_name_everywhere() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert PROJECT["scripts"] == {"mcl": "mcl.cli.main:main"}
    for lock in ("requirements.lock", "requirements-dev.lock"):
        assert set(re.findall(r"(\S+) \(pyproject\.toml", (ROOT / lock).read_text())) == {DISTRIBUTION}


# ---- the line that a message gives -----------------------------------------------------------------------


def words_of(line: str) -> list[str]:
    """What is to be installed."""
    program, *words = shlex.split(line)
    assert (program, words[:3]) == (sys.executable, ["-m", "pip", "install"])
    return words[3:]


@pytest.mark.parametrize("extra", EXTRAS)
def test_in_a_checkout_the_line_installs_the_checkout(extra: str) -> None:
    assert words_of(install_line(extra)) == ["-e", f"{ROOT}[{extra}]"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The metadata of an installation that is no checkout; where it came from is for the test to say."""
    package = tmp_path / "site packages" / "mcl"
    folder = package.parent / "mcl_intent-0.1.0.dist-info"
    folder.mkdir(parents=True)
    needs = [f"Requires-Dist: {one}; extra == '{extra}'" for extra, them in EXTRAS.items() for one in them]
    needs += ["Requires-Dist: anyio>=4.9,<5"]
    (folder / "METADATA").write_text(
        "\n".join(["Metadata-Version: 2.4", "Name: mcl-intent", "Version: 0.1.0", *needs])
    )
    monkeypatch.setattr(distribution, "__file__", str(package / "distribution.py"))
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: PathDistribution(folder))
    return folder


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("source", ["mcl_intent-0.1.0-py3-none-any.whl", "a checkout, copied"])
def test_elsewhere_it_installs_what_this_came_from(
    installed: Path, tmp_path: Path, extra: str, source: str
) -> None:
    place = tmp_path / "née" / source
    place.parent.mkdir()
    place.touch()
    (installed / "direct_url.json").write_text(json.dumps({"url": place.as_uri()}))
    assert words_of(install_line(extra)) == [f"{place}[{extra}]"]


@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize(
    "origin",
    [
        None, "", "[]", "{", '{"url": 7}', '{"url": "file:///gone/mcl_intent-0.1.0-py3-none-any.whl"}',
        '{"url": "https://example.org/mcl.git", "vcs_info": {"vcs": "git"}}', '{"url": "file:///"}',
    ],
)  # fmt: skip
def test_where_that_is_gone_it_names_what_the_extra_is_made_of(
    installed: Path, extra: str, origin: str | None
) -> None:
    if origin is not None:
        (installed / "direct_url.json").write_text(origin)
    assert words_of(install_line(extra)) == EXTRAS[extra]
    assert words_of(install_line()) == ["anyio>=4.9,<5"]


def test_without_pip_it_is_uv_that_installs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "find_spec", lambda name: None)
    begins = shlex.join(["uv", "pip", "install", "--python", sys.executable])
    assert install_line("mcp").startswith(f"{begins} ")


# ---- what the first commands install ---------------------------------------------------------------------


def test_what_the_demo_installs_has_the_extra_mcp() -> None:
    pins = dict(
        re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    )
    assert {re.split(r"[<>=]", one)[0] for one in EXTRAS["mcp"]} <= set(pins)
    other = dict(
        re.findall(r"^([a-z0-9-]+)==([^ ;]+)", (ROOT / "requirements-dev.lock").read_text(), re.MULTILINE)
    )
    assert pins.items() <= {**pins, **other}.items()


def test_an_environment_under_our_old_name_loses_it_before_it_gets_the_new_one(tmp_path: Path) -> None:
    told = subprocess.run(
        ["make", "-n", f"VENV={tmp_path}/venv", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [line for line in told.stdout.splitlines() if " -m pip " in line]
    assert [line.split(" -m pip ")[1].split(" 2>")[0].split()[-1] for line in lines] == [
        *("requirements.lock", "mcl", ".")
    ]
    assert [" uninstall " in line for line in lines] == [False, True, False]
