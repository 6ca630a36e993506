"""Drift: one of each kind is planted in a repository that is sound otherwise, and told."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from orchards import build
from sound import FILES, git, looked, sound, write

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from mcl.catalog.contracts import Contract, contracts_of, json_document, safety_document
from mcl.catalog.tools import registry
from mcl.cli.main import main
from mcl.core.errors import ReviewError
from mcl.core.home import open_home
from mcl.plugins.review.drift.drift import PARTS, DriftReport, find_drift
from mcl.plugins.review.drift.rules import MOST, drift_rules
from mcl.plugins.review.maps.documents import documents
from mcl.plugins.review.memory.decision import write_adr
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.usecases.release import review_drift

Plant = Callable[[Path], None]


def said(path: str, old: str, new: str) -> Plant:
    """A file that says something else."""

    def plant(folder: Path) -> None:
        text = (folder / path).read_text()
        assert old in text
        (folder / path).write_text(text.replace(old, new))

    return plant


def gone(path: str) -> Plant:
    """A file that is taken away."""
    return lambda folder: (folder / path).unlink()


def there(path: str, text: str) -> Plant:
    """A file that is put there."""
    return lambda folder: write(folder, path, text)


# What is planted, which rule tells it, and where.
PLANTED: dict[str, tuple[Plant, str, str]] = {
    "the module": (said("shop/__init__.py", "1.4.0", "1.4.1"), "VERSION_DIFFERS", "shop/__init__.py:1"),
    "the file VERSION": (said("VERSION", "1.4.0", "1.3.0"), "VERSION_DIFFERS", "VERSION:1"),
    "package.json": (said("package.json", "1.4.0", "2.0.0"), "VERSION_DIFFERS", "package.json:1"),
    "Cargo.toml": (said("Cargo.toml", "1.4.0", "1.4.0-rc.1"), "VERSION_DIFFERS", "Cargo.toml:3"),
    "setup.cfg": (said("setup.cfg", "1.4.0", "1.4"), "", ""),  # 1.4 is 1.4.0
    "setup.cfg of another": (said("setup.cfg", "1.4.0", "1.5"), "VERSION_DIFFERS", "setup.cfg:3"),
    "setup.py": (
        there("setup.py", 'from setuptools import setup\nsetup(name="shop", version="1.2")\n'),
        "VERSION_DIFFERS",
        "setup.py:2",
    ),
    "a lock file": (
        there("package-lock.json", '{"version": "1.3.9"}'),
        "VERSION_DIFFERS",
        "package-lock.json:1",
    ),
    "the changelog": (said("CHANGELOG.md", "[1.4.0]", "[1.3.9]"), "CHANGELOG_BEHIND", "CHANGELOG.md:3"),
    "what is unreleased": (
        said("CHANGELOG.md", "## [1.4.0]", "## [Unreleased]\n\n- Sells pears.\n\n## [1.4.0]"),
        "CHANGELOG_UNRELEASED",
        "CHANGELOG.md:3",
    ),
    "all unreleased": (
        there("CHANGELOG.md", "# Changes\n\n## Unreleased\n\n- Sells pears.\n"),
        "CHANGELOG_UNRELEASED",
        "CHANGELOG.md:3",
    ),
    "the badge": (said("README.md", "version-1.4.0", "version-1.3.0"), "README_BADGE", "README.md:3"),
    "the install line": (said("README.md", "shop==1.4.0", "shop==1.3.0"), "README_PIN", "README.md:6"),
    "a broken pyproject": (there("pyproject.toml", "[project\n"), "FILE_BROKEN", "pyproject.toml"),
    "a broken package.json": (there("package.json", "[" * 100_000), "FILE_BROKEN", "package.json"),
    "an entry point": (
        said("pyproject.toml", "till:main", "till:open"),
        "ENTRY_POINT_GONE",
        "pyproject.toml",
    ),
    "the module of one": (
        said("pyproject.toml", "till:main", "tills:main"),
        "ENTRY_POINT_GONE",
        "pyproject.toml",
    ),
    "a named file": (
        said("pyproject.toml", '["LICENSE"]', '["COPYING"]'),
        "NAMED_FILE_GONE",
        "pyproject.toml",
    ),
    "a script": (gone("scripts/count.py"), "COMMAND_FILE_GONE", "README.md:8"),
    "a page's script": (
        said("docs/guide.md", "count.py", "counts.py"),
        "COMMAND_FILE_GONE",
        "docs/guide.md:6",
    ),
    "a module": (said("README.md", "-m shop.till", "-m shop.tiller"), "COMMAND_MODULE_GONE", "README.md:7"),
    "a target": (said("Makefile", "check", "test"), "COMMAND_TARGET_GONE", "README.md:8"),
    "a script of npm": (said("package.json", "build", "make"), "COMMAND_TARGET_GONE", "README.md:9"),
    "an import": (said("README.md", "from shop.till", "from shop.tiller"), "IMPORT_GONE", "README.md:13"),
    "a link": (said("README.md", "docs/guide.md", "docs/guides.md"), "LINK_GONE", "README.md:16"),
    "a tool of the code": (
        said("shop/server.py", '@mcp.tool(name="count")', '@mcp.tool(name="counts")'),
        "TOOL_UNDOCUMENTED",
        "shop/server.py:10",
    ),
    "a tool that is gone": (
        said("shop/server.py", '@mcp.tool(name="count")\n', ""),
        "TOOL_GONE",
        "docs/tool_contracts.json",
    ),
    "a tool that is not in the table": (
        said("docs/TOOL_SAFETY.md", "| `count` | A |\n", ""),
        "TOOL_UNDOCUMENTED",
        "docs/TOOL_SAFETY.md",
    ),
    "a class": (said("docs/TOOL_SAFETY.md", "| C |", "| A |"), "CLASS_DIFFERS", "docs/TOOL_SAFETY.md"),
    "a count": (
        said("docs/tool_contracts.json", '"count": 2', '"count": 3'),
        "COUNT_DIFFERS",
        "docs/tool_contracts.json",
    ),
    "a row twice": (
        said("docs/TOOL_SAFETY.md", "| `sell` | C |", "| `sell` | C |\n| `sell` | C |"),
        "TOOL_TWICE",
        "docs/TOOL_SAFETY.md",
    ),
    "a broken document": (
        there("docs/tool_contracts.json", "{"),
        "DOCUMENT_UNREADABLE",
        "docs/tool_contracts.json",
    ),
    "one document alone": (gone("docs/TOOL_SAFETY.md"), "DOCUMENT_MISSING", "docs/TOOL_SAFETY.md"),
    "a tool on no page": (said("README.md", "`count`", "more"), "TOOL_UNLISTED", "docs"),
    "broken maps": (
        there("generated/architecture/architecture_map.json", "{}"),
        "MAPS_BROKEN",
        "generated/architecture/ownership_map.json",
    ),
    "a decision that is not known": (
        there(
            "architecture_memory/decisions/ADR-0001-no-orm.md",
            "---\nid: ADR-0001\ntitle: No ORM\nstatus: accepted\nkind: decisions\ndate: 2026-11-22\n---\n\n"
            "# ADR-0001: No ORM\n\nSQL by hand.\n",
        ),
        "DECISION_UNKNOWN",
        "architecture_memory/decisions/ADR-0001-no-orm.md",
    ),
    "a decision that cannot be read": (
        there("architecture_memory/decisions/ADR-0001-no-orm.md", "No ORM\n"),
        "DECISION_BROKEN",
        "architecture_memory/decisions/ADR-0001-no-orm.md:1",
    ),
}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound repository and a home, to be copied."""
    place = tmp_path_factory.mktemp("sound")
    sound(place / "shop")
    open_home(place / "home", unattended=True).close()
    return place


