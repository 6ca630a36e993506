"""What a review found, remembered of each file when its run has ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home
from ir import Intent
from mcl.plugins.review.conclusion import finding_of
from mcl.plugins.review.findings import without_repeats
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from executor.walker import Outcome
    from mcl.plugins.review.findings import Finding

SKILL: Final = "review-code"


def keep_review(home: Home, intent: Intent, outcome: "Outcome", workspace: Path) -> None:
    """Remember what a review found in each file; nothing where it did not end.

    What was found in a part of a file is added to what its last review found, and a part in which nothing is
    found leaves it as it is: only a review of the whole file can say that something is gone. Of a folder,
    files are remembered that have findings or had some.
    """
    looked, ended = outcome.outputs.get("look"), outcome.outputs.get("conclude")
    if not isinstance(looked, dict) or not isinstance(ended, dict):
        return
    from mcl.plugins.review.memory import Memories

    history = Memories(home, workspace).history
    of: dict[str, list[Finding]] = {}
    for one in map(finding_of, (*ended["findings"], *ended.get("dismissed", ()))):
        of.setdefault(one.file, []).append(one)
    texts = {one["path"]: one["text"] for one in looked.get("pieces", ())}
    folder = looked["kind"] == "folder"
    known = {one.file: one.total + len(one.dismissed) for one in history.files()} if folder else {}
    slots = {one.name: one.value for one in intent.frame.objects}
    model = _name(home, slots.get("model", ""))
    for file in looked["files"]:
        name = file["path"]
        found = of.get(name, [])
        if found or (_whole(file) and (known.get(name) or not folder)):
            for before in () if _whole(file) else history.last(name, 1):
                found = [*without_repeats([*found, *before.findings, *before.dismissed])]
            history.record(
                name,
                findings=found,
                mode=slots["mode"],
                model=model,
                skill=SKILL,
                intent=intent.id,
                at=home.clock.now(),
                content=texts.get(name, ""),
            )


def _name(home: Home, digest: str) -> str:
    """What this home calls a model; of one that it does not know, the beginning of its digest."""
    known = (one.name for one in Models(home).list() if one.digest == digest)
    return next(known, digest[:12]) if digest else ""


def _whole(file: Mapping[str, Any]) -> bool:
    return bool(file["judged"] == file["total"])
