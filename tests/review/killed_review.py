"""A review whose model never answers: the part that runs in a process which is killed."""

from __future__ import annotations

import sys
import time

from scripted import Scripted

from mcl.model.protocol import WritingRequest
from mcl.plugins.review.usecases.run import review_code


def hang(request: WritingRequest) -> str:
    """Say that the model was asked, and answer nothing."""
    print("asked", flush=True)
    time.sleep(600)
    return ""


if __name__ == "__main__":
    review_code("run.py", mode="risk", model=Scripted(hang, digest=sys.argv[1]))
