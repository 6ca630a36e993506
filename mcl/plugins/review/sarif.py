"""Findings as SARIF 2.1.0, with what GitHub code scanning asks for.

Sources: OASIS SARIF 2.1.0 with errata 01; "SARIF support for code scanning" of GitHub's documentation.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final
from urllib.parse import quote

from ir.errors import MclError
from mcl.plugins.review.finding import ReviewFinding, Severity, in_order, normalised

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
_LEVEL: Final[dict[Severity, str]] = {
    "CRITICAL": "error",
    "RISK": "error",
    "ARCHITECTURE": "warning",
    "WARNING": "warning",
    "MISSING": "note",
    "SUGGESTION": "note",
    "NOTE": "note",
}
# GitHub calls 9.0 and more critical, 7.0 high, 4.0 medium, less low.
_SECURITY: Final[dict[Severity, str]] = {
    "CRITICAL": "9.5",
    "RISK": "8.0",
    "WARNING": "5.5",
    "MISSING": "3.0",
    "SUGGESTION": "2.0",
    "NOTE": "2.0",
}
_TITLE: Final[dict[Severity, str]] = {
    "CRITICAL": "What must not be released",
    "RISK": "What can be attacked or lose something",
    "ARCHITECTURE": "What breaks the structure of the system",
    "WARNING": "What is likely to be wrong",
    "MISSING": "What is not there and should be",
    "SUGGESTION": "What could be better",
    "NOTE": "What is worth knowing",
}
_LONGEST_TITLE: Final = 200  # characters
_LINES: Final = re.compile(r"\blines?\s{1,3}[0-9][0-9, –-]{0,20}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")


def to_sarif(
    findings: Iterable[ReviewFinding],
    *,
    version: str,
    root: str = "",
    failed: MclError | None = None,
    dismissed: Sequence[tuple[ReviewFinding, str]] = (),
) -> dict[str, object]:
    """Findings as one run of SARIF 2.1.0, in their order.

    version: of mcl. root: the folder that absolute paths are made relative to, absolute itself; "" where all
    paths are relative already. failed: why there are not all of them. dismissed: those that a
    person dismissed, with why; where there are some, every result says whether it is one.
    """
    told = in_order((*findings, *(finding for finding, _ in dismissed)))
    rules: dict[str, list[ReviewFinding]] = {}
    for finding in told:
        rules.setdefault(rule_id(finding), []).append(finding)
    places = {rule: place for place, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    results = [_result(finding, places, seen, root) for finding in told]
    if dismissed:
        gone = {finding.mark: why for finding, why in dismissed}
        for result, finding in zip(results, told, strict=True):
            result["suppressions"] = [_suppression(gone[finding.mark])] if finding.mark in gone else []
    driver = {"name": "mcl", "version": version, "rules": [_rule(*rule) for rule in rules.items()]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if failed is not None:
        run["invocations"] = [_failed(failed)]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _failed(problem: MclError) -> dict[str, object]:
    """A run that did not come to its end."""
    said = {
        "descriptor": {"id": problem.code},
        "level": "error",
        "message": {"text": "\n".join(filter(None, (problem.message, problem.fix)))},
    }
    return {"executionSuccessful": False, "exitCode": problem.exit, "toolExecutionNotifications": [said]}


def _suppression(why: str) -> dict[str, object]:
    return {"kind": "external", "status": "accepted", "justification": why}


def rule_id(finding: ReviewFinding) -> str:
    """The rule of a finding; one that a model said has its label's."""
    return finding.rule or f"review/{finding.severity.lower()}"


def _rule(name: str, findings: list[ReviewFinding]) -> dict[str, object]:
    """A rule as it is told of, by the most severe of its findings, which is the first."""
    worst = findings[0]
    said = worst.body.partition("\n")[0][:_LONGEST_TITLE]
    title = said or f"{name}: found by a rule" if worst.rule else _TITLE[worst.severity]
    properties: dict[str, object] = {"tags": ["review", worst.severity.lower()]}
    if worst.rule or worst.severity in ("CRITICAL", "RISK"):
        tags = ["security", "review", worst.severity.lower()]
        properties = {"tags": tags, "security-severity": _SECURITY.get(worst.severity, "4.0")}
    properties["precision"] = "medium" if worst.rule else "low"
    return {
        "id": name,
        "name": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": f"Found by mcl review. Its label is {worst.severity}."},
        "defaultConfiguration": {"level": _LEVEL[worst.severity]},
        "properties": properties,
    }


def _result(
    finding: ReviewFinding, places: dict[str, int], seen: Counter[str], root: str
) -> dict[str, object]:
    rule = rule_id(finding)
    uri = uri_of(finding.file, root)
    location = {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _ROOT}
    physical: dict[str, object] = {"artifactLocation": location}
    if finding.line:
        physical["region"] = {"startLine": finding.line}
    mark = fingerprint(finding, uri)
    seen[mark] += 1
    return {
        "ruleId": rule,
        "ruleIndex": places[rule],
        "level": _LEVEL[finding.severity],
        "message": {"text": finding.body or _TITLE[finding.severity]},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"primaryLocationLineHash": f"{mark}:{seen[mark]}"},
        "properties": {"severity": finding.severity},
    }


def fingerprint(finding: ReviewFinding, uri: str) -> str:
    """What stays the same of a finding when lines move: its rule, its file and what it says.

    Numbers of lines in the body are left out. 16 hexadecimal digits.
    """
    body = _LINES.sub("line", normalised(finding.body))
    said = "\0".join((rule_id(finding), uri, body)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).hexdigest()[:16]


def uri_of(file: str, root: str = "") -> str:
    """A path as a percent-encoded reference, relative where it can be."""
    path: PurePath = PureWindowsPath(file) if _DRIVE.match(file) else PurePosixPath(file)
    if path.is_absolute() and root:
        base = type(path)(root)
        path = path.relative_to(base) if path.is_relative_to(base) else path
    if path.is_absolute():
        return "file:///" + "/".join([path.drive, *map(_encoded, path.parts[1:])]).lstrip("/")
    parts = path.parts if path.parts else (".",)
    return "/".join(map(_encoded, parts))


def _encoded(part: str) -> str:
    try:
        return quote(part.encode("utf-8", "surrogateescape"), safe="")
    except UnicodeEncodeError:
        return quote(part.encode("utf-8", "surrogatepass"), safe="")
