"""`mcl skill validate` says what is wrong with both files of a skill."""

from __future__ import annotations

import shutil
from pathlib import Path

import skills


def test_a_flawed_plan_is_told_by_place_like_a_flawed_skill(mcl):
    folder = mcl.folder / "files"
    shutil.copytree(Path(skills.__file__).parent / "files", folder)
    plan = folder / "plan.yaml"
    plan.write_text(
        plan.read_text().replace("${slot.folder}", "${slot.foldr}").replace("id: list", "id: ${verb}")
    )
    done = mcl("skill", "validate", str(folder))
    assert done.code == 6, done.err
    assert "PLAN_INVALID" in done.out
    assert "plan.yaml: plans[0].root.children[0].tool_call.args.path" in done.out
    assert "slot.folder" in done.out  # the hint
    (report,) = mcl("skill", "validate", str(folder), "--json").document["skills"]
    assert {error["code"] for error in report["errors"]} == {"PLAN_INVALID"}


def test_a_right_skill_is_said_to_be_with_its_digest(mcl):
    folder = Path(skills.__file__).parent / "files"
    done = mcl("skill", "validate", str(folder), str(folder / "SKILL.mtx"))
    assert (done.code, done.out.count("ok")) == (0, 2)
