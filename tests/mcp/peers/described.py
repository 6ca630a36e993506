"""A server that describes its tool as a file has it, and leaves a trace of its start and of each call."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from running import one_era, options, serve

CHOSEN = options().parse_args()
server = MCPServer("described", log_level="CRITICAL", middleware=one_era(CHOSEN.era))
(CHOSEN.folder / "started").touch()


def say(text: str) -> str:
    with (CHOSEN.folder / "said").open("a") as file:
        file.write(f"{text}\n")
    return text


server.add_tool(
    say,
    description=(CHOSEN.folder / "description").read_text(),
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
)


if __name__ == "__main__":
    serve(server, CHOSEN)
