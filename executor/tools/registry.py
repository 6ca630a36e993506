"""The tools there are. ``invoke`` is the only way to an adapter, and takes the gate's Allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from inspect import isawaitable, signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from executor.call import Allow, Call
from executor.core.clock import Clock
from executor.core.errors import ManifestError, ToolError
from executor.core.hashing import json_size
from executor.sandbox.paths import Workspace
from executor.sandbox.reach import reaching
from executor.sandbox.redaction import Redactor, redact_error
from executor.tools.manifest import Manifest, Mode, own_manifest
from executor.tools.tool import (
    Bench,
    Credentials,
    Output,
    Progress,
    Tool,
    Touches,
    unheard,
    unwatched,
)
from ir import MclError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from executor.store.home import Home


_SAID = 1000  # characters of a crash that are told


class Annex(Protocol):
    """More tools, which may be many: each is made when it is asked for. No address of theirs is a tool's of
    the registry itself."""

    def find(self, reference: str) -> Tool | None:
        """The tool at a pinned address; None where there is none."""

    def tools(self) -> Iterable[Tool]:
        """All of them, in the order of their addresses."""

    def servers(self) -> Iterable[str]:
        """The names of the servers whose tools they are, also of those that have none yet."""


class Registry:
    """Tools by address.

    own: the manifests of the tools that it was made of, without those of its annex. broken: why tools are
    not there that should be, by the address, or what addresses begin with, without a version.

    Raises:
        ManifestError: TOOL_TWICE, two tools with one address.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        annex: Annex | None = None,
        broken: Mapping[str, ManifestError] = MappingProxyType({}),
    ) -> None:
        self.broken = broken
        self.__tools: dict[str, Tool] = {}
        self._annex = annex
        known: list[Manifest] = []
        for tool in tools:
            uri = tool.manifest.uri
            if uri in self.__tools:
                raise ManifestError(
                    "TOOL_TWICE", f"{uri} is there twice", place=uri, fix="give one another name"
                )
            known.append(tool.manifest)
            self.__tools[uri] = tool
            self.__tools[f"{uri.partition('@')[0]}@sha256:{tool.manifest.pin}"] = tool
        self.own: tuple[Manifest, ...] = tuple(known)

    @classmethod
    def builtin(cls, extra: Iterable[Tool] = ()) -> Registry:
        """The tools that come with the package, and more."""
        return cls([*tools_in(*BUILTIN), *extra])

    @property
    def servers(self) -> frozenset[str]:
        """The names of the servers, besides ours, whose tools there may be."""
        known = {one.outside.server for one in self.own if one.outside is not None}
        return frozenset((*known, *self._annex.servers())) if self._annex is not None else frozenset(known)

    @cached_property
    def manifests(self) -> tuple[Manifest, ...]:
        """All there are, those of the annex too."""
        if self._annex is None:
            return self.own
        for tool in self._annex.tools():
            self.__tools.setdefault(tool.manifest.uri, tool)
        known = {tool.manifest.uri: tool.manifest for tool in self.__tools.values()}
        return tuple(known[uri] for uri in sorted(known))

    def find(self, reference: str) -> Manifest | None:
        """The manifest at a pinned address (``…@1.0.0`` or ``…@sha256:<pin>``); None where there is none."""
        tool = self.__tools.get(reference)
        if tool is None and self._annex is not None and (tool := self._annex.find(reference)) is not None:
            # Kept: what was judged is what is run, whatever the annex says next.
            self.__tools[reference] = tool
        return tool.manifest if tool else None

    def fault(self, reference: str) -> ManifestError | None:
        """Why there is no tool at an address where one should be; None where nothing is known of it."""
        address = reference.partition("@")[0]
        whole = (
            why for begins, why in self.broken.items() if begins.endswith("-") and address.startswith(begins)
        )
        return self.broken.get(address) or next(whole, None)

    def args_checker(self, reference: str) -> Validator:
        """The JSON Schema checker of a known tool's arguments."""
        return self.__tools[reference].args

    def touched(self, call: Call, workspace: Workspace) -> Sequence[tuple[str, Mode]] | None:
        """What a call would change, where its tool says that beforehand; None where it does not.

        Raises:
            ToolError, ScopeError: what the call itself would raise.
        """
        tool = self.__tools.get(call.tool_ref)
        if tool is None or tool.touches is None:
            return None
        return tool.touches(tool.manifest.complete(call.args), workspace)

    async def invoke(
        self,
        allow: Allow,
        call: Call,
        *,
        workspace: Workspace,
        clock: Clock,
        redactor: Redactor,
        idempotency_key: str = "",
        credentials: Credentials | None = None,
        intent: str = "",
        letter: bytes = b"",
        progress: Progress = unwatched,
        output: Output = unheard,
        absent: frozenset[str] = frozenset(),
    ) -> dict[str, object]:
        """Make the call that was allowed. The answer is checked, capped and free of secrets.

        credentials: where the values of ``$env:NAME`` come from; the adapter alone gets to see them. intent,
        letter, progress, output, absent: as of ``Bench``.

        Raises:
            GateError: the Allow is not for this call, or was used.
            ToolError: CREDENTIAL_MISSING, TOOL_CRASHED, OUTPUT_TOO_LARGE, BAD_OUTPUT, and the tool's own.
            ScopeError: the tool met a path it may not touch, or a host it may not go to.
        """
        if type(allow) is not Allow:
            raise ToolError(
                "NOT_ALLOWED", "no tool runs without the gate's leave", place=call.node_id, fix="ask it"
            )
        allow.spend(call)
        tool = self.__tools[call.tool_ref]
        limit = tool.manifest.max_output
        with reaching(workspace, allow.roots) as reach:
            bench = Bench(
                reach,
                clock,
                allow.operation,
                limit,
                idempotency_key,
                allow.hosts,
                intent,
                call.node_id,
                letter,
                progress,
                output,
                absent,
            )
            args = tool.manifest.complete(call.args)
            secrets = (credentials or Credentials({})).resolve(args, tool.manifest)
            redactor = redactor.knowing(secrets.values())
            try:
                answer = redactor.value(await tool.adapter({**args, **secrets}, bench))
            except TimeoutError:
                raise
            except MclError as problem:
                if secrets:
                    redact_error(problem, redactor)
                raise
            except (Exception, SystemExit) as problem:  # foreign code: its mistakes fail its node only
                raise ToolError(
                    "TOOL_CRASHED",
                    redactor.text(f"{call.tool_ref} crashed: {type(problem).__name__}: {problem}"[:_SAID]),
                    place=call.node_id,
                    fix="report it to the author of the tool",
                ) from problem
        if (
            not isinstance(answer, dict)
            or (size := json_size(answer)) is None
            or next(tool.output.iter_errors(answer), None) is not None
        ):
            raise ToolError(
                "BAD_OUTPUT",
                f"{call.tool_ref} gave an answer that its manifest does not describe",
                place=call.node_id,
            )
        if size > limit:
            raise ToolError(
                "OUTPUT_TOO_LARGE",
                f"{call.tool_ref} answered with {size} bytes; its limit is {limit}",
                place=call.node_id,
                fix="ask for less",
            )
        return answer


