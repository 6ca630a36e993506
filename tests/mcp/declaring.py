"""A home with tools of another server, and declared calls of them: what the tests of declarations share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from executor import (
    Approvals,
    Bench,
    Call,
    Context,
    Grants,
    Home,
    Manifest,
    Pins,
    Policy,
    Registry,
    Tool,
    Workspace,
)
from executor.gate.locks import Locks
from mcl.catalog.manifests import manifest_of
from mcl.catalog.tools.registry import shipped_tools
from mcl.plugins.mcp.call_texts import read_call

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"repo": {"type": "string"}}, "required": ["repo"]}


async def nothing(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """A tool that is judged here, and never called."""
    raise AssertionError("nobody calls it")


class Declaring:
    """A home, the tools of the server github in it, and the gate before them."""

    def __init__(self, home: Home, workspace: Path) -> None:
        workspace.mkdir(exist_ok=True)
        self.home = home
        self.pins, self.grants = Pins(home), Grants(home)
        self.recorded: list[tuple[str, dict[str, object]]] = []
        self._workspace = workspace
        self._tools: list[Tool] = []
        self._registry: Registry | None = None

    def add(
        self,
        tool: str = "delete_repo",
        annotations: Mapping[str, object] | None = None,
        *,
        trusted: bool = False,
        approved: bool = True,
        **more: Any,
    ) -> Manifest:
        """A tool of the server github. more: fields of its definition."""
        definition = {"name": tool, "description": "Does it.", "inputSchema": SCHEMA, **more}
        if annotations is not None:
            definition["annotations"] = annotations
        manifest = manifest_of("github", definition, trusted=trusted)
        self._tools.append(Tool(manifest, nothing))
        self._registry = None
        if approved:
            self.pins.approve(manifest)
        return manifest

    def grant(self, *classes: str) -> None:
        self.grants.grant(self.home.keyring.agent.did, classes)

    def policy(self, text: str) -> None:
        (self.home.path / "policy.toml").write_text(text)

    def call(self, manifest: Manifest | str, variant: str, operation: str | None, **intent: object) -> Call:
        """A call as it comes over MCP, with repo = "x" and these fields of its intent."""
        name = manifest if isinstance(manifest, str) else manifest.name
        uri = f"matrix://tool/{name}@1.0.0" if isinstance(manifest, str) else manifest.uri
        said = {"reason": "it is not needed any more", **intent}
        if operation is not None:
            said["operation_type"] = operation
        return read_call(variant, {"name": name, "args": {"repo": "x"}, "intent": said}).call(uri)

    def context(self, **more: Any) -> Context:
        """What the gate looks at, for a call that no plan holds."""
        if self._registry is None:
            self._registry = Registry([*shipped_tools(), *self._tools])
            self.pins.admit(self._registry.manifests)
        registry = self._registry
        parts: dict[str, Any] = {
            "agent": self.home.keyring.agent.did,
            "tools": registry,
            "workspace": Workspace(self._workspace, forbidden=[self.home.path]),
            "policy": Policy.load(self.home.path / "policy.toml", registry),
            "pins": self.pins,
            "grants": self.grants,
            "approvals": Approvals(self.home),
            "clock": self.home.clock,
            "record": lambda kind, body: self.recorded.append((kind, body)),
            "locks": Locks(),
        }
        return Context(**{**parts, **more})
