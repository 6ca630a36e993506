"""What understands prose: the bundled model, any other GGUF, or the matcher; one protocol.

Whatever answers is held to a closed set: an option, a run of words of the goal, a form. It opens weights, and
knows neither home nor journal.
"""

from mcl.model.loader import bundled_path, load_model
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
