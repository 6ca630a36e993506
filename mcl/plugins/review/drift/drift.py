"""All drift of a repository, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcl.plugins.review.drift.declared import Project
from mcl.plugins.review.drift.documents import document_flaws
from mcl.plugins.review.drift.modules import Modules, entry_flaws
from mcl.plugins.review.drift.remembered import decision_flaws, map_flaws
from mcl.plugins.review.drift.rules import Flaw, bounded, drift_rules
from mcl.plugins.review.drift.tools import ToolDocuments
from mcl.plugins.review.drift.tree import Progress, Tree, quiet
from mcl.plugins.review.drift.versions import project_version, version_flaws

if TYPE_CHECKING:
    from mcl.catalog.contracts import Contract
    from mcl.plugins.review.memory import Memories

PARTS: Final = ("versions", "tools", "maps", "decisions", "documents")


@dataclass(frozen=True)
class DriftReport:
    """What drifted. flaws: in the order of the parts; version: of the project, "" where none is told."""

    workspace: Path
    flaws: tuple[Flaw, ...]
    version: str = ""
    files: int = 0
    cut: bool = False

    def of(self, part: str) -> tuple[Flaw, ...]:
        """Those of one part."""
        rules = drift_rules()
        return tuple(one for one in self.flaws if rules[one.code].about == part)

    def to_json(self) -> dict[str, object]:
        """The report as a JSON object."""
        return {
            "workspace": str(self.workspace),
            "version": self.version,
            "files": self.files,
            "truncated": self.cut,
            "drift": [{"part": drift_rules()[one.code].about, **one.to_json()} for one in self.flaws],
        }


def find_drift(
    tree: Tree,
    *,
    contracts: Mapping[str, Contract],
    memories: Memories,
    cache: Path,
    progress: Progress = quiet,
) -> DriftReport:
    """Look for all drift of a repository; nothing is written.

    Args:
        contracts: what the tools of this build promise, by name. cache: folder that maps are built with.

    Raises:
        CortexError, HomeError: the memories cannot be read.
    """
    project = Project(tree)
    modules = Modules(tree, project)
    parts: Mapping[str, Callable[[], Iterable[Flaw]]] = {
        "versions": lambda: version_flaws(tree, project),
        "tools": lambda: ToolDocuments(tree).flaws(contracts),
        "maps": lambda: map_flaws(tree, cache),
        "decisions": lambda: decision_flaws(tree, memories),
        "documents": lambda: (*entry_flaws(tree, project, modules), *document_flaws(tree, modules)),
    }
    found: list[Flaw] = []
    for number, part in enumerate(PARTS):
        progress(number, len(PARTS), part)
        found += parts[part]()
    decides = project_version(project)
    version = decides.version.written if decides else ""
    return DriftReport(tree.workspace.root, bounded(found, drift_rules()), version, len(tree.files), tree.cut)
