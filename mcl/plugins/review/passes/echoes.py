"""What a model says again and again, once. Small models repeat a line, or the same words of every line."""

from collections.abc import Iterable
from dataclasses import replace

from mcl.plugins.review.findings import Finding, Severity
from mcl.plugins.review.findings.repeats import normalised

_FEW = 3  # places of which the same may be said one by one
_LEAST = 20  # characters of a line that was cut off
_NAMED = 20  # lines that are named


def without_echoes(finding: Finding) -> Finding:
    """The finding with each line of its body once. A line that ends in the middle of one before is that one;
    one without a letter, such as a bracket of quoted code, stays."""
    kept: list[str] = []
    said: list[str] = []
    for line in finding.body.split("\n"):
        words = normalised(line)
        if any(one == words or (len(words) >= _LEAST and one.startswith(words)) for one in said):
            continue
        kept.append(line)
        said += [words] if any(map(str.isalpha, words)) else []
    return replace(finding, body="\n".join(kept))


def gathered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of the same label and words in more than three places of a file as one, in the first of them,
    that names the lines of the others. No label and no place is lost."""
    same: dict[tuple[str, Severity, str], list[Finding]] = {}
    for one in findings:
        same.setdefault((one.file, one.severity, normalised(one.body)), []).append(one)
    told: list[Finding] = []
    for group in same.values():
        first, *rest = sorted(group, key=lambda one: one.line)
        told += group if len(group) <= _FEW else [replace(first, body=f"{first.body}\n{_also(rest)}")]
    return told


def _also(rest: list[Finding]) -> str:
    named = ", ".join(str(one.line) for one in rest[:_NAMED])
    more = f" and {len(rest) - _NAMED:,} more" if len(rest) > _NAMED else ""
    return f"The same is said of the lines {named}{more}."
