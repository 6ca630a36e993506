"""Intents with promises, plans, and tools to call in them, at random: what the two ways of working out the
standings are compared on. A source of chance goes in, so that whoever calls says which examples there are."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from pydantic import ValidationError
from walks import NODE, gate, parallel, sequence, step

import ir
from executor import Manifest, Tool
from ir.scalars import FrozenMap
from mcl.catalog.manifests import manifest_of
from mcl.catalog.tools.registry import shipped_tools

USER, OTHER, AGENT, GONE, STRANGER = (
    f"did:key:z6Mk{name}" for name in ("user", "other", "agent", "gone", "x")
)
PATHS = (
    *("src/a.txt", "src/new.txt", "src/sub/c.txt", "docs/b.md", "docs/new.md", "secret/k.txt", "top.txt"),
    *("src", "docs", "secret", "src/sub", "srcs/a.txt", "SRC/a.txt", "Secret/k.txt", "caf\u00e9/x.txt"),
    *(
        "cafe\u0301/x.txt",
        "src/./a.txt",
        "src/../docs/b.md",
        "src/",
        "../up.txt",
        "/etc/hostname",
        ".",
        "new.txt",
    ),
)
PLACES = ("src", "docs", "secret", "src/sub", "src/a.txt", "caf\u00e9", "new.txt", "Docs")
FILES = ("src/a.txt", "src/sub/c.txt", "docs/b.md", "secret/k.txt", "caf\u00e9/x.txt", "top.txt")
# Hosts that are granted, and where somebody said that they are.
HOSTS: Mapping[str, tuple[str, ...]] = {
    "de.example": ("DE",),
    "se.example": ("SE",),
    "eu.example": ("EU",),
    "us.example": ("US",),
    "both.example": ("DE", "US"),
    "gb.example": ("GB",),
    "nowhere.example": (),
    "de.example:8443": (),
}
_URLS = (
    *(f"https://{host}/x" for host in HOSTS),
    *("https://DE.example/x", "https://de.example:443/", "http://de.example/", "https://stranger.example/"),
)
_REGIONS = ("DE", "SE", "US", "EU", "CH", "GB", "UK", "DEU")


# ---- Tools.


@cache
def tools() -> Mapping[str, Tool]:
    """Those of mcl, those of a server, and invented ones of every kind, by address."""
    made = [*shipped_tools(), *(Tool(one, _nothing) for one in (*_outside(), *_invented()))]
    return {tool.manifest.uri: tool for tool in made}


async def _nothing(args: object, bench: object) -> dict[str, object]:
    return {}


def _outside() -> list[Manifest]:
    text: Any = {"type": "object", "properties": {"path": {"type": "string"}}}
    hints: list[tuple[str, dict[str, bool], bool]] = [
        ("git_push", {}, True),
        ("get_issue", {"readOnlyHint": True}, True),
        ("look", {"readOnlyHint": True, "openWorldHint": False}, True),
        ("commit", {"destructiveHint": False}, True),
        ("read", {"readOnlyHint": True}, False),
    ]
    return [
        manifest_of("github", {"name": name, "inputSchema": text, "annotations": said}, trusted=trusted)
        for name, said, trusted in hints
    ]


_SCOPES: tuple[dict[str, Any], ...] = (
    {"kind": "none"},
    {"kind": "workspace", "paths": {"path": "read"}},
    {"kind": "workspace", "paths": {"path": "list"}},
    {"kind": "workspace", "paths": {"path": "write"}},
    {"kind": "workspace", "paths": {"path": "add"}},
    {"kind": "workspace", "paths": {"path": "read", "out": "write"}},
    {"kind": "network", "urls": ["url"]},
    {"kind": "network", "urls": ["url"], "paths": {"out": "write"}},
)
_EFFECTS = (["read"], ["write"], ["network"], ["shell"], ["chain"], ["shell", "write"], ["network", "write"])
_COSTS = (
    None,
    {"asset": "EUR", "amount": "0.02"},
    None,
    {"asset": "USD", "amount": 1},
    {"asset": "EUR", "amount": 0},
)
# What those give: counts, shares of 1 and of 100, numbers of which nobody knows how far they go, lists.
_OUTPUTS: tuple[dict[str, Any], ...] = (
    {},
    {"rows": {"type": "integer", "minimum": 0}, "left_out": {"type": "integer"}},
    {"coverage": {"type": "number", "minimum": 0, "maximum": 1}},
    {"coverage": {"type": "number", "minimum": 0, "maximum": 100}, "rows": {"type": "string"}},
    {"coverage": {"type": "number"}, "rows": {"type": "array", "items": {"type": "string"}}},
    {"found": {"type": "object", "properties": {"rows": {"type": "integer"}}}},
    {"coverage": {"type": "integer", "maximum": 100}, "errors": {"type": "integer"}},
)
_METRICS = (
    *("rows", "rows", "coverage", "coverage", "coverage", "number of rows", "the number of rows", "left out"),
    *("left_out", "errors", "taste", "", "count", "matches", "seconds", "coverag", "row", "output", "found"),
    *("size", "size", "status"),
)


def _invented() -> list[Manifest]:
    found = [_declared("smoke")]
    kinds = itertools.product(_EFFECTS, ("read", "write", "destructive"), "ABCDE", _SCOPES)
    for number, (effects, operation, safety, scope) in enumerate(kinds):
        names = [*scope.get("paths", {}), *scope.get("urls", ())]
        optional = [name for name in names if scope.get("paths", {}).get(name) == "list"]
        said = {
            "uri": f"matrix://tool/test/t{number}@1.0.0",
            "description": "A tool of the tests.",
            "effects": effects,
            "operation": operation,
            "idempotent": True,
            "timeout_ms": 5000,
            "max_output": 1000,
            "safety": safety,
            "scope": scope,
            "cost": _COSTS[number % len(_COSTS)],
            "args": _schema(names, [name for name in names if name not in optional]),
            "output": {**_schema([], []), "properties": _OUTPUTS[number % len(_OUTPUTS)]},
        }
        if effects == ["shell"] and operation == "read" and scope["kind"] == "workspace":
            said["command"] = {"argv": ["make"], "outputs": ["out"] if number % 2 else []}
        try:
            found.append(Manifest.model_validate(said))
        except ValidationError:
            continue  # no manifest says that of itself
    return found


def _declared(name: str) -> Manifest:
    """A command as an operator declares one."""
    return Manifest.model_validate(
        {
            "uri": f"matrix://tool/process/run-{name}@1.0.0",
            "description": "A command of the tests.",
            "effects": ["shell", "write"],
            "operation": "write",
            "idempotent": False,
            "timeout_ms": 5000,
            "max_output": 1000,
            "safety": "D",
            "scope": {"kind": "workspace", "paths": {"path": "list"}},
            "command": {"argv": ["make", name]},
            "args": _schema(["path"], []),
            "output": {**_schema([], []), "properties": {"status": {"type": "integer"}}},
        }
    )


def _schema(names: Sequence[str], required: Sequence[str]) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(required),
    }


_OFTEN = (
    *("fs/read", "fs/list", "fs/write", "fs/write", "fs/edit", "fs/append", "fs/delete", "fs/search"),
    *("code/grep", "process/tests", "process/lint", "git/status", "git/branch", "git/checkout", "http/get"),
    *("http/request", "http/request", "agent/dispatch", "time/now", "cortex/find", "cortex/put"),
    *("task/assign", "calendar/add", "data/chart", "review/map", "repo/switch"),
)


# ---- Examples.


@dataclass
class Example:
    """A goal and a plan. below: of each node that dispatches to a skill, what is done there. args: of each
    call its arguments; late: those of them that an earlier node gives. over: is the time of its run up?"""

    intent: ir.Intent
    plan: ir.PlanTree
    below: dict[str, Example] = field(default_factory=dict)
    args: dict[str, dict[str, Any]] = field(default_factory=dict)
    late: dict[str, frozenset[str]] = field(default_factory=dict)
    over: bool = False


class Maker:
    """Draws examples from a source of chance."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._count = 0

    def _often(self, share: float) -> bool:
        return self._chance.random() < share

    def _some(self, most: int) -> range:
        return range(self._chance.randrange(most + 1))

    def example(self, depth: int = 0) -> Example:
        """An Intent and its plan; at most two dispatches below each other."""
        intent = self._intent(depth)
        found = Example(intent, ir.PlanTree(), over=self._often(0.1))
        root = self._tree(found, depth)
        plan = {"id": "p", "intent_id": intent.id, "root": root}
        found.plan = ir.PlanTree.model_validate(plan)
        if self._often(0.1):
            found.plan = found.plan.model_copy(update={"budget": self._budget()})
        return found

    def _intent(self, depth: int) -> ir.Intent:
        frame = ir.Frame(
            verb="build",
            objects=tuple(
                ir.SlotEntry(name=name, value=self._chance.choice(("out/r.md", "src/a.txt", "", "/etc/x")))
                for name in ("report", "thing")
                if self._often(0.4)
            ),
            constraints=tuple(self._constraint() for _ in self._some(4)),
            success_criteria=tuple(self._criterion() for _ in self._some(2)),
            preferences=tuple(ir.Preference(rank=1, prefer="nicely") for _ in self._some(1)),
        )
        return ir.Intent(
            id=f"01M7Y6X000000000000000000{depth}",
            actor=USER,
            agent=AGENT,
            frame=frame,
            state="accepted",
            budget=self._budget() if self._often(0.3) else None,
            deadline=self._moment() if self._often(0.15) else "",
            created_at="2026-01-01T10:00:00.000Z",
        )

    def _moment(self) -> str:
        return "2001-01-01T00:00:00.000Z" if self._often(0.2) else "2999-01-01T00:00:00.000Z"

    def _amount(self) -> ir.AssetAmount:
        return ir.AssetAmount(
            asset=self._chance.choice(("EUR", "EUR", "USD", "SEK")),
            amount=self._chance.choice((0, "0.02", "0.03", 1, 100, "0.05", 2.5)),
        )

    def _budget(self) -> ir.Budget:
        return ir.Budget(
            max_cost=self._amount() if self._often(0.3) else None,
            max_time="PT1H" if self._often(0.2) else "",
            max_calls=self._chance.randrange(6) if self._often(0.5) else None,
            max_agents=self._chance.randrange(3) if self._often(0.3) else None,
        )

    def _constraint(self) -> ir.Constraint:
        hard, kind = self._often(0.8), self._chance.randrange(14)
        if kind < 7:
            return ir.RuleConstraint(hard=hard, rule="in words", keeps=self._keeps())
        if kind == 7:
            some = [[one for one in _REGIONS if self._often(0.2)] for _ in "ad"]
            return ir.JurisdictionConstraint(hard=hard, allow=tuple(some[0]), deny=tuple(some[1]))
        return (
            ir.BudgetConstraint(hard=hard, max=self._amount() if self._often(0.9) else None),
            ir.DeadlineConstraint(hard=hard, by=self._moment() if self._often(0.9) else ""),
            self._quality(hard),
            self._quality(hard),
            self._quality(hard),
            self._chance.choice(
                (
                    ir.PolicyConstraint(hard=hard, policy="be fair"),
                    ir.ExtensionConstraint(type="x:acme", hard=hard, schema="s", data="{}"),
                )
            ),
        )[kind - 8]

    def _quality(self, hard: bool) -> ir.QualityConstraint:
        metric = self._chance.choice(_METRICS)
        if self._often(0.3):
            metric = f"n{1 + self._chance.randrange(8)}.output.{metric or 'found.rows'}"
        share = self._often(0.4)
        least = self._chance.choice((0.5, 0.9, 1, 1.5) if share else (0, 1, 100, 0.5))
        return ir.QualityConstraint(hard=hard, metric=metric, min=least, share=share)

    def _command(self) -> ir.CommandPredicate:
        names = (
            "process/tests",
            "process/lint",
            "process/mqlaunch",
            "fs/read",
            "process/run-gone",
            "code/grep",
        )
        name = self._chance.choice((*names, "process/tests", "process/run-smoke", "process/editor"))
        version = self._chance.choice((*("@1.0.0",) * 6, "@9.9.9", ""))
        args = self._chance.choice(
            ({}, {"path": "src"}, {"path": "${n1.output.path}"}, {"path": "src", "a": "b"})
        )
        if "mqlaunch" in name or "grep" in name:
            args |= self._chance.choice(({}, {"command": "doctor"}, {"pattern": "todo"}))
        return ir.CommandPredicate(tool_ref=f"matrix://tool/{name}{version}", args=FrozenMap(args))

    def _keeps(self) -> str:
        kind = self._chance.randrange(len(ir.promises.PLAIN) + 13)
        if kind < len(ir.promises.PLAIN):
            return ir.promises.PLAIN[kind]
        kind -= len(ir.promises.PLAIN)
        if kind < 4:
            return f"{ir.promises.PLACES[kind]} {self._several(PLACES)}"
        if kind == 4:
            return f"only host {self._several(('de.example', 'se.example', 'nowhere.example', 'http://de.example'))}"
        if kind < 7:
            names = ("fs/read", "fs/*", "git/commit", "git/push", "http/get", "test/*", "github:get_issue")
            return f"{ir.promises.TOOLS[kind - 5]} {self._several(names)}"
        if kind < 11:
            return f"at most {self._chance.randrange(4)} {ir.promises.COUNTS[kind % 2]}"
        bad = ("", "be kind", "only in ../up", "at most 99999999 calls", "Change nothing", "only host *")
        return self._chance.choice(bad) if self._often(0.5) else ""

    def _several(self, values: Sequence[str]) -> str:
        return ", ".join(
            dict.fromkeys(self._chance.choice(values) for _ in range(1 + self._chance.randrange(2)))
        )

    def _criterion(self) -> ir.Predicate:
        pick = self._chance.choice
        artifacts = (
            "out/r.md",
            "report",
            "thing",
            "the finished report",
            "",
            "/etc/x",
            "../x",
            ".git/config",
            "a.md",
        )
        urls = (
            *(
                "https://de.example/x",
                "https://nowhere.example/",
                "http://de.example",
                "",
                "example",
                "ftp://de.example/",
            ),
            *("https://me:pw@de.example/", "https://", "https://de.example/${n1.output.id}"),
        )
        checks = (
            *(
                "",
                "status=404",
                "404",
                "contains:ready",
                "json:$.a.b=done",
                "json:$.items[0]",
                f"sha256={'a' * 64}",
            ),
            *("is up", "status=4044", "status=abc", "sha256=abc", "json:a", "contains:", "regex:(a+)+$"),
        )
        match self._chance.randrange(6):
            case 5:
                return self._command()
            case 0:
                return ir.DeliveredPredicate(artifact=pick(artifacts))
            case 1:
                return ir.SignedOffPredicate(by=pick(("", USER, OTHER, AGENT, GONE, STRANGER, "Kim")))
            case 2:
                return ir.ExternalPredicate(url=pick(urls), check=pick(checks))
            case 3:
                sources = (AGENT, USER, GONE, STRANGER, "", "print shop")
                return ir.AttestationPredicate(
                    source=pick(sources), topic=pick(("", "done", "matrix://intent/x"))
                )
            case _:
                return ir.ExtensionPredicate(type=pick(("x:criterion", "x:acme")), data="it shines")

    # ---- Plans.

    def _tree(self, example: Example, depth: int, level: int = 0) -> NODE:
        children = [self._node(example, depth, level) for _ in range(1 + self._chance.randrange(4))]
        return (parallel if self._often(0.3) else sequence)(self._id(), *children)

    def _id(self) -> str:
        self._count += 1
        return f"n{self._count}"

    def _node(self, example: Example, depth: int, level: int) -> NODE:
        kind = self._chance.randrange(14)
        if kind == 0 and level < 2:
            return self._tree(example, depth, level + 1)
        if kind == 1:
            return step(self._id(), prompt_name="think")
        if kind == 2:
            return gate(self._id())
        if kind == 3 and depth < 2:
            id = self._id()
            example.below[id] = self.example(depth + 1)
            frame = example.below[id].intent.frame.model_dump(mode="json")
            ref = "matrix://skill/other@1.0.0"
            return {"id": id, "kind": "sub_dispatch", "sub_dispatch": {"skill_ref": ref, "sub_intent": frame}}
        return self._call(example)

    def _call(self, example: Example) -> NODE:
        id, known = self._id(), tools()
        if self._often(0.6):
            uri = f"matrix://tool/{self._chance.choice(_OFTEN)}@1.0.0"
        else:
            uri = self._chance.choice([one for one in known if "/test/" in one or "/mcp-" in one])
        manifest = known[uri].manifest
        args, late = self._args(manifest)
        example.args[id], example.late[id] = args, late
        texts = {
            name: f"${{n0.output.{name}}}" if name in late else str(value) for name, value in args.items()
        }
        call = {"tool_ref": uri, "side_effect_class": manifest.effects[0], "args": texts}
        return {"id": id, "kind": "tool_call", "tool_call": call}

    def _args(self, manifest: Manifest) -> tuple[dict[str, Any], frozenset[str]]:
        properties = manifest.properties
        args: dict[str, Any] = {}
        for name, mode in manifest.scope.paths.items():
            optional = mode == "list" or "default" in properties[name]
            if not (optional and self._often(0.3)):
                args[name] = self._chance.choice(PATHS)
        for name in manifest.scope.urls:
            args[name] = self._chance.choice(_URLS)
        late = frozenset(name for name in args if self._often(0.1))
        more: dict[str, tuple[Any, ...]] = {
            "method": ("GET", "GET", "HEAD", "POST", "DELETE"),
            "overwrite": (True, False),
            "base": ("0" * 64,),
            "content": ("text", "see https://stranger.example/x"),
            "body": ("hello",),
        }
        for name, values in more.items():
            if name in properties and (self._often(0.4) or name in ("method", "content")):
                args[name] = self._chance.choice(values)
        if manifest.uri.startswith("matrix://tool/git/branch@") and self._often(0.5):
            args["name"] = "b1"
        return args, late
