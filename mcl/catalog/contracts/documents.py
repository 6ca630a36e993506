"""The two documents that tell the contracts: JSON for programs, Markdown for people.

Equal contracts give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, cast

from mcl.catalog.contracts.contract import Contract

JSON_FILE: Final = "tool_contracts.json"
SAFETY_FILE: Final = "TOOL_SAFETY.md"
FORM: Final = "mcl.tool-contracts.v1"  # what both documents call themselves

_CLASSES: Final = {
    "A": "reads, in the workspace",
    "B": "reads elsewhere: the machine, granted hosts",
    "C": "writes, in its declared scope",
    "D": "starts a declared program",
    "E": "acts on the world",
}
_HEADS: Final = ("tool", "class", "paths", "writes", "starts", "network", "side effects")


def json_document(contracts: Mapping[str, Contract]) -> str:
    """tool_contracts.json: every contract whole, in the order given, and how many there are."""
    tools = list(contracts.values())
    document = {"v": FORM, "count": len(tools), "tools": tools}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def safety_document(contracts: Mapping[str, Contract]) -> str:
    """TOOL_SAFETY.md: a row a tool, after what the columns mean."""
    return "\n".join(_lines(contracts)) + "\n"


def _lines(contracts: Mapping[str, Contract]) -> Iterator[str]:
    yield f"<!-- {FORM}: made by `mcl tool contracts --out`; edit the manifests, not this file -->"
    yield "# Safety of tools"
    yield ""
    yield f"{len(contracts)} tools. `mcl tool verify` compares this page with the manifests, the code, and"
    yield f"what each tool was seen to do. All that is promised of a tool: [{JSON_FILE}]({JSON_FILE})."
    yield ""
    yield from _table(("class", "what it is", "tools"), _classes(contracts))
    yield ""
    yield "*paths*: what paths are held to. *workspace*: inside it. *workspace+allowed*: what is read may"
    yield "also lie in a folder that was granted or allowed. *network*: hosts that a person granted."
    yield "*none*: it takes no path."
    yield "A tool that neither writes nor starts a program leaves nothing behind but its answer."
    yield ""
    yield from _table(_HEADS, (_row(name, one) for name, one in contracts.items()))


def _classes(contracts: Mapping[str, Contract]) -> Iterator[tuple[str, ...]]:
    classes = [str(one["class"]) for one in contracts.values()]
    for name, said in _CLASSES.items():
        yield name, said, str(classes.count(name))


def _row(name: str, one: Contract) -> tuple[str, ...]:
    programs, effects = cast(list[str], one["programs"]), cast(list[str], one["side_effects"])
    starts = ", ".join(f"`{program}`" for program in programs) or ("a program" if one["subprocess"] else "no")
    return (
        f"`{name}`",
        str(one["class"]),
        str(one["resolver"]),
        "yes" if one["write"] else "no",
        starts,
        "yes" if one["network"] else "no",
        "; ".join(effects).replace("|", "\\|") or "none",
    )


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
