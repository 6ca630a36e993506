"""`mcl skill check` tells everything that is wrong with skills, to people and to programs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from skill_writing import PLAN, SKILL, write_skill

import grammars
from mcl.language.mtx.source import MtxFinding, show


def reports(done) -> list[dict]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_a_right_skill_is_one_object_a_file_and_nothing_else(mcl):
    write_skill(mcl.folder)
    done = mcl("skill", "check", "read-page", "--strict", "--json")
    assert (done.code, done.err) == (0, "")
    assert reports(done) == [
        {"path": "read-page/SKILL.mtx", "ok": True, "errors": [], "warnings": []},
        {"path": "read-page/plan.yaml", "ok": True, "errors": [], "warnings": []},
    ]


def test_a_finding_has_code_line_column_and_a_message_with_the_hint(mcl):
    write_skill(mcl.folder, old="  required\n", new="  requird\n")
    done = mcl("skill", "check", "read-page/SKILL.mtx", "--json")
    assert done.code == 6
    [report] = reports(done)
    assert list(report) == ["path", "ok", "errors", "warnings"]
    assert (report["path"], report["ok"]) == ("read-page/SKILL.mtx", False)
    [error] = report["errors"]
    assert list(error) == ["code", "line", "column", "message"]
    assert (error["code"], error["line"], error["column"]) == ("UNEXPECTED", 12, 3)
    assert error["message"].endswith('; did you mean "required"?')


def test_all_errors_of_all_files_are_told_at_once(mcl):
    write_skill(mcl.folder, name="one", old="mcl.verbs=find", new="mcl.verbs=fnd")
    write_skill(mcl.folder, name="two", old="{prose}", new="{pros}", plan_old="path:", plan_new="pth:")
    done = mcl("skill", "check", "one", "two", "--json")
    assert done.code == 6
    codes = {report["path"]: [error["code"] for error in report["errors"]] for report in reports(done)}
    assert codes == {
        "one/SKILL.mtx": ["V2"],
        "one/plan.yaml": [],
        "two/SKILL.mtx": ["V7"],
        "two/plan.yaml": ["ARG_MISSING", "ARG_UNKNOWN"],
    }


def test_what_is_doubtful_is_a_warning_and_an_error_when_strict(mcl):
    write_skill(mcl.folder, name="other-name")
    lax, strict = (mcl("skill", "check", "other-name", "--json", *more) for more in ((), ("--strict",)))
    assert (lax.code, strict.code) == (0, 6)
    told, insisted = reports(lax)[0], reports(strict)[0]
    assert (told["ok"], [one["code"] for one in told["warnings"]], told["errors"]) == (True, ["V13"], [])
    assert (insisted["ok"], [one["code"] for one in insisted["errors"]]) == (False, ["V13"])
    assert insisted["warnings"] == []


def test_people_see_the_line_a_caret_and_the_hint_and_a_sum_at_the_end(mcl):
    write_skill(mcl.folder, old="mcl.verbs=find", new="mcl.verbs=fnd")
    done = mcl("skill", "check", "read-page")
    assert done.code == 6
    lines = done.out.splitlines()
    assert lines[0] == "read-page/SKILL.mtx:6:11: error: there is no verb 'fnd' [V2]"
    assert lines[1].strip() == "mcl.verbs=fnd"
    assert lines[2].index("^^^") == lines[1].index("fnd")
    assert 'did you mean "find"?' in lines[3]
    assert lines[-1].split() == ["2", "files", "1", "error", "0", "warnings", "not", "ok"]


def test_a_flaw_of_a_plan_is_shown_in_its_line_like_one_of_a_skill(mcl):
    write_skill(mcl.folder, plan_old="slot.size", plan_new="slot.siz")
    done = mcl("skill", "check", "read-page")
    column = PLAN.splitlines()[9].index('"${slot.size}"') + 1
    assert (
        f"read-page/plan.yaml:10:{column}: error: nothing is called ${{slot.siz}} [PLAN_INVALID]" in done.out
    )
    assert 'did you mean "slot.size"?' in done.out


@pytest.mark.parametrize(
    ("line", "column", "under"), [("目标：bc d", 4, 6), ("e\u0301bc", 3, 1), ("a bc", 3, 2), ("aé bc", 4, 3)]
)
def test_the_caret_stands_under_the_text_however_wide_its_letters_are(line, column, under):
    shown = show(MtxFinding(1, column, "V7", "wrong", "bc"), "a.mtx", line).split("\n")[2]
    assert shown == "    " + " " * under + "^^"


def test_errors_are_red_and_warnings_yellow_on_a_terminal(mcl, monkeypatch):
    write_skill(mcl.folder, name="other-name", old="mcl.verbs=find", new="mcl.verbs=fnd")
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    out = mcl("skill", "check", "other-name").out
    assert re.search(r"\x1b\[31merror", out)
    assert re.search(r"\x1b\[33mwarning", out)


def test_a_folder_of_skills_means_all_of_them_and_a_folder_of_modules_its_files(mcl):
    write_skill(mcl.folder / "skills", name="a")
    write_skill(mcl.folder / "skills", name="b", plan="")
    done = mcl("skill", "check", "skills/", "--json")
    assert [one["path"] for one in reports(done)] == [
        *("skills/a/SKILL.mtx", "skills/a/plan.yaml", "skills/b/SKILL.mtx"),
    ]
    core = Path(grammars.__file__).parent / "core"
    found = reports(mcl("skill", "check", str(core), "--json"))
    assert {Path(one["path"]).name for one in found} == {path.name for path in core.glob("*.mtx")}
    assert all(one["ok"] for one in found), found


def test_the_path_is_told_as_it_was_given(mcl):
    place = write_skill(mcl.folder)
    (place / "SKILL.mtx").rename(mcl.folder / "loose.mtx")
    for given in ("loose.mtx", "./loose.mtx", str(mcl.folder / "loose.mtx")):
        [report] = reports(mcl("skill", "check", given, "--json"))
        assert report == {"path": given, "ok": True, "errors": [], "warnings": []}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("binary.mtx", bytes(range(256)), "NOT_UTF8"),
        ("nul.mtx", SKILL.replace("Shows", "Sho\0ws").encode(), "CONTROL"),
        ("empty.mtx", b"", "EMPTY"),
        ("long.mtx", b"# long\n" * 200_000, "TOO_LONG"),
    ],
)
def test_a_file_that_is_no_text_is_an_object_with_an_error(mcl, name, data, code):
    (mcl.folder / name).write_bytes(data)
    done = mcl("skill", "check", name, "--json")
    [report] = reports(done)
    assert (done.code, report["ok"]) == (6, False)
    assert code in {error["code"] for error in report["errors"]}


def test_what_is_not_there_is_an_object_too_and_the_others_are_still_checked(mcl):
    write_skill(mcl.folder)
    (mcl.folder / "nothing").mkdir()
    done = mcl("skill", "check", "missing.mtx", "nothing", "", "read-page", "--json")
    assert done.code == 6
    told = reports(done)
    assert [(one["path"], one["ok"]) for one in told] == [
        *(("missing.mtx", False), ("nothing", False), ("", False)),
        *(("read-page/SKILL.mtx", True), ("read-page/plan.yaml", True)),
    ]
    assert [error["code"] for one in told[:3] for error in one["errors"]] == [
        *("NO_FILE", "NO_SKILL", "NO_FILE"),
    ]


def test_a_file_that_may_not_be_read_is_told(mcl, like_anybody):
    place = write_skill(mcl.folder)
    (place / "SKILL.mtx").chmod(0)
    done = mcl("skill", "check", "read-page", "--json")
    assert (done.code, reports(done)[0]["errors"][0]["code"]) == (6, "NO_FILE")


def test_a_plan_can_be_checked_alone_and_needs_its_skill(mcl):
    place = write_skill(mcl.folder, plan_old="fs/read@1.0.0", plan_new="fs/list@1.0.0")
    [report] = reports(mcl("skill", "check", "read-page/plan.yaml", "--json"))
    assert "TOOL_UNDECLARED" in {error["code"] for error in report["errors"]}
    (place / "SKILL.mtx").unlink()
    [report] = reports(mcl("skill", "check", "read-page/plan.yaml", "--json"))
    assert [error["code"] for error in report["errors"]] == ["NO_SKILL"]


def test_a_skill_that_cannot_be_read_gives_no_false_errors_about_its_plan(mcl):
    write_skill(mcl.folder, old="slot file: string\n", new="slot file string\n")
    found = reports(mcl("skill", "check", "read-page", "--json"))
    assert [one["ok"] for one in found] == [False, True]


def test_a_declared_tool_that_no_plan_uses_is_a_warning_in_the_skill(mcl):
    more = "matrix://tool/fs/read@1.0.0\nmatrix://tool/fs/list@1.0.0\n"
    write_skill(mcl.folder, old="matrix://tool/fs/read@1.0.0\n", new=more)
    done = mcl("skill", "check", "read-page", "--strict", "--json")
    skill, plan = reports(done)
    assert (done.code, plan["warnings"]) == (0, [])
    assert [(one["code"], one["line"], one["column"]) for one in skill["warnings"]] == [
        ("TOOL_UNUSED", 24, 1)
    ]


def test_a_link_to_a_skill_is_followed(mcl):
    place = write_skill(mcl.folder / "elsewhere")
    (mcl.folder / "read-page").symlink_to(place)
    assert mcl("skill", "check", "read-page", "--strict").code == 0
    shutil.rmtree(place)
    assert mcl("skill", "check", "read-page").code == 6
