"""What a tool says of itself: one TOML file beside its code; the sha256 of its meaning is its pin."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from executor.call import Operation
from executor.core.errors import ManifestError
from executor.core.hashing import json_hash

SideEffect = Literal["read", "write", "network", "shell", "chain"]
Mode = Literal["read", "write", "add", "move", "list"]
CHANGING: Final[frozenset[Mode]] = frozenset({"write", "add", "move"})

_URI = r"^matrix://tool/[a-z][a-z0-9_-]*/[a-z][a-z0-9_-]*@\d+\.\d+\.\d+$"
_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}
# These came later: a manifest that does not use one keeps the pin it always had.
_LATER: Final = (
    *("retries", "cost", "credentials", "environment", "programs", "annotated", "command", "outside"),
    *("least_ms", "history", "lasting", "undo", "unchanged", "does"),
)
_FOREIGN: Final = "matrix://tool/mcp-"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one call may do: side-effect classes of the plan's vocabulary, and how it treats what is there."""

    classes: frozenset[str]
    operation: Operation


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class Case(_Closed):
    """An exception to the manifest's effects; fits when all of its conditions hold.

    absent: arguments that are not given. equals: arguments with exactly these values. exists: an argument
    whose path exists in the workspace.
    """

    absent: list[str] = []
    equals: dict[str, str | int | bool] = {}
    exists: str = ""
    effects: list[SideEffect] = []
    operation: Operation | None = None

    def fits(self, args: Mapping[str, object], exists: Callable[[str], bool]) -> bool:
        if any(name in args for name in self.absent):
            return False
        if any(name not in args or args[name] != value for name, value in self.equals.items()):
            return False
        return not self.exists or exists(str(args.get(self.exists, "")))


class ToolScope(_Closed):
    """Where a tool acts, and which of its arguments are paths (and what it does with them) or web addresses.

    Modes of a path: read; write (nobody else writes there meanwhile); add (what is there stays, others may
    add at the same time); move (it goes elsewhere in the workspace as it is, and nobody else writes there
    meanwhile); list (a folder; the workspace where it is left out and has no default). An argument that is a
    list holds a path in each of its texts. A network tool goes only to the hosts of its addresses, and to
    hosts that were granted.
    """

    kind: Literal["none", "workspace", "network"]
    paths: dict[str, Mode] = {}
    urls: list[str] = []


class Retries(_Closed):
    """How often a call that failed for a moment (no answer in time, a connection) is made again.

    max: attempts after the first. backoff_ms: milliseconds before the second attempt, doubled each time.
    """

    max: int = Field(default=0, ge=0, le=10)
    backoff_ms: int = Field(default=200, ge=0, le=60_000)


class Cost(_Closed):
    """What one call costs: an amount (``"0.02"``, or a whole number) of an asset (``EUR``)."""

    asset: str = Field(min_length=1, max_length=64)
    amount: Annotated[str, Field(pattern=r"^\d{1,18}(\.\d{1,18})?$")] | Annotated[int, Field(ge=0)]

    @property
    def value(self) -> Decimal:
        """The amount, exactly."""
        return Decimal(self.amount)


class Command(_Closed):
    """The command that a tool runs, where its operator declared one (see ``process/commands.py``).

    argv: the program and its arguments, with ``{name}`` where an argument of the call stands. folder: where
    it runs. outputs: folders that it may write in though it is declared to read. flags: the option that a
    boolean argument stands for. ok: exit statuses that are a success.
    """

    argv: list[str] = Field(min_length=1, max_length=256)
    folder: str = "."
    outputs: list[str] = []
    flags: dict[str, str] = {}
    ok: list[int] = [0]


class Example(_Closed):
    """A call to learn from, and what it shows. It works in the folder that ``mcl tool check`` makes."""

    args: dict[str, object] = {}
    note: str = Field(min_length=1, max_length=200)


class Outside(_Closed):
    """Of a tool of another server: who gives it, and what that server says of it.

    definition: name, title, description, inputSchema, outputSchema, annotations, as far as they are there, as
    JSON values; nothing of it is believed for being said.
    """

    server: str = Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")
    tool: str = Field(min_length=1, max_length=128)
    definition: dict[str, object]


