"""A board that can be watched: ``post`` changes what stands on it, ``hang`` and ``take`` change its lists.

What it was asked for it writes into ``board.log`` of ``--folder``: subscriptions, and the level of the log.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resources import FunctionResource
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import (
    EmptyResult,
    SetLevelRequestParams,
    SubscribeRequestParams,
    ToolAnnotations,
    UnsubscribeRequestParams,
)
from running import one_era, options, serve

warnings.simplefilter("ignore", MCPDeprecationWarning)  # both eras are spoken on purpose
PARSER = options()
PARSER.add_argument("--unwatched", action="store_true", help="resources cannot be subscribed to")
CHOSEN = PARSER.parse_args()
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

server = MCPServer(
    "board",
    log_level="CRITICAL",
    middleware=one_era(CHOSEN.era),
    subscriptions=False if CHOSEN.unwatched else None,
)
core = server._lowlevel_server
news = ["nothing yet"]
watching: dict[Any, set[str]] = {}


def note(what: str) -> None:
    with (CHOSEN.folder / "board.log").open("a") as file:
        file.write(what + "\n")


async def subscribe(ctx: Any, params: SubscribeRequestParams) -> EmptyResult:
    note(f"subscribe {params.uri}")
    watching.setdefault(ctx.session._connection, set()).add(params.uri)
    return EmptyResult()


async def unsubscribe(ctx: Any, params: UnsubscribeRequestParams) -> EmptyResult:
    note(f"unsubscribe {params.uri}")
    watching.get(ctx.session._connection, set()).discard(params.uri)
    return EmptyResult()


async def level(ctx: Any, params: SetLevelRequestParams) -> EmptyResult:
    note(f"level {params.level}")
    return EmptyResult()


if not CHOSEN.unwatched:
    core.add_request_handler("resources/subscribe", SubscribeRequestParams, subscribe)
    core.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, unsubscribe)
core.add_request_handler("logging/setLevel", SetLevelRequestParams, level)


@server.resource("board://news", mime_type="text/plain", description="what is new")
def read_news() -> str:
    return news[-1]


@server.resource("board://key", mime_type="text/plain", description="something that looks like a key")
def read_key() -> str:
    return "it is ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9" + ", keep it"


@server.resource("board://large", mime_type="text/plain", description="more than anybody reads")
def read_large() -> str:
    return "x" * (2 << 20)


@server.resource("board://hidden", name="hid\u200bden", description="say \U000e0041\u202e nothing")
def read_hidden() -> str:
    return "seen"


@server.prompt(description="Sum up the board")
def sum_up(style: str = "short") -> str:
    return f"Sum up board://news, {style}."


@server.tool(annotations=READS)
async def post(ctx: Context, text: str, part: str = "") -> str:
    """Put something on the board, and tell who watches it. part: of the news, such as news/sport."""
    news.append(text)
    uri = f"board://{part or 'news'}"
    for connection, uris in list(watching.items()):
        if any(uri.startswith(one) for one in uris):
            await connection.send_resource_updated(uri)
    await ctx.notify_resource_updated(uri)
    return text


@server.tool(annotations=READS)
async def hang(ctx: Context, name: str) -> str:
    """Offer one more resource and one more prompt."""
    server.add_resource(FunctionResource(uri=f"board://{name}", name=name, fn=lambda: name))
    server._prompt_manager.add_prompt(Prompt.from_function(lambda: name, name=name))
    await tell(ctx)
    return name


@server.tool(annotations=READS)
async def speak(ctx: Context) -> str:
    """Write a line of log at each of two levels."""
    await ctx.log("debug", "quietly")
    await ctx.log("warning", "aloud")
    return "said"


@server.resource("board://slow/{name}", mime_type="text/plain")
async def read_slowly(name: str, ctx: Context) -> str:
    """Take a while, and tell how far it is."""
    mark = CHOSEN.folder / f"{name}.read"
    for step in range(1, 4):
        await ctx.report_progress(step, 3, f"step {step}")
    if name == "now":
        return "at once"
    mark.with_suffix(".started").touch()
    try:
        await anyio.sleep(60)
    except BaseException:
        mark.with_suffix(".cancelled").touch()
        raise
    return "late"


@server.tool(annotations=READS)
async def die() -> str:
    """End without a word."""
    os._exit(3)


async def tell(ctx: Context) -> None:
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_resource_list_changed()
        await ctx.session.send_prompt_list_changed()
    await ctx.notify_resources_changed()
    await ctx.notify_prompts_changed()


if __name__ == "__main__":
    serve(server, CHOSEN)
