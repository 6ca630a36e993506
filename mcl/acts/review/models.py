"""The model that a review was signed with."""

from pathlib import Path
from typing import TYPE_CHECKING

from executor.home import Home
from ir import Intent
from ir.errors import REFUSED
from mcl.acts.models import Models
from mcl.errors import ModelError

if TYPE_CHECKING:
    from mcl.model import Model


def signed_model(home: Home, intent: Intent, model: "Path | Model | None", *, ai: bool) -> "Model":
    """The model of a review's intent, loaded: the one given, else one that this home knows by its digest.

    Raises ModelError MODEL_MISSING (this home does not know it), MODEL_CHANGED (the one given is another),
    and what its file is refused with.
    """
    from mcl.acts.compile import open_model

    digest = next((one.value for one in intent.frame.objects if one.name == "model"), "")
    if model is None and ai:
        found = Models(home).with_digest(digest)
        if found is None:
            raise ModelError(
                "MODEL_MISSING",
                f"this home has no model with the sha256 {digest[:12]}, which the review was signed with",
                place=intent.id,
                fix=f"name its file: mcl run {intent.id} --resume --model PATH",
            )
        return found
    opened = open_model(home, model, ai=ai)
    if opened.digest != digest:
        raise ModelError(
            "MODEL_CHANGED",
            f"the review was signed with the model {digest[:12]}, and this one is {opened.digest[:12]}",
            place=intent.id,
            fix="name the file that it began with, or review again",
            exit=REFUSED,
        )
    return opened
