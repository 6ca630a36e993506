"""What is done: the home, its journal and keys, the gate, the walker and its tools.

What only a run or a check needs is fetched from its module at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from executor.core.clock import Clock, FixedClock, SystemClock
from executor.core.errors import (
    ExecutorError,
    GateError,
    HomeError,
    JournalError,
    KeyringError,
    LifecycleError,
    ManifestError,
    PolicyError,
    ScopeError,
    ToolError,
    UndoError,
    UnresolvedError,
    WalkError,
)
from executor.store.database import Database
from executor.store.home import Home
from executor.store.journal.journal import Journal, Statement
from executor.store.journal.record import Record, open_record, seal_record
from executor.store.journal.rows import Row
from executor.store.keys.keyring import KeyEntry, KeyPair, Keyring
from executor.store.lifecycle.events import View, check, fold, intent_id

if TYPE_CHECKING:
    from executor.call import Allow, Call, Declaration
    from executor.gate.approvals import Approvals
    from executor.gate.context import Context
    from executor.gate.decide import GUARDS, decide
    from executor.gate.grants import Grant, Grants, HostGrant, RootGrant
    from executor.gate.pins import Pins
    from executor.gate.policy import Policy
    from executor.gate.verdict import Ask, Deny
    from executor.sandbox.paths import Workspace
    from executor.store.journal.merkle import ConsistencyProof, Head, InclusionProof
    from executor.store.journal.verification import JournalFinding, Report
    from executor.store.materiality import Change, Documents
    from executor.tools.manifest import Manifest, load_manifest
    from executor.tools.registry import Registry
    from executor.tools.tool import Bench, Tool
    from executor.walker import Outcome, Verdict, Walker
    from executor.walker.dispatch import Agent, Agents
    from executor.walker.engine import Engine, LocalEngine, Work
    from executor.walker.interfaces import Expansion, Listener, Prompts, Reasoner, SubSkills, WalkEvent
    from executor.walker.preflight import preflight
    from executor.walker.questions import AlwaysApprove, AlwaysDeny, GateAnswer, GateQuestion, People
    from executor.walker.undo.images import Images
    from executor.walker.undo.undo import UndoReport

__all__ = [
    "GUARDS",
    "Agent",
    "Agents",
    "Allow",
    "AlwaysApprove",
    "AlwaysDeny",
    "Approvals",
    "Ask",
    "Bench",
    "Call",
    "Change",
    "Clock",
    "ConsistencyProof",
    "Context",
    "Database",
    "Declaration",
    "Deny",
    "Documents",
    "Engine",
    "ExecutorError",
    "Expansion",
    "FixedClock",
    "GateAnswer",
    "GateError",
    "GateQuestion",
    "Grant",
    "Grants",
    "Head",
    "Home",
    "HomeError",
    "HostGrant",
    "Images",
    "InclusionProof",
    "Journal",
    "JournalError",
    "JournalFinding",
    "KeyEntry",
    "KeyPair",
    "Keyring",
    "KeyringError",
    "LifecycleError",
    "Listener",
    "LocalEngine",
    "Manifest",
    "ManifestError",
    "Outcome",
    "People",
    "Pins",
    "Policy",
    "PolicyError",
    "Prompts",
    "Reasoner",
    "Record",
    "Registry",
    "Report",
    "RootGrant",
    "Row",
    "ScopeError",
    "Statement",
    "SubSkills",
    "SystemClock",
    "Tool",
    "ToolError",
    "UndoError",
    "UndoReport",
    "UnresolvedError",
    "Verdict",
    "View",
    "WalkError",
    "WalkEvent",
    "Walker",
    "Work",
    "Workspace",
    "check",
    "decide",
    "fold",
    "intent_id",
    "load_manifest",
    "open_record",
    "preflight",
    "seal_record",
]

_HOMES = {
    "executor.walker.engine": (
        "Engine",
        "LocalEngine",
        "Work",
    ),
    "executor.walker.dispatch": (
        "Agent",
        "Agents",
    ),
    "executor.store.journal.merkle": (
        "ConsistencyProof",
        "Head",
        "InclusionProof",
    ),
    "executor.store.journal.verification": (
        "JournalFinding",
        "Report",
    ),
    "executor.gate.approvals": ("Approvals",),
    "executor.call": (
        "Allow",
        "Call",
        "Declaration",
    ),
    "executor.gate.context": ("Context",),
    "executor.gate.decide": (
        "GUARDS",
        "decide",
    ),
    "executor.gate.grants": (
        "Grant",
        "Grants",
        "HostGrant",
        "RootGrant",
    ),
    "executor.walker.interfaces": (
        "Expansion",
        "Listener",
        "Prompts",
        "Reasoner",
        "SubSkills",
        "WalkEvent",
    ),
    "executor.walker.questions": (
        "AlwaysApprove",
        "AlwaysDeny",
        "GateAnswer",
        "GateQuestion",
        "People",
    ),
    "executor.gate.pins": ("Pins",),
    "executor.gate.policy": ("Policy",),
    "executor.store.materiality": (
        "Change",
        "Documents",
    ),
    "executor.sandbox.paths": ("Workspace",),
    "executor.tools.manifest": (
        "Manifest",
        "load_manifest",
    ),
    "executor.tools.registry": ("Registry",),
    "executor.tools.tool": (
        "Bench",
        "Tool",
    ),
    "executor.walker.undo.images": ("Images",),
    "executor.walker.undo.undo": ("UndoReport",),
    "executor.gate.verdict": (
        "Ask",
        "Deny",
    ),
    "executor.walker.outcome": ("Outcome",),
    "executor.walker.preflight": (
        "Verdict",
        "preflight",
    ),
    "executor.walker.walker": ("Walker",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'executor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value
