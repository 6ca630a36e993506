"""Publishes a notice to a topic of an ntfy server, from where phones and browsers get it."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.core.hashing import json_bytes
from executor.sandbox.origin import Url, parse_url, require_encrypted
from executor.tools.tool import Bench
from mcl.plugins.messages.notice import post

_LEVELS = {"min": 1, "low": 2, "default": 3, "high": 4, "urgent": 5}


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Publish it.

    Raises:
        ToolError: BAD_TOPIC, CREDENTIAL_IN_CLEAR, HTTP_STATUS.
    """
    url = parse_url(str(args["url"]))
    topic = url.target.strip("/")
    if not topic or "/" in topic or "?" in topic:
        raise ToolError(
            "BAD_TOPIC",
            f"{url} names no topic",
            place=str(url),
            fix="write it with its topic, such as https://ntfy.sh/my-topic",
        )
    said: dict[str, object] = {"topic": topic, "message": str(args["message"])}
    said |= {name: str(args[name]) for name in ("title", "click") if name in args}
    said["priority"] = _LEVELS[str(args.get("priority", "default"))]
    headers = {"Content-Type": "application/json"}
    if "token" in args:
        require_encrypted(url)
        headers["Authorization"] = f"Bearer {args['token']}"
    await post(Url(url.origin, "/"), headers, json_bytes(said), bench)
    return {"url": str(url), "topic": topic, "text": f"told {topic} at {url.origin}: {args['message']}"}
