"""An honest server with one of everything: tools of each class, resources, templates, prompts, completion.

What it did it writes into files of ``--folder``, so that a test can look at the effect and not at the answer.
"""

from __future__ import annotations

import os
import warnings
from typing import Annotated, Any, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Audio, Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.types import (
    Completion,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    InputRequiredResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel, Field
from running import one_era, options, serve

warnings.simplefilter("ignore", MCPDeprecationWarning)  # both eras are spoken on purpose
CHOSEN = options().parse_args()
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cf50000004000201e221bc330000000049454e44ae426082"
)
NOTES = CHOSEN.folder / "notes.txt"

server = MCPServer(
    "plain",
    version="1.2.3",
    instructions="Notes of one person.",
    log_level="CRITICAL",
    middleware=one_era(CHOSEN.era),
)

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
DESTROYS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)


class Weather(BaseModel):
    city: str
    celsius: float
    wind: list[float] = Field(description="metres a second, by hour")


@server.tool(annotations=READS)
def look(token: str) -> dict[str, str | int]:
    """Look something up and give the token back."""
    return {"token": token, "pid": os.getpid()}


@server.tool(annotations=READS)
def read_notes() -> str:
    """Read all notes that were kept."""
    return NOTES.read_text() if NOTES.exists() else ""


@server.tool(annotations=WRITES)
def add_note(text: Annotated[str, Field(description="the note, one line")]) -> str:
    """Keep one more note at the end of the others."""
    with NOTES.open("a") as file:
        file.write(text + "\n")
    return f"kept: {text}"


@server.tool(annotations=DESTROYS)
def wipe() -> str:
    """Delete all notes for good."""
    NOTES.unlink(missing_ok=True)
    return "gone"


@server.tool()
def unmarked(text: str) -> str:
    """Say the text back; this tool tells nothing about its effects."""
    return text


@server.tool(annotations=READS)
async def count(ctx: Context, to: int = 3) -> int:
    """Count upwards and tell of the progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"counted {number}")
    return to


@server.tool(annotations=READS)
async def chatter(ctx: Context, words: str) -> str:
    """Write a line of log at four levels, then answer."""
    for level in ("debug", "info", "warning", "error"):
        await ctx.log(level, {"words": words, "level": level}, logger_name="plain.chatter")
    return words


@server.tool(annotations=READS)
async def slow(seconds: float, name: str = "slow") -> str:
    """Take a while; what became of it is written beside the notes."""
    (CHOSEN.folder / f"{name}.started").touch()
    try:
        await anyio.sleep(seconds)
    except BaseException:
        (CHOSEN.folder / f"{name}.cancelled").touch()
        raise
    (CHOSEN.folder / f"{name}.finished").touch()
    return f"slept {seconds} s"


@server.tool(annotations=READS)
def weather(city: str) -> Weather:
    """Tell the weather of a city as structured data."""
    return Weather(city=city, celsius=-3.5, wind=[1.0, 2.25])


@server.tool(annotations=READS)
def picture() -> Image:
    """Give a picture of one pixel."""
    return Image(data=PNG, format="png")


@server.tool(annotations=READS, structured_output=False)
def mixed() -> list[Any]:
    """Give one block of each kind of content."""
    return [
        TextContent(text="grüße 🌍 \u2028 \u202e", _meta={"note": "kept"}),
        Image(data=PNG, format="png"),
        Audio(data=b"RIFF\x00\xff", format="wav"),
        ResourceLink(name="monday", uri="notes://day/monday", description="a link", mime_type="text/plain"),
        EmbeddedResource(
            resource=TextResourceContents(uri="notes://day/tuesday", text="Tuesday", mime_type="text/plain")
        ),
    ]


@server.tool(annotations=READS)
def fail(message: str) -> str:
    """Fail with the tool's own error."""
    raise ToolError(message)


@server.tool(annotations=READS)
def protocol_error() -> str:
    """Fail with an error of the protocol."""
    raise MCPError(-32042, "the peer's own code", {"detail": [1, 2]})


@server.tool(annotations=READS)
def big(size: int) -> str:
    """Give that many letters."""
    return "x" * size


@server.tool(annotations=READS)
def environment() -> list[str]:
    """Tell the names of the variables that this process sees."""
    return sorted(os.environ)


@server.tool(annotations=READS)
def leak() -> str:
    """Give a text with something in it that looks like a key."""
    return "the key is ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9" + ", keep it"


class Yes(BaseModel):
    sure: bool


@server.tool(annotations=READS, structured_output=False)
async def ask(ctx: Context) -> Any:
    """Ask the person behind the client."""
    if (ctx.protocol_version or "") < "2026":
        return (await ctx.elicit("Are you sure?", Yes)).action
    if ctx.input_responses:
        return str(ctx.input_responses["sure"])
    form = ElicitRequestFormParams(message="Are you sure?", requested_schema=Yes.model_json_schema())
    return InputRequiredResult(input_requests={"sure": ElicitRequest(params=form)}, request_state="asked")


@server.resource("notes://all", mime_type="text/plain", description="all notes")
def all_notes() -> str:
    return NOTES.read_text() if NOTES.exists() else "no notes"


@server.resource("notes://picture", mime_type="image/png", description="one pixel")
def one_pixel() -> bytes:
    return PNG


@server.resource("notes://day/{day}", mime_type="text/plain", description="the notes of a day")
def of_day(day: str) -> str:
    return f"notes of {day}"


@server.prompt(description="Greet somebody")
def greet(name: str, tone: Literal["warm", "cool"] = "warm") -> str:
    return f"Greet {name} in a {tone} tone."


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    days = ["monday", "tuesday", "wednesday", "thursday"]
    return Completion(values=[day for day in days if day.startswith(argument.value)], has_more=False)


if __name__ == "__main__":
    serve(server, CHOSEN)
