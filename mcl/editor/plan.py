"""What is wrong with the plan.yaml beside a skill, for the text of both as it is being typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mcl.editor.diagnostics import Problem, Reading, problem_of
from mcl.editor.document import Document

if TYPE_CHECKING:
    from mcl.plans.checks import Tools

_OF_NAMES = ("V1", "V2", "V3", "V4", "V9", "V10")  # with these, nothing certain is known of what may be named


def plan_problems(
    folder: Path, skill: Reading, plan: Document, tools: Tools
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """What is wrong with a plan, and what its skill declares and no plan uses (places in SKILL.mtx).

    Where the skill has errors in what it declares, the plan's form alone is checked.
    """
    from mcl.plans.checks import check_against, unused
    from mcl.plans.shape import read_shape
    from mcl.skills import Skill

    doubtful = any(one.severity == "error" and one.code in _OF_NAMES for one in skill.problems)
    scope = Skill(folder, skill.parsed.file, "", None) if skill.parsed.ok and not doubtful else None
    shape = read_shape(plan.data, scope)
    findings, idle = list(shape.findings), []
    if scope is not None and not findings:
        findings, idle = check_against(shape, scope, tools), list(unused(shape, scope))
    lines = skill.parsed.text.split("\n")
    return (
        tuple(problem_of(finding, plan.lines) for finding in findings),
        tuple(problem_of(finding, lines) for finding in idle),
    )
