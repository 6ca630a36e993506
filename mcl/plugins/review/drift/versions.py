"""Version drift: the places that say a project's version do not say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mcl.plugins.review.drift.changelog import newest_entry
from mcl.plugins.review.drift.declared import Declared, Project
from mcl.plugins.review.drift.rules import Flaw, drift_rules
from mcl.plugins.review.drift.tree import Tree

_ORDER = ("pyproject.toml", "Cargo.toml", "package.json", "setup.cfg")


def project_version(project: Project) -> Declared | None:
    """The place that decides: the file that installers read, else the one that most others agree with."""
    own = [one for one in project.declared if one.kind == "project"]
    for path in _ORDER:
        if found := next((one for one in own if one.path == path), None):
            return found
    counted = Counter(_key(one) for one in own).most_common(1)
    return next((one for one in own if _key(one) == counted[0][0]), None) if counted else None


def _key(one: Declared) -> tuple[tuple[int, ...], tuple[str, ...]]:
    return one.version.numbers, one.version.rest


def version_flaws(tree: Tree, project: Project) -> Iterator[Flaw]:
    """What does not say the project's version, or cannot be read."""
    rules = drift_rules()
    for broken in project.broken:
        yield rules.flaw("FILE_BROKEN", broken.path, f"{broken.path} cannot be read: {broken.why}")
    first = project_version(project)
    if first is None:
        return
    codes = {"project": "VERSION_DIFFERS", "badge": "README_BADGE", "pin": "README_PIN"}
    for one in project.declared:
        if not one.version.same(first.version):
            said = f"{one.what} says {one.version.written}, {first.place} says {first.version.written}"
            yield rules.flaw(codes[one.kind], one.place, said)
    entry = newest_entry(tree)
    # On the way to a release the changelog may be of the one before or of the one to come.
    if entry is None or first.version.under_way:
        return
    if entry.version is None:
        said = f"no entry names a version; {first.place} says {first.version.written}"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.line}", said)
    elif not entry.version.same(first.version):
        said = f"the newest entry is {entry.version.written}, {first.place} says {first.version.written}"
        yield rules.flaw("CHANGELOG_BEHIND", f"{entry.path}:{entry.line}", said)
    elif entry.pending:
        said = "entries are unreleased above the newest version"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.pending}", said)
    elif entry.open:
        said = f"the entry of {entry.version.written} says that it is not released"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.line}", said)
