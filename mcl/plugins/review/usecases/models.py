"""The model that a review was signed with."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir import Intent
from ir.errors import REFUSED
from mcl.compiler.tape import Unloaded
from mcl.core.errors import ModelError
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from mcl.model import Model


def signed_model(
    home: Home, intent: Intent, model: "Path | Model | None", *, ai: bool
) -> "Callable[[], Model]":
    """What loads the model of a review's intent: the one given, else one that this home knows by its digest.

    Raises ModelError MODEL_MISSING (this home does not know it), MODEL_CHANGED (the one given is another),
    and what its file is refused with. Nothing has been run then, so the review can go on.
    """
    digest = next((one.value for one in intent.frame.objects if one.name == "model"), "")
    if model is None and ai:
        known = next((one for one in Models(home).list() if one.digest == digest), None)
        if known is None or known.path is None or known.fault:
            raise ModelError(
                "MODEL_MISSING",
                f"this home has no model with the sha256 {digest[:12]}, which the review was signed with",
                place=intent.id,
                fix=f"name its file: mcl run {intent.id} --resume --model PATH",
            )
        model = known.path
    asked = _opened(home, model, ai=ai)
    if asked.digest != digest:
        raise ModelError(
            "MODEL_CHANGED",
            f"the review was signed with the model {digest[:12]}, and this is {asked.digest[:12]}",
            place=intent.id,
            fix="name the file that it began with, or review again",
            exit=REFUSED,
        )
    return asked.load if isinstance(asked, Unloaded) else lambda: asked


def _opened(home: Home, model: "Path | Model | None", *, ai: bool) -> "Unloaded | Model":
    if model is None:
        return Models(home).open(ai=ai)
    return Models(home).unloaded(model) if isinstance(model, Path) else model
