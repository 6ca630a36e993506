"""A server whose tools change while it runs (``grow``, ``rewrite``), or between starts (``--described``)."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from running import one_era, options, serve

PARSER = options()
PARSER.add_argument("--described", default="Say the text back.", help="the description of the tool say")
CHOSEN = PARSER.parse_args()
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

server = MCPServer("changing", log_level="CRITICAL", middleware=one_era(CHOSEN.era))


async def tell(ctx: Context) -> None:
    """Tell of a changed list in both eras: a notification, and an event for those who listen."""
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()


def say(text: str) -> str:
    return text


def say_louder(text: str, times: int = 2) -> str:
    return text.upper() * times


server.add_tool(say, description=CHOSEN.described, annotations=READS)


@server.tool(annotations=READS)
async def grow(ctx: Context, name: str) -> str:
    """Offer one more tool from now on."""
    server.add_tool(lambda: name, name=name, description=f"Says {name}.", annotations=READS)
    await tell(ctx)
    return name


@server.tool(annotations=READS)
async def rewrite(ctx: Context, described: str = "Say it louder.") -> str:
    """Change what the tool say is from now on."""
    server.remove_tool("say")
    server.add_tool(say_louder, name="say", description=described, annotations=READS)
    await tell(ctx)
    return described


@server.tool(annotations=READS)
async def shrink(ctx: Context) -> str:
    """Offer the tool say no longer."""
    server.remove_tool("say")
    await tell(ctx)
    return "gone"


if __name__ == "__main__":
    serve(server, CHOSEN)
