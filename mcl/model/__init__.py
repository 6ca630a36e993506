"""What understands prose: the bundled model, any other GGUF, or a deterministic matcher; one protocol."""

from mcl.model.opening import bundled_path, load_model
from mcl.model.protocol import Candidate, Choice, ExtractForm, Model, SlotForm, Span

__all__ = [
    "Candidate",
    "Choice",
    "ExtractForm",
    "Model",
    "SlotForm",
    "Span",
    "bundled_path",
    "load_model",
]