class Manifest(_Closed):
    """A tool's manifest.

    effects, operation: the most a call may do, unless a case in ``when`` says otherwise (first that fits).
    timeout_ms: milliseconds. least_ms: what a call takes in any case, by which a plan that cannot be done in
    time is told beforehand. max_output: bytes of the answer as JSON. safety: A to E, checked against the
    effects.
    args, output: JSON Schemas of objects. retries: for idempotent tools only. cost: of one call, also of one
    that fails. credentials: arguments whose value may name a variable (``$env:NAME``) in place of a secret.
    environment: variables of this process that a command of the tool may see. programs: names of the programs
    that it may start, and no others; ``$EDITOR`` is the one that this variable names. examples: calls to
    learn from; they promise nothing, so they are no part of the pin. annotated: false for an outside tool
    that says nothing of its effects; it counts as the worst until an operator classifies it (gate/pins).
    unchanged: files of a command's folder, or parts of them, that must have these sha256 when it starts
    (project/unchanged).
    history: the argument that names a folder whose git history the tool changes; branches, tags and the index
    there are kept and put back like files. lasting: why what it does cannot be put back, as people are told
    before they sign; "" where what the effects say is enough.
    undo: whole: the tool's module says with ``touches`` which files and folders a call changes, and a call of
    which not everything could be put back again is not made.
    does: the tools whose work a call does too, such as git/push: a promise that closes one closes this.
    outside: of a tool of another server; its args are the schema that the server gave, whatever its form, and
    its pin is that of the server's definition alone, however far the server is trusted.
    """

    uri: str = Field(pattern=_URI)
    description: str = Field(min_length=1, max_length=1000)
    effects: list[SideEffect] = Field(min_length=1)
    operation: Operation
    idempotent: bool
    timeout_ms: int = Field(gt=0, le=7_200_000)
    least_ms: int = Field(default=0, ge=0, le=7_200_000)
    max_output: int = Field(gt=0, le=1 << 20)
    safety: Literal["A", "B", "C", "D", "E"]
    scope: ToolScope
    when: list[Case] = []
    retries: Retries = Retries()
    cost: Cost | None = None
    credentials: list[str] = []
    environment: list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]] = []
    programs: list[Annotated[str, Field(pattern=r"^\$?[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$")]] = []
    examples: list[Example] = []
    annotated: bool = True
    history: str = ""
    lasting: str = Field(default="", max_length=200)
    undo: Literal["", "whole"] = ""
    command: Command | None = None
    unchanged: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = {}
    does: list[str] = []
    outside: Outside | None = None
    args: dict[str, object]
    output: dict[str, object]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.safety != (right := safety_class(self)):
            raise ValueError(f"safety is {self.safety}, but these effects are class {right}")
        for effects, operation in [
            (self.effects, self.operation),
            *((case.effects or self.effects, case.operation or self.operation) for case in self.when),
        ]:
            if operation != "read" and set(effects) == {"read"}:
                raise ValueError(f"a {operation} operation needs another effect than read")
        if self.uri.startswith(_FOREIGN) != (self.outside is not None):
            raise ValueError(f"tools of other servers, and no others, lie below {_FOREIGN}")
        for schema in () if self.outside else (self.args, self.output):
            if schema.get("type") != "object" or schema.get("additionalProperties") is not False:
                raise ValueError("args and output are closed objects (additionalProperties = false)")
        if (self.scope.kind == "network") != bool(self.scope.urls):
            raise ValueError("a tool of scope network, and no other, names its arguments that are addresses")
        if self.scope.kind == "network" and not {"network", "chain"} & set(self.effects):
            raise ValueError("a tool of scope network has the effect network")
        named = {
            *self.scope.paths,
            *self.scope.urls,
            *self.credentials,
            *(name for case in self.when for name in (*case.absent, *case.equals)),
        }
        named |= {case.exists for case in self.when if case.exists}
        if unknown := sorted(named - set(self.properties)):
            raise ValueError(
                f"scope, when or credentials name arguments that are not declared: {', '.join(unknown)}"
            )
        if self.history and self.history not in self.scope.paths:
            raise ValueError("history names no path of the scope")
        if unseen := sorted(name for name in self.scope.paths if self._unseen(name)):
            raise ValueError(f"a path that may be left out needs a default: {', '.join(unseen)}")
        own = {} if self.outside else self.properties
        if untyped := [name for name, schema in own.items() if schema.get("type") not in _TYPES]:
            raise ValueError(f"arguments need one type each: {', '.join(untyped)}")
        if spoken := [one for one in self.credentials if self.properties[one].get("type") != "string"]:
            raise ValueError(f"a credential is a string: {', '.join(spoken)}")
        if self.retries.max and not self.idempotent:
            raise ValueError("only a tool that is idempotent is tried again")
        if not self.annotated and (
            self.effects != ["network"] or self.operation != "destructive" or self.when
        ):
            raise ValueError("a tool that is not annotated has the effect network and is destructive")
        if (self.environment or self.command) and "shell" not in self.effects:
            raise ValueError("environment and command are for tools that run commands (effect shell)")
        return self

    def _unseen(self, name: str) -> bool:
        """May the gate not know which path a call is about?"""
        required = self.args.get("required", [])
        named = isinstance(required, list) and name in required
        return not named and self.scope.paths[name] != "list" and "default" not in self.properties[name]

    @property
    def outside_modes(self) -> frozenset[Mode]:
        """What the tool may do with its paths outside the workspace, where somebody lets it.

        It may read a file. What it does with a whole folder is not told by its path alone: only a tool that
        never changes anything, and starts nothing, may have one of those there.
        """
        only_reads = self.operation == "read" and all(one.operation in (None, "read") for one in self.when)
        starts = "shell" in self.effects or any("shell" in (one.effects or ()) for one in self.when)
        return frozenset({"read", "list"} if only_reads and not starts else {"read"})

    @property
    def properties(self) -> dict[str, dict[str, object]]:
        """The schema of each argument; of an outside tool {} for one that is no object."""
        return self._properties

    @cached_property
    def _properties(self) -> dict[str, dict[str, object]]:
        found = self.args.get("properties", {})
        if not isinstance(found, dict):
            return {}
        return {name: one if isinstance(one, dict) else {} for name, one in found.items()}

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments that must be given."""
        names = self.args.get("required", [])
        return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()

    @property
    def name(self) -> str:
        """What agents call it: ``github:create_issue``, ``mcl:fs/read``."""
        if self.outside is not None:
            return f"{self.outside.server}:{self.outside.tool}"
        return f"mcl:{self.uri.removeprefix('matrix://tool/').partition('@')[0]}"

    @cached_property
    def pin(self) -> str:
        """sha256 (hex) of the manifest's meaning (layout and comments left out): what a person approved."""
        return json_hash(self.meaning)

    @property
    def meaning(self) -> dict[str, object]:
        """All that the manifest promises, as JSON values; what is not said is left out."""
        if self.outside is not None:
            return {"server": self.outside.server, "definition": self.outside.definition}
        meaning = self.model_dump(mode="json", exclude={"examples"})
        if not self.scope.urls:  # as _LATER
            del meaning["scope"]["urls"]
        for name in _LATER:
            if getattr(self, name) == type(self).model_fields[name].default:
                del meaning[name]
        return meaning

    def complete(self, args: Mapping[str, object]) -> dict[str, object]:
        """The arguments of a call, with the defaults of those that are left out; 2.0 becomes the integer that
        it is to JSON Schema. Another server gets what was given, and completes it itself."""
        if self.outside is not None:
            return dict(args)
        if any(type(value) is float for value in args.values()):
            args = {name: self._whole(name, value) for name, value in args.items()}
        return {**self._defaults, **args}

    def _whole(self, name: str, value: object) -> object:
        integer = self.properties.get(name, {}).get("type") == "integer"
        return int(value) if integer and isinstance(value, float) and value.is_integer() else value

    @cached_property
    def _defaults(self) -> dict[str, object]:
        return {name: one["default"] for name, one in self.properties.items() if "default" in one}

    def effect(self, args: Mapping[str, object], exists: Callable[[str], bool]) -> Effect:
        """What a call with these arguments may do; ``exists`` tells whether a path is there."""
        for case in self.when:
            if case.fits(args, exists):
                return Effect(frozenset(case.effects or self.effects), case.operation or self.operation)
        return self._most

    @property
    def hinted(self) -> bool:
        """Of an outside tool: does its server say whether it reads, writes or destroys?"""
        said = self.outside.definition.get("annotations") if self.outside else None
        hints = ("readOnlyHint", "destructiveHint")
        return isinstance(said, dict) and any(said.get(name) is not None for name in hints)

    @property
    def _most(self) -> Effect:
        return Effect(frozenset(self.effects), self.operation)


