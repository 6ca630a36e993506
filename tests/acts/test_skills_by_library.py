"""What the library gives of a skill's files: typed results, and nothing written but what was asked for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import mcl
from mcl.core.errors import InputError, SkillError
from mcl.language.mtx.source import MtxFinding


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a new skill in an empty workspace."""
    monkeypatch.chdir(tmp_path)
    return mcl.skills.new("shelf-list").path


def test_a_new_skill_is_said_with_its_files_and_a_goal_for_it(tmp_path: Path) -> None:
    made = mcl.skills.new("shelf-list", verb="deliver", folder=tmp_path)
    assert (made.id, made.path) == ("shelf-list", tmp_path / "shelf-list")
    assert [path.name for path in made.files] == ["SKILL.mtx", "plan.yaml"]
    assert made.example in made.files[0].read_text()
    with pytest.raises(SkillError, match="something of this name"):
        mcl.skills.new("shelf-list", folder=tmp_path)
    with pytest.raises(InputError) as refused:
        mcl.skills.new("Shelf List", folder=tmp_path)
    assert refused.value.code == "NAME_INVALID"


def test_findings_are_typed_with_the_source_that_they_point_into(skill: Path) -> None:
    file = skill / "SKILL.mtx"
    file.write_text(file.read_text().replace("mcl.verbs=find", "mcl.verbs=fnd"))
    report, plan = mcl.skills.check(skill)
    assert (report.path, report.ok, plan.ok) == (str(file), False, True)
    [error] = report.errors
    assert isinstance(error, MtxFinding)
    assert (error.code, error.text, error.hint) == ("V2", "fnd", 'did you mean "find"?')
    assert report.source.split("\n")[error.line - 1][error.column - 1 :].startswith("fnd")


def test_a_path_that_is_nothing_is_a_finding_for_validate_and_an_error_for_the_rest(tmp_path: Path) -> None:
    [report] = mcl.skills.check(tmp_path / "nothing")
    assert [error.code for error in report.errors] == ["NO_FILE"]
    for act in (mcl.skills.hash, mcl.skills.format, mcl.skills.publish):
        with pytest.raises(SkillError) as refused:
            act(tmp_path / "nothing")
        assert refused.value.code == "NO_FILE"
    (tmp_path / "empty").mkdir()
    with pytest.raises(SkillError) as refused:
        mcl.skills.hash(tmp_path / "empty")
    assert refused.value.code == "NO_SKILL"


def test_a_format_that_is_not_to_be_written_leaves_the_file(skill: Path) -> None:
    file = skill / "SKILL.mtx"
    ugly = file.read_text().replace("  optional", "     optional")
    file.write_text(ugly)
    seen = mcl.skills.format(skill, write=False)
    assert (seen.ok, seen.changed, file.read_text()) == (True, True, ugly)
    digest = mcl.skills.hash(skill)
    done = mcl.skills.format(file)
    assert file.read_text() == done.after != ugly
    assert mcl.skills.hash(skill) == digest
    assert not mcl.skills.format(skill).changed


def test_examples_are_tried_with_progress_and_without_a_trace(skill: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with mcl.open_home(tmp_path / "home") as home:
        [tried] = mcl.skills.test(
            [skill], ai=False, home=home, progress=lambda done, total: seen.append((done, total))
        )
        assert home.journal.intents() == ()
    assert (tried.id, tried.ok, tried.path) == ("shelf-list", True, skill)
    assert seen == [(1, 3), (2, 3), (3, 3)]
    first = tried.examples[0]
    assert (first.outcome, first.chosen, first.verb, first.slots) == (
        *("compiled", "shelf-list", "find", {"folder": ("notes",)}),
    )


def test_an_example_can_be_hidden_from_its_own_skill_while_it_is_tried(skill: Path, tmp_path: Path) -> None:
    file = skill / "SKILL.mtx"
    text = file.read_text().replace("example.3=", 'example.3="zebra quagga okapi"\nexample.4=')
    file.write_text(text)
    with mcl.open_home(tmp_path / "home") as home:
        [known] = mcl.skills.test([skill], ai=False, home=home)
        [hidden] = mcl.skills.test([skill], ai=False, home=home, held_out=True)
    assert [one.ok for one in known.examples] == [True] * 4
    assert [one.ok for one in hidden.examples] == [True, True, False, True]


def test_the_same_moment_gives_the_same_result(skill: Path, tmp_path: Path) -> None:
    with mcl.open_home(tmp_path / "home") as home:
        at = "2026-11-21T10:00:00Z"
        first, second = (list(mcl.skills.test([skill], ai=False, home=home, at=at)) for _ in range(2))
        with pytest.raises(InputError) as refused:
            list(mcl.skills.test([skill], ai=False, home=home, at="soon"))
    assert refused.value.code == "TIME_INVALID"
    assert [(one.outcome, one.slots) for one in first[0].examples] == [
        (one.outcome, one.slots) for one in second[0].examples
    ]


def test_publishing_gives_the_digest_and_says_whether_anything_was_written(
    skill: Path, tmp_path: Path
) -> None:
    with mcl.open_home(tmp_path / "home") as home:
        done = mcl.skills.publish(skill, ai=False, home=home)
        again = mcl.skills.publish(skill, test=False)
    assert (done.digest, done.changed, again.changed) == (mcl.skills.hash(skill), True, False)
    assert done.tried is not None
    assert done.tried.ok
    assert all(not report.findings for report in mcl.skills.check(skill, strict=True))


def test_a_file_that_cannot_be_replaced_is_told_and_left(
    skill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (skill / "SKILL.mtx").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SkillError) as refused:
        mcl.skills.publish(skill, test=False)
    assert refused.value.code == "NOT_WRITTEN"
    assert "No space left" in refused.value.message
    assert (skill / "SKILL.mtx").read_bytes() == before
    assert sorted(path.name for path in skill.iterdir()) == ["SKILL.mtx", "plan.yaml"]


def test_a_half_made_skill_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Path.write_text

    def full(self: Path, *given: object, **named: object) -> int:
        if self.name == "plan.yaml":
            raise OSError(28, "No space left on device")
        return written(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(SkillError) as refused:
        mcl.skills.new("shelf-list", folder=tmp_path)
    assert refused.value.code == "NOT_WRITTEN"
    assert not (tmp_path / "shelf-list").exists()


def test_a_skill_of_a_folder_is_tried_from_anywhere(skill: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "shelf-list"
    shutil.move(skill, moved)
    with mcl.open_home(tmp_path / "home") as home:
        [tried] = mcl.skills.test([moved.parent], ai=False, home=home)
        with pytest.raises(SkillError) as refused:
            list(mcl.skills.test(["shelf-list"], ai=False, home=home))
    assert tried.ok
    assert refused.value.code == "SKILL_UNKNOWN"


def test_a_file_whose_layout_would_be_too_long_is_left_and_told(skill: Path) -> None:
    file = skill / "SKILL.mtx"
    text = file.read_text(encoding="utf-8").replace("§INPUTS\n", "note=" + 600_000 * "\\" + "\n§INPUTS\n", 1)
    file.write_text(text, encoding="utf-8")  # each backslash becomes two where the value is quoted
    done = mcl.skills.format(skill)
    assert [finding.code for finding in done.errors] == ["TOO_LONG"]
    assert file.read_text(encoding="utf-8") == text
