"""`mcl run` of a plan that fails in a way that may be mended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skill_writing import write_skill

from tests.cli.conftest import Shell

REPORT = (
    *("compile", "write a report about invoice in notes to report.md", "--no-ai", "--skill", "files-report"),
    *("--verb", "deliver", "--slot", "text=invoice", "--slot", "folder=notes", "--slot", "report=report.md"),
    "--json",
)
ARGS = 'args: {path: "${slot.file}", max_bytes: "${slot.size}"}'
OFFERED = """args: {path: "${slot.file}"}
        alternatives:
          - {path: "pages/${slot.file}"}"""


def compiled(mcl: Shell, *arguments: str) -> str:
    done = mcl(*arguments)
    assert done.code == 0, done.err
    id = str(json.loads(done.out)["id"])
    assert mcl("accept", id, "--yes").code == 0
    return id


def test_a_report_that_is_there_already_is_proposed_under_another_name(mcl: Shell) -> None:
    (mcl.folder / "report.md").write_text("of before")
    id = compiled(mcl, *REPORT)
    done = mcl("run", id, "--deny-gates")
    assert done.code == 10, done.err
    told = done.out + done.err
    assert "call it report-2.md, as report.md is there already" in told
    assert f"mcl accept {id}" in told
    shown = mcl("accept", id, "--yes")
    assert (shown.code, "report-2.md" in shown.out) == (0, True)
    assert mcl("run", id, "--deny-gates").code == 0
    assert (mcl.folder / "report.md").read_text() == "of before"
    assert "invoice" in (mcl.folder / "report-2.md").read_text()
    assert mcl("log", "verify").code == 0


@pytest.fixture
def skill(mcl: Shell) -> Path:
    return write_skill(mcl.folder / "made", plan_old=ARGS, plan_new=OFFERED)


def test_what_a_skill_offers_is_shown_before_it_is_signed_and_tried_without_asking(
    mcl: Shell, skill: Path
) -> None:
    (mcl.folder / "pages").mkdir()
    (mcl.folder / "pages" / "intro.md").write_text("welcome")
    where = ("--skills", str(skill.parent))
    goal = "show me the handbook page in the file intro.md"
    done = mcl(
        "compile", goal, "--no-ai", "--skill", "read-page", "--slot", "file=intro.md", "--json", *where
    )
    assert done.code == 0, done.err
    id = str(json.loads(done.out)["id"])
    shown = mcl("accept", id, "--yes", *where)
    assert shown.code == 0, shown.err
    assert "or, where that fails (1)" in shown.out
    assert "pages/intro.md" in shown.out
    ran = mcl("run", id, "--deny-gates", *where)
    assert (ran.code, "welcome" in ran.out) == (0, True), ran.err
    assert "re-plan 1 of 2: run read with the arguments 1 of 1 that the plan offers" in ran.out + ran.err


def test_what_the_gate_will_refuse_of_them_is_told_before_anybody_signs(mcl: Shell, skill: Path) -> None:
    (mcl.folder / "intro.md").write_text("welcome")
    plan = skill / "plan.yaml"
    plan.write_text(plan.read_text().replace("pages/${slot.file}", ".git/${slot.file}"))
    goal = ("show me the handbook page in the file intro.md", "--slot", "file=intro.md", "--json")
    done = mcl("compile", *goal, "--no-ai", "--skill", "read-page", "--skills", str(skill.parent))
    id = str(json.loads(done.out)["id"])
    shown = mcl("plan", id, "--skills", str(skill.parent))
    told = " ".join(shown.out.replace("↪", "").split())
    assert (shown.code, "PROTECTED_PATH: the arguments 1 of 1 that it offers" in told) == (0, True), told
    found = json.loads(mcl("plan", id, "--json", "--skills", str(skill.parent)).out)
    (node,) = [one for one in found["verdicts"] if one["node"] == "read"]
    assert (node["decision"], [one["code"] for one in node["warnings"]]) == ("allow", ["PROTECTED_PATH"])
    (node,) = json.loads(mcl("plan", "check", id, "--json").out)["nodes"]
    assert [one["code"] for one in node["warnings"]] == ["PROTECTED_PATH"]


def test_arguments_that_a_plan_offers_are_checked_like_any(mcl: Shell, skill: Path) -> None:
    assert mcl("skill", "check", str(skill)).code == 0
    plan = skill / "plan.yaml"
    plan.write_text(plan.read_text().replace('path: "pages/${slot.file}"', "pfad: x"))
    done = mcl("skill", "check", str(skill))
    assert done.code != 0
    assert "ARG_UNKNOWN" in done.out + done.err
    assert "ARG_MISSING" in done.out + done.err