def safety_class(manifest: Manifest) -> str:
    """The safety class that the effects amount to, A (reads in the workspace) to E (acts on the world)."""
    effects = set(manifest.effects)
    if "shell" in effects:
        return "D"
    if "chain" in effects or ("network" in effects and manifest.operation != "read"):
        return "E"
    if "write" in effects or manifest.operation != "read":
        return "C"
    return "B" if "network" in effects or manifest.scope.kind == "network" else "A"


OWN: Final[dict[Path, Manifest]] = {}  # those that were read


def own_manifest(place: Path) -> Manifest:
    """The manifest file of a tool that comes with the package: it does not change, and is read once.

    Raises:
        ManifestError: BAD_MANIFEST.
    """
    if place not in OWN:
        OWN[place] = load_manifest(place)
    return OWN[place]


def load_manifest(place: Path) -> Manifest:
    """Read a manifest file.

    Raises:
        ManifestError: BAD_MANIFEST with file and first problem.
    """
    try:
        return Manifest.model_validate(tomllib.loads(place.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ManifestError(
            "BAD_MANIFEST", str(problem), place=str(place), fix="repair the file"
        ) from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ManifestError(
            "BAD_MANIFEST",
            f"{where}: {first['msg']}",
            place=str(place),
            fix="compare it with the manifests in executor/tools",
        ) from problem
