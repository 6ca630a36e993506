"""What understands prose: the bundled model, any other GGUF, or the matcher; one protocol.

Whatever answers is held to a closed set: an option, a run of words of the goal, a form. It opens weights, and
knows neither home nor journal.
"""

from mcl.model.loader import bundled_path as bundled_path
from mcl.model.loader import load_model as load_model
from mcl.model.protocol import Candidate as Candidate
from mcl.model.protocol import Choice as Choice
from mcl.model.protocol import ExtractForm as ExtractForm
from mcl.model.protocol import Model as Model
from mcl.model.protocol import SlotForm as SlotForm
from mcl.model.protocol import Span as Span
