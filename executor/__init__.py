"""What is done: the home, its journal and keys, the gate, the walker and its tools.

What only a run needs is fetched from its module at first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from executor.clock import Clock, FixedClock, SystemClock
from executor.database import Database
from executor.errors import (
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
    UnresolvedError,
    WalkError,
)
from executor.home import Home
from executor.journal import Journal, Row
from executor.keyring import KeyEntry, KeyPair, Keyring
from executor.lifecycle import View, check, fold, intent_id
from executor.proofs import ConsistencyProof, Head, InclusionProof
from executor.record import Record, open_record, seal_record
from executor.verification import JournalFinding, Report

if TYPE_CHECKING:
    from executor.approvals import Approvals
    from executor.call import Call, Declaration
    from executor.context import Context
    from executor.gate import GUARDS, Allow, decide
    from executor.grants import Grant, Grants
    from executor.listener import Listener, WalkEvent
    from executor.people import AlwaysApprove, AlwaysDeny, GateAnswer, GateQuestion, People
    from executor.pins import Pins
    from executor.policy import Policy
    from executor.reasoner import Prompts, Reasoner
    from executor.sandbox.paths import Workspace
    from executor.tools.manifest import Manifest, load_manifest
    from executor.tools.registry import Registry
    from executor.tools.tool import Bench, Tool
    from executor.verdict import Ask, Deny
    from executor.walker import Outcome, Verdict, Walker, preflight

__all__ = [
    "GUARDS",
    "Allow",
    "AlwaysApprove",
    "AlwaysDeny",
    "Approvals",
    "Ask",
    "Bench",
    "Call",
    "Clock",
    "ConsistencyProof",
    "Context",
    "Database",
    "Declaration",
    "Deny",
    "ExecutorError",
    "FixedClock",
    "GateAnswer",
    "GateError",
    "GateQuestion",
    "Grant",
    "Grants",
    "Head",
    "Home",
    "HomeError",
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
    "Row",
    "ScopeError",
    "SystemClock",
    "Tool",
    "ToolError",
    "UnresolvedError",
    "Verdict",
    "View",
    "WalkError",
    "WalkEvent",
    "Walker",
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
    "executor.approvals": ("Approvals",),
    "executor.call": ("Call", "Declaration"),
    "executor.context": ("Context",),
    "executor.gate": ("GUARDS", "Allow", "decide"),
    "executor.grants": ("Grant", "Grants"),
    "executor.listener": ("Listener", "WalkEvent"),
    "executor.people": ("AlwaysApprove", "AlwaysDeny", "GateAnswer", "GateQuestion", "People"),
    "executor.pins": ("Pins",),
    "executor.policy": ("Policy",),
    "executor.reasoner": ("Prompts", "Reasoner"),
    "executor.sandbox.paths": ("Workspace",),
    "executor.tools.manifest": ("Manifest", "load_manifest"),
    "executor.tools.registry": ("Registry",),
    "executor.tools.tool": ("Bench", "Tool"),
    "executor.verdict": ("Ask", "Deny"),
    "executor.walker": ("Outcome", "Verdict", "Walker", "preflight"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'executor' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value