@pytest.fixture
def shop(built: Path, tmp_path: Path) -> Path:
    """A sound repository of one's own."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path / "shop"


@pytest.fixture
def home(shop: Path) -> Iterator[Home]:
    """A home beside it."""
    with Home.open(shop.parent / "home") as found:
        yield found


def codes(report: DriftReport) -> list[tuple[str, str]]:
    """What is told, and where."""
    return [(one.code, one.place) for one in report.flaws]


def test_maps_behind_a_link_are_not_to_be_built_again(shop: Path, home: Home) -> None:
    (shop / "generated").mkdir()
    (shop / "generated/architecture").symlink_to(shop.parent)
    [flaw] = [one for one in review_drift(shop, home=home).flaws if one.code == "MAPS_BROKEN"]
    assert flaw.fix.startswith("take the link away")


def test_a_sound_repository_has_no_drift(shop: Path, home: Home) -> None:
    report = review_drift(shop, home=home)
    assert codes(report) == []
    assert (report.version, report.files) == ("1.4.0", len(FILES))


@pytest.fixture(scope="session")
def contracts() -> dict[str, Contract]:
    """What the tools of this build promise."""
    return contracts_of(registry())


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_drift_is_told_where_it_is(
    kind: str, tmp_path: Path, built: Path, contracts: dict[str, Contract]
) -> None:
    plant, code, place = PLANTED[kind]
    for path, text in FILES.items():
        write(tmp_path, path, text)
    plant(tmp_path)
    with Home.open(built / "home") as home:
        memories = ReviewMemories(home, tmp_path)
        report = find_drift(looked(tmp_path), contracts=contracts, memories=memories, cache=tmp_path)
    assert (code, place) in codes(report) if code else not report.flaws


def test_every_rule_of_what_can_be_planted_is_planted() -> None:
    elsewhere = {  # in tests of their own, or of the tools of this build
        *("MAPS_STALE", "DECISION_GONE", "DECISION_DIFFERS", "DECISION_FORGOTTEN", "DECISION_FILES"),
        *("CONTRACT_DIFFERS", "DOCUMENT_STALE", "TOO_MANY"),
    }
    assert {one.code for one in drift_rules()} - elsewhere == {
        code for _, code, _ in PLANTED.values() if code
    }


def test_every_rule_has_a_reason_and_a_fix() -> None:
    for rule in drift_rules():
        assert rule.reason
        assert rule.fix
        assert rule.about in PARTS


def test_decisions_and_their_files_are_compared(shop: Path, home: Home) -> None:
    kept, place = ReviewMemories(home, shop).decisions, Workspace(shop)
    first, _ = kept.decide("No ORM", decision="SQL by hand.", files=["shop/store.py"], workspace=place)
    second, _ = kept.decide("One till", decision="One.", files=["shop/**"], workspace=place)
    third, _ = kept.decide("No cash", decision="Cards.", workspace=place)
    for one in (first, second, third):
        write(shop, one.path, write_adr(one).decode())
    kept.forget(third.id)
    (shop / second.path).unlink()
    said(first.path, "by hand", "by a library")(shop)
    found = codes(review_drift(shop, home=home))
    assert ("DECISION_DIFFERS", first.path) in found
    assert ("DECISION_GONE", second.path) in found
    assert ("DECISION_FORGOTTEN", third.path) in found
    assert [one for one in found if one[0] == "DECISION_FILES"] == [("DECISION_FILES", first.path)]


def test_maps_that_are_old_are_told(shop: Path, home: Home) -> None:
    for path, data in documents(build(Workspace(shop))).items():
        write(shop, path, data.decode())
    assert codes(review_drift(shop, home=home)) == []
    write(shop, "shop/till.py", "def main():\n    return 1\n")
    [flaw] = review_drift(shop, home=home).flaws
    assert (flaw.code, flaw.place) == ("MAPS_STALE", "generated/architecture")
    assert flaw.message == "files: 1 changed (shop/till.py)"


def test_documents_of_our_tools_are_held_to_the_tools_of_this_build(
    shop: Path, home: Home, contracts: dict[str, Contract]
) -> None:
    write(shop, "docs/tool_contracts.json", json_document(contracts))
    write(shop, "docs/TOOL_SAFETY.md", safety_document(contracts))
    write(shop, "docs/tools.md", "\n".join(f"`{name}`" for name in contracts))
    assert codes(review_drift(shop, home=home)) == []
    document = json.loads((shop / "docs/tool_contracts.json").read_text())
    document["tools"][0]["timeout_ms"] += 1
    write(shop, "docs/tool_contracts.json", json.dumps(document))
    assert ("CONTRACT_DIFFERS", "docs/tool_contracts.json") in codes(review_drift(shop, home=home))
    write(shop, "docs/tool_contracts.json", json_document(contracts) + "\n")
    assert ("DOCUMENT_STALE", "docs/tool_contracts.json") in codes(review_drift(shop, home=home))


def test_of_one_kind_a_bounded_number_is_told_and_how_many_more(shop: Path, home: Home) -> None:
    write(shop, "docs/links.md", "".join(f"[x](gone-{number}.md)\n" for number in range(MOST + 7)))
    report = review_drift(shop, home=home)
    assert sum(one.code == "LINK_GONE" for one in report.flaws) == MOST
    assert [one.message for one in report.flaws if one.code == "TOO_MANY"] == ["7 more of LINK_GONE"]


def test_what_belongs_to_the_reader_or_the_past_is_no_drift(shop: Path, home: Home) -> None:
    write(
        shop,
        "docs/using.md",
        "# Using\n\n```console\n$ python app.py\n$ python -m flask run\n$ cd elsewhere && make everything\n"
        "$ python scripts/<name>.py\n$ pip install -r requirements.txt\n$ cat scripts/output.txt\n```\n\n"
        "[site](/guide/), [ref](shop.till), [away](https://example.org/x.md), `[no](link.md)`\n\n"
        "```md\n[no](gone.md)\n```\n\n```python\nimport requests\nfrom .till import main\n```\n",
    )
    write(shop, "docs/changelog.md", "```sh\npython scripts/old.py\n```\n[x](old.md)\n")
    assert codes(review_drift(shop, home=home)) == []


def test_without_git_the_files_are_looked_at_all_the_same(shop: Path, home: Home) -> None:
    shutil.rmtree(shop / ".git")
    said("VERSION", "1.4.0", "1.3.0")(shop)
    assert codes(review_drift(shop, home=home)) == [("VERSION_DIFFERS", "VERSION:1")]


def test_no_link_of_a_hostile_repository_is_followed(shop: Path, home: Home, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("9.9.9\n")
    (shop / "VERSION").unlink()
    (shop / "VERSION").symlink_to(tmp_path / "outside")
    (shop / "docs" / "guide.md").unlink()
    os.mkfifo(shop / "docs" / "guide.md")
    (shop / "CHANGELOG.md").write_bytes(b"## \xff 9.9\n" * 10)
    assert "9.9" not in json.dumps(review_drift(shop, home=home).to_json())


def test_names_and_texts_made_to_take_long_end_soon(shop: Path, home: Home) -> None:
    for path, text in {
        "README.md": "![x](" * 100_000 + "$ " * 100_000 + "`" * 100_000,
        "CHANGELOG.md": ("1." * 50_000 + "\n") * 20 + "=" * 500_000,
        "Makefile": " " * 1_000_000 + "a:\n" + "%" * 500_000,
        "docs/a.rst": ".. code-block:: python\n\n"
        + "    from "
        + "a." * 200_000
        + "b import c\n"
        + " $ " * 200_000,
        "VERSION": "1" * 90,
        "setup.cfg": "[" * 200_000,
        "shop/__init__.py": "__version__ = " + "-" * 50_000 + "1",
    }.items():
        write(shop, path, text)
    with anyio.from_thread.start_blocking_portal() as portal:
        assert portal.start_task_soon(anyio.to_thread.run_sync, lambda: review_drift(shop, home=home)).result(
            60
        )


def test_a_folder_that_takes_minutes_is_refused(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcl.plugins.review.drift.tree._PATIENCE", 0)
    with pytest.raises(ReviewError) as caught:
        looked(shop)
    assert caught.value.code == "TREE_TOO_LARGE"


def test_the_command_tells_drift_and_ends_with_1(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(shop.parent / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(shop)
    assert main(["review", "drift"]) == 0
    assert "no drift" in capsys.readouterr().out
    said("VERSION", "1.4.0", "1.3.0")(shop)
    assert main(["review", "drift", "--json", "--workspace", str(shop)]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [one["part"] for one in document["drift"]] == ["versions"]
    assert set(document["drift"][0]) == {"part", "code", "level", "place", "message", "fix"}
    git(shop, "checkout", "-q", "--", "VERSION")
    (shop / "README.md").write_text("[\x1b[31mred](\x1b[31mgone.md)\n")
    assert main(["review", "drift"]) == 1
    assert "\x1b" not in capsys.readouterr().out
