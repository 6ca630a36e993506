"""One gate: no tool adapter can be reached but through the registry, and the registry wants the gate's Allow.

The source is read, not run: each way round that Python offers is looked for by name. What is found must be
exactly what is declared here, and the second half shows that each bypass somebody might add would be found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("ir", "executor", "mcl", "grammars", "skills")

# The rooms of tools: what lies there is an adapter or serves one. Beside them lie their manifests.
ROOMS: Final = tuple(
    sorted(
        {
            place.parent.relative_to(ROOT).as_posix()
            for package in PACKAGES
            for place in (ROOT / package).rglob("tools/*/*.toml")
            if "uri =" in place.read_text()  # what else lies there are tables
        }
    )
)
MODULES: Final = tuple(room.replace("/", ".") for room in ROOMS)
BY_NAME: Final = (
    *("import_module", "__import__", "run_module", "run_path", "spec_from_file_location", "exec", "eval"),
    *("find_spec", "load_module", "exec_module", "attrgetter", "methodcaller", "load_named"),
)
# Attributes and texts that lead to an adapter, to the registry's table, or into an Allow.
DOORS: Final = ("adapter", "invoke", "_SEAL", "_Registry__tools", "__tools", "_call_hash", "_spent")
# What leads to a tool, a resource or a prompt of another server.
ABROAD: Final = ("perform", "read_resource", "get_prompt", "send_request")
CONNECTIONS: Final = ("upstreams", "ups")  # names of what has them; and what is asked of these
ASKED: Final = ("call", "complete")
HOLDERS: Final = (
    "Tool",
    "tools_in",
    "declared_commands",
    "shipped_tools",
)  # names whose values hold adapters

DECLARED: Final = {
    # Who makes an Allow, and who asks for one.
    ("executor/gate/decide.py", "_SEAL"),
    ("executor/call.py", "_SEAL"),
    ("executor/call.py", "_call_hash"),
    ("executor/call.py", "_spent"),
    ("executor/gate/decide.py", "Allow()"),
    # The field of a Tool, the one place that runs it, and those that call that place with an Allow.
    ("executor/tools/tool.py", "adapter"),
    ("executor/tools/registry.py", "adapter"),
    ("executor/tools/registry.py", "__tools"),
    ("executor/walker/nodes.py", "invoke"),
    ("executor/walker/handover.py", "invoke"),
    ("executor/walker/criteria.py", "invoke"),
    ("mcl/plugins/mcp/calls.py", "invoke"),
    ("mcl/plugins/agents/work/criteria.py", "invoke"),  # addresses that criteria of signed work name
    ("mcl/plugins/probing/calls.py", "invoke"),  # the walker's call, watched
    # Who puts manifests and adapters together.
    ("executor/tools/registry.py", "holds Tool"),
    ("executor/tools/process/commands.py", "holds Tool"),
    ("executor/tools/process/commands.py", "another tool's run"),  # its adapter for declared commands
    ("mcl/catalog/tools/registry.py", "holds Tool"),
    # The addresses of declared commands, for goals that name one: manifests are read, nothing is called.
    ("mcl/compiler/stages/commands.py", "a tool's module"),
    ("mcl/compiler/stages/commands.py", "holds declared_commands"),
    ("mcl/plugins/mcp/foreign.py", "holds Tool"),
    ("mcl/plugins/mcp/outside.py", "holds Tool"),
    ("mcl/catalog/tools/registry.py", "holds tools_in"),
    ("mcl/catalog/tools/registry.py", "holds declared_commands"),
    ("mcl/catalog/tools/registry.py", "a tool's module"),
    ("executor/tools/registry.py", "by name"),  # adapters
    # The adapter of other servers' tools, what it does its work with, and the one connection below.
    ("mcl/plugins/mcp/outside.py", "perform"),
    ("mcl/plugins/mcp/outside.py", "read_resource"),
    ("mcl/plugins/mcp/outside.py", "get_prompt"),
    ("mcl/plugins/mcp/outside.py", "upstreams.call"),
    ("mcl/plugins/mcp/upstream/connection.py", "send_request"),
    # What modules of tools share, which is no adapter: the check of a text before it is edited, HTTP with its
    # refusals, and a program in the foreground (the pager).
    ("mcl/plugins/text/lines.py", "a tool's module"),
    ("mcl/plugins/messages/notice.py", "a tool's module"),
    ("mcl/cli/output.py", "a tool's module"),
    # What a question may be read against: tables are read by their reader, no adapter is run.
    ("mcl/plugins/data/answering.py", "a tool's module"),
    ("mcl/plugins/data/cells.py", "a tool's module"),
    ("mcl/plugins/data/people.py", "a tool's module"),
    ("mcl/plugins/data/rows_added.py", "a tool's module"),
    ("mcl/plugins/data/rows_said.py", "a tool's module"),
    ("mcl/plugins/data/told.py", "a tool's module"),  # which tables and columns are meant
    (
        "mcl/plugins/data/spoken.py",
        "a tool's module",
    ),  # how a calendar is read, of which a moment is looked up
    # Completing what is typed is no tool; it asks servers of whom a person let resources or prompts in.
    ("mcl/plugins/mcp/proxy/handlers.py", "upstreams.complete"),
    # Whether a package is there at all.
    ("mcl/core/distribution.py", "by name"),
    # By name, from tables of constants none of which is a tool's module: that is looked for too.
    ("executor/__init__.py", "by name"),
    ("mcl/__init__.py", "by name"),
    ("mcl/cli/app.py", "by name"),
    # What plug-ins add, by the names that each gives.
    ("mcl/plugins/hooks.py", "by name"),
    ("mcl/cli/main.py", "by name"),
    ("mcl/usecases/runs.py", "by name"),
    ("mcl/compiler/stages/repeats.py", "by name"),
    ("mcl/usecases/file_names.py", "by name"),
    ("mcl/serve/folders.py", "by name"),
    ("mcl/catalog/tools/foreign.py", "by name"),
    ("mcl/plugins/mcp/offered/tools.py", "by name"),
    ("mcl/usecases/installed.py", "by name"),
    ("mcl/plugins/mcp/servers.py", "by name"),
    ("mcl/model/llama/weights.py", "by name"),
    ("mcl/plugins/probing/calls.py", "by name"),  # what gives a registry; its tools are called as any
    ("mcl/plugins/review/scan/bandit_rules.py", "by name"),  # modules of bandit, from a table of constants
}


def found(path: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Everything in a file that could lead round the gate."""
    inside = path.startswith(tuple(f"{room}/" for room in ROOMS))
    modules: set[str] = set()  # names by which the file knows modules of tools
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = (getattr(node, "module", None) or "") + "."
            for alias in node.names:
                whole = alias.name if isinstance(node, ast.Import) else base + alias.name
                if whole.startswith(tuple(f"{module}." for module in MODULES)) or whole in MODULES:
                    modules.add(alias.asname or alias.name)
                    if not inside:
                        yield path, "a tool's module"
                    elif alias.name == "run":
                        yield path, "another tool's run"
                client = whole == "mcp.Client" or whole == "mcp" or whole.startswith("mcp.client")
                if client and not path.startswith("mcl/plugins/mcp/upstream/"):
                    yield path, "a client of MCP"
                if alias.name in HOLDERS:
                    yield path, f"holds {alias.name}"
                if alias.name in (*DOORS, *ABROAD) or (
                    alias.name in BY_NAME and isinstance(node, ast.ImportFrom)
                ):
                    yield path, "by name" if alias.name in BY_NAME else alias.name
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in BY_NAME:
                yield path, "by name"
            if name in DOORS or name in ABROAD:
                yield path, name
            if name in ASKED and isinstance(node, ast.Attribute):
                of = ast.unparse(node.value).split(".")[-1].lstrip("_")
                if of in CONNECTIONS:
                    yield path, f"{of}.{name}"
            if name == "run" and isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
                yield path, "another tool's run"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in DOORS or node.value in ABROAD:
                yield path, node.value
            if not inside and node.value.startswith(tuple(f"{module}." for module in MODULES)):
                yield path, "a tool's module"
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Allow":
            yield path, "Allow()"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Allow.__new__"):
            yield path, "Allow()"


