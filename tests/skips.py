"""Which tests may be skipped: those of skips.toml, for the reasons that stand there. Any other skip is a
failure, so that what is not looked at is known."""

from __future__ import annotations

import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("skips.toml")


@dataclass(frozen=True, slots=True)
class Allowed:
    """Skips that are allowed. says: how their reason begins. files: below tests/. because: what is missing,
    and why `make test` cannot bring it."""

    says: str
    files: tuple[str, ...]
    because: str


@cache
def allowed() -> tuple[Allowed, ...]:
    """All of the list."""
    return tuple(
        Allowed(one["says"], tuple(one["files"]), one["because"])
        for one in tomllib.loads(LIST.read_text())["skip"]
    )


def is_allowed(file: str, reason: str) -> bool:
    """Whether a test may be skipped. file: as a test's id has it."""
    return any(reason.startswith(one.says) and file.removeprefix("tests/") in one.files for one in allowed())


def _judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        told = report.longrepr
        reason = (told[2] if isinstance(told, tuple) else str(told)).removeprefix("Skipped: ")
        if not is_allowed(report.nodeid.partition("::")[0], reason):
            report.outcome = "failed"
            report.longrepr = f"skipped ({reason}), and {LIST.name} does not allow it: make it run"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that skips itself."""
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file that skips itself."""
    report = yield
    _judge(report)
    return report
