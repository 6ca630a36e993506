"""What the scan tells of code that is known to be dangerous: the examples that bandit is tested with.

    pip download --no-deps --no-binary :all: bandit==1.9.4  # the wheel has none of them
    python -m benchmarks.scan_recall FOLDER [--json]

FOLDER: the archive, unpacked. Its functional tests say how many results each example has, by severity: these
are the labels. Each is scanned as a file of a product. bandit's rules are also ours, so this says what is
lost on the way (by our walk through the tree, by the weights), and nothing of what bandit does not know.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcl.plugins.review.scan.bandit_rules import judged
from mcl.plugins.review.scan.patterns import ScanSource, scan_source
from mcl.plugins.review.scan.syntax import BanditIssue

_SEVERITIES = ("HIGH", "MEDIUM", "LOW")
_BY_PATTERN = {
    "trojan-source": "HIGH"
}  # rules of bandit that are patterns here, and how severe it calls them


def labels(archive: Path) -> dict[str, dict[str, int]]:
    """How many results of which severity each example has, as the functional tests state it.

    Where an example is stated more than once, the larger: comments that silence bandit silence nothing here.
    Left out: what is stated under settings of its own, that we do not read.
    """
    tests = ast.parse((archive / "tests/functional/test_functional.py").read_text(encoding="utf-8"))
    found: dict[str, dict[str, int]] = {}
    for method in ast.walk(tests):
        if isinstance(method, ast.FunctionDef) and not _configured(method):
            for name, counts in _stated(method):
                if sum(counts.values()) >= sum(found.get(name, {}).values()):
                    found[name] = counts
    return dict(sorted(found.items()))


def _configured(method: ast.FunctionDef) -> bool:
    return any(
        isinstance(one, ast.Subscript) and isinstance(one.value, ast.Attribute) and one.value.attr == "config"
        for one in ast.walk(method)
    )


def _stated(method: ast.FunctionDef) -> Iterator[tuple[str, dict[str, int]]]:
    numbers: dict[str, Any] = {}
    for one in _in_order(method):
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            numbers[one.targets[0].id] = one.value
        elif isinstance(one, ast.Call) and getattr(one.func, "attr", "") == "check_example":
            given = [
                one.value if isinstance(one, ast.Constant) else numbers[one.id]
                for one in one.args
                if isinstance(one, ast.Constant | ast.Name)
            ]
            name = given[0].value if isinstance(given[0], ast.Constant) else given[0]
            severity = next(
                value
                for key, value in zip(given[1].keys, given[1].values, strict=True)
                if key.value == "SEVERITY"
            )
            pairs = zip(severity.keys, severity.values, strict=True)
            yield (
                name,
                {
                    key.value: (value if isinstance(value, ast.Constant) else numbers[value.id]).value
                    for key, value in pairs
                    if key.value in _SEVERITIES
                },
            )


def _in_order(method: ast.FunctionDef) -> list[ast.AST]:
    some = [one for one in ast.walk(method) if isinstance(one, ast.Assign | ast.Call)]
    return sorted(some, key=lambda one: (one.lineno, one.col_offset))


def measured(archive: Path) -> dict[str, Any]:
    """By severity: results that are stated and found, and how all that are found are told; the latter by rule
    too."""
    by_severity: dict[str, Counter[str]] = {one: Counter() for one in _SEVERITIES}
    by_rule: dict[str, Counter[str]] = {}
    missed: dict[str, dict[str, int]] = {}
    for name, counts in labels(archive).items():
        text = (archive / "examples" / name).read_bytes().decode("utf-8", "replace")
        some = list(_found(name, text))
        ours = Counter(severity for _, severity, _ in some)
        less = {one: counts.get(one, 0) - ours[one] for one in _SEVERITIES if counts.get(one, 0) > ours[one]}
        if less:
            missed[name] = less
        for one in _SEVERITIES:
            by_severity[one]["stated"] += counts.get(one, 0)
            by_severity[one]["found"] += min(counts.get(one, 0), ours[one])
        for rule, severity, told in some:
            for counter in (by_severity[severity], by_rule.setdefault(f"{rule} {severity}", Counter())):
                counter[told] += 1
    return {
        "examples": len(labels(archive)),
        "severity": {one: dict(counter) for one, counter in by_severity.items()},
        "rule": {one: dict(by_rule[one]) for one in sorted(by_rule)},
        "missed": missed,
    }


def _found(name: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Each result with bandit's severity, and how it is told: RISK, WARNING, NOTE or none.

    The example is scanned result by result, on its line alone, as a file gives only twenty of a rule.
    """
    for issue in _once(judged(text).issues):
        yield issue.rule, issue.severity, _told(name, text, issue)
    for one in scan_source(ScanSource(name, text)):
        if one.rule in _BY_PATTERN:
            yield one.rule, _BY_PATTERN[one.rule], one.severity


def _once(issues: tuple[BanditIssue, ...]) -> list[BanditIssue]:
    """B308 is B703 once more, and its tests leave it out."""
    rules = {one.rule for one in issues}
    return [one for one in issues if one.rule != "B308" or "B703" not in rules]


def _told(name: str, text: str, issue: BanditIssue) -> str:
    some = scan_source(ScanSource(name, text), lines=frozenset({issue.line}))
    same = [one.severity for one in some if one.rule in (issue.rule, *_STANDS_FOR.get(issue.rule, ()))]
    return next((one for one in ("RISK", "WARNING", "NOTE") if one in same), "none")


_STANDS_FOR: Mapping[str, tuple[str, ...]] = {
    "B105": ("secret-assigned",),
    "B106": ("secret-assigned",),
    "B107": ("secret-assigned",),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measured(options.folder)
    if options.json:
        print(json.dumps(figures))
        return
    print(f"{figures['examples']} examples")
    for part in ("severity", "rule", "missed"):
        for name, counts in figures[part].items():
            print(f"  {part} {name}: " + ", ".join(f"{key} {count}" for key, count in counts.items()))


if __name__ == "__main__":
    main()
