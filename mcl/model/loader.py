"""From a path to a model that answers."""

from pathlib import Path

from mcl.core.errors import ModelError
from mcl.model.form import FORM
from mcl.model.protocol import Model

_FORM_KEY = "mcl.form"


def load_model(path: Path | None, *, home_path: Path | None, spaced: bool = False) -> Model:
    """Open the GGUF at `path` (None: the bundled one), checked, ready to answer.

    home_path: the home's folder, for what is remembered of files and of prompts; None: nothing is remembered.
    spaced: JSON with blanks, for a model without a form of its own.
    Raises ModelError: MODEL_MISSING, MODEL_NOT_GGUF, MODEL_VERSION, MODEL_TRUNCATED, MODEL_BROKEN,
    MODEL_ARCHITECTURE, MODEL_KIND, MODEL_FORM, MODEL_LIBRARY; each says what to do, `--no-ai` included.
    """
    from mcl.model.files import open_model_file
    from mcl.model.llama.weights import NO_AI, Weights

    file = open_model_file(path or bundled_path(), home_path=home_path)
    weights = Weights(file.path)
    cache = home_path / "cache" / "prefix" if home_path else None
    spoken = weights.meta(_FORM_KEY)
    # Each kind of model is imported when it is asked for: a cold start pays for one of them only.
    if spoken is None:
        from mcl.model.chat import ChatModel

        return ChatModel(weights, digest=file.digest, cache=cache, spaced=spaced)
    if spoken != FORM:
        raise ModelError(
            "MODEL_FORM",
            f"this model answers in the form {spoken!r}; this version reads {FORM!r}",
            place=str(file.path),
            fix=NO_AI,
        )
    from mcl.model.tags import TagModel

    return TagModel(weights, digest=file.digest, cache=cache)


def bundled_path() -> Path:
    """The model that comes with the package. Raises ModelError MODEL_MISSING where none was built in."""
    found = sorted((Path(__file__).parent / "data").glob("*.gguf"))
    if not found:
        raise ModelError(
            "MODEL_MISSING",
            "no model comes with this installation",
            fix="make model, or name a GGUF with --model, or work without one: --no-ai",
        )
    return found[-1]