@cache
def sources() -> dict[str, str]:
    files = [file for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    return {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}


def test_there_are_rooms_of_tools() -> None:
    assert {
        "executor/tools/fs",
        "mcl/plugins/versions/tools/git",
        "executor/tools/http",
        "executor/tools/process",
        "mcl/plugins/memories/tools/cortex",
        "mcl/plugins/review/tools/review",
    } <= set(ROOMS)


def test_nothing_reaches_an_adapter_or_makes_an_allow_but_what_is_declared() -> None:
    assert {one for path, text in sources().items() for one in found(path, ast.parse(text))} == DECLARED


def flaws_of_the_registry(text: str) -> list[str]:
    """What is wrong with the one function that runs adapters."""
    tree = ast.parse(text)
    flaws = []
    [invoke] = [node for node in ast.walk(tree) if getattr(node, "name", "") == "invoke"]

    def lines(name: str, where: ast.AST) -> list[int]:
        return [
            node.lineno for node in ast.walk(where) if isinstance(node, ast.Attribute) and node.attr == name
        ]

    if len(lines("adapter", tree)) != 1 or len(lines("adapter", invoke)) != 1:
        flaws.append("an adapter is run in more than one place, or elsewhere")
    spends = lines("spend", invoke)
    if len(spends) != 1 or spends[0] >= min(lines("adapter", invoke)):
        flaws.append("the Allow is not spent before the adapter is run")
    checks = [
        node.lineno
        for node in invoke.body  # type: ignore[attr-defined]  # a function
        if isinstance(node, ast.If) and ast.unparse(node.test) == "type(allow) is not Allow"
    ]
    if not checks or not spends or checks[0] >= spends[0]:
        flaws.append("it is not checked that the Allow is one of the gate")
    top = [node.lineno for node in invoke.body if isinstance(node, ast.Expr)]  # type: ignore[attr-defined]
    if not spends or spends[0] not in top:
        flaws.append("the Allow is spent under a condition")
    return flaws


def test_the_registry_runs_an_adapter_in_one_place_after_the_allow_was_checked_and_spent() -> None:
    assert flaws_of_the_registry(sources()["executor/tools/registry.py"]) == []


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("registry", "allow.spend(call)", "if call.node_id: allow.spend(call)"),
        ("registry", "allow.spend(call)", "pass"),
        ("registry", "if type(allow) is not Allow:", "if not isinstance(allow, Allow):"),
        (
            "registry",
            "    async def invoke(",
            "    def peek(self, ref): return self.__tools[ref].adapter\n\n    async def invoke(",
        ),
    ],
)
def test_a_registry_that_was_made_laxer_is_found(path: str, old: str, new: str) -> None:
    text = sources()[f"executor/tools/{path}.py"]
    assert old in text
    assert flaws_of_the_registry(text.replace(old, new, 1))


