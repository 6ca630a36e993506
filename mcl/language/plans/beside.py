"""A plan.yaml held against the SKILL.mtx beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mcl.language.mtx.finding import Finding
from mcl.language.mtx.parse import Parsed
from mcl.language.plans.checks import Tools, check_against, unused
from mcl.language.plans.shape import read_shape
from mcl.language.skills import Skill

_OF_NAMES = ("V1", "V2", "V3", "V4", "V9", "V10")  # checks of what a plan names


def scope_of(folder: Path, parsed: Parsed, findings: Iterable[Finding]) -> Skill | None:
    """The skill that a plan in its folder is compared with; None where nothing certain is known of its slots,
    verbs and tools. findings: all that is wrong with its file.
    """
    doubtful = any(one.severity == "error" and one.code in _OF_NAMES for one in findings)
    return Skill.of(folder, parsed.file) if parsed.ok and not doubtful else None


def check_plan(
    data: bytes, scope: Skill | None, tools: Tools
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What is wrong with the bytes of a plan.yaml, and what its skill declares and no plan uses (places in
    SKILL.mtx). Without a skill the form of the plan alone is checked.
    """
    shape = read_shape(data, scope)
    if scope is None or shape.findings:
        return shape.findings, ()
    return tuple(check_against(shape, scope, tools)), tuple(unused(shape, scope))
