"""From a path to a model that answers."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.core.errors import ModelError
from mcl.model.protocol import Model

if TYPE_CHECKING:
    from mcl.model.files import ModelFile
    from mcl.model.llama.weights import Weights

# A chat model of fewer weights writes into every key that its grammar offers: limits that nobody set.
_FILLS_LIMITS = 1_000_000_000


def load_model(path: Path | None, *, home_path: Path | None, spaced: bool = False) -> Model:
    """Open the GGUF at `path` (None: the bundled one), checked, ready to answer.

    home_path: the home's folder, for what is remembered of files and of prompts; None: nothing is remembered.
    spaced: JSON with blanks, for a model without a form of its own.
    Raises ModelError: MODEL_MISSING, MODEL_NOT_GGUF, MODEL_VERSION, MODEL_TRUNCATED, MODEL_BROKEN,
    MODEL_ARCHITECTURE, MODEL_KIND, MODEL_FORM, MODEL_LIBRARY; each says what to do, `--no-ai` included.
    """
    from mcl.model.files import form_of, open_model_file, read_header
    from mcl.model.llama.weights import Weights

    file = open_model_file(path or bundled_path(), home_path=home_path)
    weights = Weights(file.path) if path else _bundled(file)
    cache = home_path / "cache" / "prefix" if home_path else None
    # Each kind of model is imported when it is asked for: a cold start pays for one of them only.
    if form_of(weights) is None:
        from mcl.model.chat import ChatModel

        large = read_header(file.path).weights >= _FILLS_LIMITS
        return ChatModel(weights, digest=file.digest, cache=cache, spaced=spaced, limits=large)
    from mcl.model.encoder import EncoderModel

    vectors = home_path / "cache" / "vectors" if home_path else None
    return EncoderModel(
        weights, digest=file.digest, cache=vectors, shipped=_shipped(file.digest) if path is None else b""
    )


@lru_cache(maxsize=1)
def _bundled(file: "ModelFile") -> "Weights":
    """The bundled model, mapped once a process: it is small, and asked for again and again."""
    from mcl.model.llama.weights import Weights

    return Weights(file.path)


def shipped_path() -> Path:
    """Where the vectors of the shipped skills lie, behind the sha256 of the model that read them."""
    return bundled_path().with_suffix(".vectors")


def _shipped(digest: str) -> bytes:
    """Vectors of the shipped skills, as the bundled model of this digest read them; else nothing."""
    try:
        data = shipped_path().read_bytes()
    except OSError:
        return b""
    return data[32:] if data[:32].hex() == digest else b""


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
