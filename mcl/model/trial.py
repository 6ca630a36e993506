"""`python -m mcl.model.trial FILE`: load a model, evaluate one token and render its chat template, in a
process of its own.

Exits 0 when that works; else 2 with the error as JSON on stdout. Where llama.cpp aborts, it aborts only this.
"""

import json
import sys
from pathlib import Path

from mcl.core.errors import ModelError
from mcl.model.chat import ChatTemplate
from mcl.model.llama.context import ContextSize, ModelContext
from mcl.model.llama.vocabulary import Vocabulary
from mcl.model.llama.weights import Weights

_CELLS = 256
# Characters of many kinds: a vocabulary that lacks a piece for a byte aborts llama.cpp's tokeniser.
_TEXT = "".join(map(chr, range(0x20, 0x250))) + "\n\t …€漢字😀"


def main(path: Path) -> int:
    """Try the file; 0 or 2."""
    try:
        weights = Weights(path)
        vocabulary = Vocabulary.of(weights)
        context = ModelContext(weights, ContextSize(tokens=_CELLS, batch=_CELLS))
        weights.tokens(_TEXT)
        context.feed([0], reads=[0])
        ChatTemplate(weights, vocabulary)  # one that never ends ends with this process
    except ModelError as error:
        sys.stdout.write(json.dumps(error.to_json()))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
