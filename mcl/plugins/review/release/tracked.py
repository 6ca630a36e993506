"""What version control holds and says: what is not committed, marks of merges, secret and big files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from executor.tools.project.state import CONFLICTS
from mcl.plugins.review.drift.rules import Flaw
from mcl.plugins.review.drift.tree import Checkout, Progress, Tree, plain_files, quiet, size_of
from mcl.plugins.review.drift.version import Version, version_of
from mcl.plugins.review.release.rules import ReleaseRules

_MARKS: Final = ("<<<<<<< ", "=======", ">>>>>>> ")
_FENCES: Final = ("```", "~~~")
_PAGES: Final = (".md", ".rst", ".markdown", ".txt", ".adoc")
_MODULE: Final = "160000"  # git's mode of a submodule
_EVERY: Final = 100  # files between two words of progress


def clean_flaws(checkout: Checkout, version: str, rules: ReleaseRules) -> Iterator[Flaw]:
    """What is not committed, what was begun and not ended, submodules, and a version that is another commit's
    already."""
    flaw = rules.flaws.flaw
    if checkout.under_way:
        yield flaw("UNDER_WAY", ".git", f"{checkout.under_way} is under way")
    for code, path in checkout.changes:
        if code == "??":
            yield flaw("UNTRACKED", path, "it is not in version control")
        else:
            said = (
                "it is in conflict"
                if code in CONFLICTS
                else f"it is changed and not committed ({code.strip()})"
            )
            yield flaw("UNCOMMITTED", path, said)
    for path in sorted(path for path, mode in checkout.tracked.items() if mode == _MODULE):
        said = "it is a repository of its own: neither what is in it was looked at, nor which commit it is at"
        yield flaw("SUBMODULE_UNSEEN", path, said)
    number = version_of(version) if version else None
    for tag, commit in checkout.tags.items() if number and not number.under_way else ():
        found = _released(tag)
        if found is not None and number is not None and found.same(number) and commit != checkout.head:
            said = f"version {version} has the tag {tag} at {commit[:12]}; this is {checkout.head[:12]}"
            yield flaw("ALREADY_RELEASED", tag, said)


def _released(tag: str) -> Version | None:
    """The version that a tag stands for: v1.2.3, 1.2.3, release-1.2.3."""
    return version_of(tag) or version_of(tag.rpartition("-")[2] if tag.startswith("release-") else "")


def merge_flaws(tree: Tree, rules: ReleaseRules, progress: Progress = quiet) -> Iterator[Flaw]:
    """Files with both sides of a merge in them: the three marks at the beginnings of lines, in order."""
    paths = plain_files(tree.checkout) if tree.checkout else tree.files
    for number, path in enumerate(paths):
        if number % _EVERY == 0:
            progress(number, len(paths), path)
        found = tree.beginning(path)
        data = found[0] if found is not None else b""
        if b"<<<<<<< " not in data or b">>>>>>> " not in data:
            continue
        line, quoted = _marks(data.decode("utf-8", "replace"), page=path.endswith(_PAGES))
        if line:
            mild = quoted or rules.places.is_mild(path)
            said = "both sides of a merge are in the file"
            yield rules.flaws.flaw("MERGE_MARKS", f"{path}:{line}", said, mild=mild)
    if tree.spent or tree.cut:
        yield rules.flaws.flaw("NOT_READ", ".", "there are more files, or larger ones, than are looked at")


def _marks(text: str, *, page: bool) -> tuple[int, bool]:
    """The line of the first mark of a merge, 0 where there is none; and whether a page shows it as code."""
    wanted, first, fenced, quoted = 0, 0, False, False
    for number, line in enumerate(text.splitlines(), 1):
        if page and line.lstrip().startswith(_FENCES):
            fenced = not fenced
        mark = _MARKS[wanted]
        if line == mark if wanted == 1 else line.startswith(mark):
            first, quoted = (number, fenced) if wanted == 0 else (first, quoted)
            wanted += 1
            if wanted == len(_MARKS):
                return first, quoted
    return 0, False


def tracked_flaws(tree: Tree, rules: ReleaseRules) -> Iterator[Flaw]:
    """Files that should not be in version control: secret by their name, or big."""
    flaw, places = rules.flaws.flaw, rules.places
    for path in plain_files(tree.checkout) if tree.checkout else tree.files:
        if code := places.secret(path):
            yield flaw(code, path, "its name is that of a file with secrets", mild=places.is_mild(path))
        elif (size := size_of(tree, path)) > places.big:
            yield flaw("BIG_FILE", path, f"it has {size:,} bytes")
