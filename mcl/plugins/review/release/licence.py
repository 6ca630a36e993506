"""Is there a licence?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcl.plugins.review.drift.rules import Flaw
from mcl.plugins.review.drift.tree import Tree
from mcl.plugins.review.release.rules import ReleaseRules

_BEGINNINGS: Final = ("license", "licence", "copying", "unlicense", "mit-license")


def licence_file(tree: Tree) -> str:
    """The first file with a licence, "" where there is none."""
    top = [path for name, path in sorted(tree.folded.items()) if name.startswith(_BEGINNINGS)]
    top += [path for path in tree.files if path.casefold().startswith("licenses/")]
    return top[0] if top else ""


def licence_flaws(tree: Tree, rules: ReleaseRules) -> Iterator[Flaw]:
    """A warning where there is none."""
    if not licence_file(tree):
        yield rules.flaws.flaw("NO_LICENCE", ".", "no file LICENSE, COPYING or the like is there")