BYPASSES: Final = {
    "the adapter": ("mcl/usecases/run.py", "async def f(tool): return await tool.adapter({}, None)"),
    "the adapter by its name": ("mcl/usecases/run.py", "f = lambda tool: getattr(tool, 'adapter')"),
    "the adapter in the dictionary": ("mcl/usecases/run.py", "f = lambda tool: vars(tool)['adapter']"),
    "a getter": ("mcl/usecases/run.py", "from operator import attrgetter as get; f = get('a' 'dapter')"),
    "the work of a tool": ("mcl/usecases/run.py", "from executor.tools.fs.write import run as f"),
    "the module of a tool": ("mcl/usecases/run.py", "import executor.tools.fs.write as w; f = w.run"),
    "the room of a tool": ("mcl/usecases/run.py", "from executor.tools import fs; f = fs.write.run"),
    "a helper of a tool": ("mcl/usecases/run.py", "from executor.tools.http.fetch import fetch"),
    "a module by its name": (
        "executor/walker/run.py",
        "f = lambda: import_module('executor.tools.fs.write').run",
    ),
    "a module by a made name": (
        "executor/walker/run.py",
        "import importlib; f = importlib.import_module('x' + 'y')",
    ),
    "code made at run time": ("executor/walker/run.py", "f = lambda text: exec(text)"),
    "an Allow": ("mcl/usecases/run.py", "f = lambda call: Allow(None, call, 'read')"),
    "an Allow of a module": ("mcl/usecases/run.py", "f = lambda call: decide.Allow(None, call, 'read')"),
    "an empty Allow": ("mcl/usecases/run.py", "f = lambda: Allow.__new__(Allow)"),
    "the seal": ("executor/walker/run.py", "from executor.gate.decide import _SEAL"),
    "the seal of a module": ("executor/walker/run.py", "f = lambda module: module._SEAL"),
    "an Allow made good again": ("executor/walker/run.py", "def f(allow): allow._spent = False"),
    "an Allow made good for another call": ("executor/walker/run.py", "def f(allow): allow._call_hash = ''"),
    "another caller of the registry": (
        "mcl/usecases/run.py",
        "f = lambda registry, allow, call: registry.invoke(allow, call)",
    ),
    "the registry by name": ("mcl/usecases/run.py", "f = lambda registry: getattr(registry, 'invoke')"),
    "the registry's table": ("mcl/usecases/run.py", "f = lambda registry: registry._Registry__tools"),
    "all tools": ("mcl/usecases/run.py", "from executor.tools.registry import tools_in"),
    "a tool in hand": ("mcl/usecases/run.py", "from executor.tools.tool import Tool"),
    "a tool that uses another": ("executor/tools/fs/list.py", "from executor.tools.fs.write import run as f"),
    "a tool's module that uses another": (
        "executor/tools/fs/list.py",
        "from executor.tools.fs import write; f = write.run",
    ),
    "a tool of another server": (
        "mcl/usecases/run.py",
        "async def f(upstreams): return await upstreams.call('github', 'delete_repo', {})",
    ),
    "a tool of another server, by a field": (
        "mcl/plugins/mcp/offered/tools.py",
        "async def f(session): return await session.upstreams.call('github', 'delete_repo', {})",
    ),
    "a resource of another server": ("mcl/usecases/run.py", "f = lambda ups: ups.read_resource('s', 'u')"),
    "what the adapter does its work with": (
        "mcl/usecases/run.py",
        "from mcl.plugins.mcp.outside import perform as f",
    ),
    "a client of one's own": ("mcl/usecases/run.py", "from mcp.client.session import ClientSession"),
    "another client of one's own": ("mcl/usecases/run.py", "from mcp import Client"),
    "the protocol's package": ("mcl/usecases/run.py", "import mcp; f = mcp.Client"),
    "a request of one's own": ("mcl/usecases/run.py", "f = lambda session: getattr(session, 'send_request')"),
    "a new file": ("mcl/shortcut.py", "from executor.tools.process import tests"),
}


@pytest.mark.parametrize("name", list(BYPASSES))
def test_a_bypass_that_somebody_adds_is_found(name: str) -> None:
    path, code = BYPASSES[name]
    before = sources().get(path, "")
    mutated = ast.parse(f"{before}\n{code}\n")
    assert set(found(path, mutated)) - DECLARED, f"{code} in {path} goes unseen"
    assert not set(found(path, ast.parse(before))) - DECLARED