# ---- Tools that lie in a folder of a package: for each a manifest, and a module beside it that does it.

# The tools that come with this package: its name, its folder, and theirs.
BUILTIN: Final = (
    "executor.tools",
    Path(__file__).parent,
    (
        *("fs/append", "fs/delete", "fs/edit", "fs/list", "fs/read", "fs/write"),
        *("http/get", "http/request"),
        *("process/editor", "process/lint", "process/mqlaunch", "process/tests"),
        "time/now",
    ),
)


def tools_in(
    package: str,
    folder: Path,
    names: Iterable[str],
    *,
    before: Callable[[str], None] | None = None,
    home: Callable[[], Home] | None = None,
) -> Iterator[Tool]:
    """The tools of these names, such as fs/read; a module is loaded with the first call.

    before: is told the name of each that is called, before it does anything; what it raises keeps it from
    that. home: opened for a call of one whose `run` takes it, not before.
    """
    for name in names:
        manifest, module = own_manifest(folder / f"{name}.toml"), f"{package}.{name.replace('/', '.')}"
        touches = partial(_touches, module) if manifest.undo else None
        yield Tool(manifest, partial(_run, module, before and partial(before, name), home), touches)


def _touches(module: str, args: Mapping[str, object], workspace: Workspace) -> Sequence[tuple[str, Mode]]:
    touches: Touches = import_module(module).touches
    return touches(args, workspace)


async def _run(
    module: str,
    before: Callable[[], None] | None,
    home: Callable[[], Home] | None,
    args: Mapping[str, object],
    bench: Bench,
) -> dict[str, object]:
    """A tool's work, which may be a coroutine."""
    if before is not None:
        before()
    run = import_module(module).run
    more = (home(),) if home is not None and "home" in signature(run).parameters else ()
    answer = run(args, bench, *more)
    given: dict[str, object] = await answer if isawaitable(answer) else answer
    return given
