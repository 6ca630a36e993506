"""What a client of the modern era carries from one try of a call to the next: sealed, for just this call."""

from __future__ import annotations

import base64
import json
from typing import Final

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

from mcl.serve.exchange import Caller

_MOST: Final = 4096  # characters; what is given out is a tenth of it


class States:
    """Seals states, and reads those that it sealed itself: none of another process, home or server."""

    def __init__(self) -> None:
        self._box = SecretBox(random(SecretBox.KEY_SIZE))

    def give(self, caller: Caller, what: str, **said: str) -> str:
        """A state for this client that comes back with the same call. what: the call, as a digest."""
        told = {"client": [caller.client, caller.version], "what": what, "said": said}
        return base64.urlsafe_b64encode(bytes(self._box.encrypt(json.dumps(told).encode()))).decode()

    def read(self, caller: Caller, what: str = "") -> dict[str, str] | None:
        """What was said in the state that a call brought; None where it was not given out here, to this
        client and for this call ("": whatever call)."""
        if len(caller.state) > _MOST:
            return None
        try:
            sealed = base64.b64decode(caller.state.encode(), altchars=b"-_", validate=True)
            told = json.loads(self._box.decrypt(sealed))
        except (CryptoError, ValueError, TypeError):  # no base64, no JSON, not ours
            return None
        if told["client"] != [caller.client, caller.version] or (what and told["what"] != what):
            return None
        return dict(told["said"])
