"""Posts a short text, or an object, to a webhook: a channel of a chat, or whatever takes JSON."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.core.hashing import json_bytes
from executor.sandbox.origin import parse_url, require_encrypted
from executor.tools.tool import Bench
from mcl.plugins.messages.notice import post


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Post it.

    Raises:
        ToolError: BAD_ARGUMENTS, OTHER_HOST, CREDENTIAL_IN_CLEAR, HTTP_STATUS.
    """
    if ("text" in args) == ("json" in args):
        raise ToolError(
            "BAD_ARGUMENTS", "it takes a text or an object", place="text", fix="give one of text and json"
        )
    url = parse_url(str(args["url"]))
    told = str(url)
    if "address" in args:  # it is a secret as a whole: who knows it may post there
        require_encrypted(url)
        whole = parse_url(str(args["address"]))
        if whole.origin != url.origin:
            raise ToolError(
                "OTHER_HOST",
                f"the address that was named is not at {url.origin}",
                place="address",
                fix="name the host of that address as url",
            )
        url, told = whole, str(url.origin)
    body = args["json"] if "json" in args else {str(args["field"]): str(args["text"])}
    status = await post(url, {"Content-Type": "application/json"}, json_bytes(body), bench)
    return {"url": told, "status": status, "text": f"posted to {told}"}
