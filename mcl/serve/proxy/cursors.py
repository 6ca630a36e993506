"""Where a page of our own lists ended, as a text that only we can read or make.

A cursor names the last item of its page, not its number: what comes or goes before it shifts nothing, and
where that item itself is gone the next page begins where it was. It holds for one list and one process.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from typing import Final

from mcl.core.errors import McpError

_MAC: Final = 16  # bytes
_MOST: Final = 32_768  # characters of a cursor that are looked at


class Cursors:
    """Makes and reads cursors. key: bytes that nobody else knows (default: random ones)."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key or secrets.token_bytes(32)

    def after(self, kind: str, server: str, name: str) -> str:
        """The cursor of a page whose last item is this. kind: the list; name: the item's own key in it."""
        said = json.dumps([kind, server, name]).encode()
        return urlsafe_b64encode(self._mac(said) + said).decode().rstrip("=")

    def read(self, kind: str, cursor: str) -> tuple[str, str]:
        """The (server, name) after which the next page begins.

        Raises:
            McpError: BAD_CURSOR, for one of another list, of another process, or made by somebody else.
        """
        try:
            if len(cursor) > _MOST:
                raise ValueError
            whole = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            mac, said = whole[:_MAC], whole[_MAC:]
            if not hmac.compare_digest(mac, self._mac(said)) or self._text(mac + said) != cursor:
                raise ValueError
            its_kind, server, name = json.loads(said)
            if its_kind != kind:
                raise ValueError
        except (ValueError, NotBase64):
            raise McpError(
                "BAD_CURSOR",
                "this cursor is not one that this list gave, or it is from before mcl was started again",
                place="cursor",
                fix="begin again, without a cursor",
            ) from None
        return str(server), str(name)

    def _mac(self, said: bytes) -> bytes:
        return hmac.new(self._key, said, hashlib.sha256).digest()[:_MAC]

    @staticmethod
    def _text(whole: bytes) -> str:
        return urlsafe_b64encode(whole).decode().rstrip("=")
