"""Say what you want in plain words; read it, sign it, run it, replay it.

    from mcl import accept, compile_goal, run

    compiled = compile_goal("which files in notes mention invoice").require()
    accept(compiled.intent.id)
    outcome = run(compiled.intent.id).require()

In a program with an event loop: `from mcl import aio`, and `await aio.run(…)`.

Importing this loads nothing: each name is fetched from its module at first use.
"""

from __future__ import annotations

from mcl.core.version import VERSION

TYPE_CHECKING = False  # importing typing takes as long as a hook may
if TYPE_CHECKING:
    from typing import Any

    from executor import Home, Outcome, UndoReport
    from ir import Envelope, Frame, Intent, MclError, PlanTree
    from mcl.catalog.activity.index import ActivityPage
    from mcl.catalog.activity.record import CallRecord
    from mcl.catalog.activity.stats import ActivityStats
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.core.home import open_home
    from mcl.language.mtx.source import Finding
    from mcl.memory.memory import Memory
    from mcl.memory.proof import Proof
    from mcl.memory.store import Snapshot
    from mcl.memory.verification import CortexReport
    from mcl.usecases.accept import Acceptance, accept
    from mcl.usecases.activity import (
        ActivityExport,
        ShownCall,
        activity_stats,
        export_activity,
        list_activity,
        show_activity,
        watch_activity,
    )
    from mcl.usecases.answer import answer
    from mcl.usecases.batch import BatchSummary, compile_batch
    from mcl.usecases.call import Called, call_tool
    from mcl.usecases.cancel import cancel
    from mcl.usecases.compile import compile_goal
    from mcl.usecases.correct import Corrected, Proposal, correct, propose_correction, sign_correction
    from mcl.usecases.gates import Decided, OpenGate, ShownGate, decide_gate, open_gates, show_gate
    from mcl.usecases.grants import AgentGrants, grant, list_grants, revoke
    from mcl.usecases.graph import graph
    from mcl.usecases.materiality import MaterialityReport, materiality
    from mcl.usecases.memory import (
        Imported,
        ProofReport,
        cortex_find,
        cortex_forget,
        cortex_history,
        cortex_import,
        cortex_learning,
        cortex_list,
        cortex_prove,
        cortex_put,
        cortex_show,
        cortex_snapshot,
        cortex_verify,
        cortex_verify_proof,
    )
    from mcl.usecases.plan import Planned, plan
    from mcl.usecases.plan_check import PlanChecked, check_plan_file, check_plan_of
    from mcl.usecases.replay import Replay, replay
    from mcl.usecases.run import run
    from mcl.usecases.show import Shown, Summary, list_intents, show
    from mcl.usecases.skill.examples import TriedExample, TriedSkill, try_examples
    from mcl.usecases.skill.format import FormattedFile, format_skill
    from mcl.usecases.skill.hash import hash_skill
    from mcl.usecases.skill.new import NewSkill, new_skill
    from mcl.usecases.skill.publish import Published, publish_skill
    from mcl.usecases.skill.validate import CheckedFile, validate_skill
    from mcl.usecases.tools import (
        KnownTool,
        VerifiedTools,
        approve_tool,
        find_tool,
        list_tools,
        quarantine_tool,
        verify_tools,
    )
    from mcl.usecases.undo import prune_undo, undo
    from mcl.usecases.verify import FileReport, verify
    from mcl.usecases.zone import config_zone

__all__ = [
    "Acceptance",
    "ActivityExport",
    "ActivityPage",
    "ActivityStats",
    "AgentGrants",
    "BatchSummary",
    "CallRecord",
    "Called",
    "CheckedFile",
    "Clarify",
    "Compiled",
    "Corrected",
    "CortexReport",
    "Decided",
    "Envelope",
    "FileReport",
    "Finding",
    "FormattedFile",
    "Frame",
    "Home",
    "Imported",
    "Intent",
    "KnownTool",
    "MaterialityReport",
    "MclError",
    "Memory",
    "NewSkill",
    "OpenGate",
    "Outcome",
    "PlanChecked",
    "PlanTree",
    "Planned",
    "Proof",
    "ProofReport",
    "Proposal",
    "Published",
    "Refused",
    "Replay",
    "Shown",
    "ShownCall",
    "ShownGate",
    "Snapshot",
    "Summary",
    "TriedExample",
    "TriedSkill",
    "UndoReport",
    "VerifiedTools",
    "__version__",
    "accept",
    "activity_stats",
    "answer",
    "approve_tool",
    "call_tool",
    "cancel",
    "check_plan_file",
    "check_plan_of",
    "compile_batch",
    "compile_goal",
    "config_zone",
    "correct",
    "cortex_find",
    "cortex_forget",
    "cortex_history",
    "cortex_import",
    "cortex_learning",
    "cortex_list",
    "cortex_prove",
    "cortex_put",
    "cortex_show",
    "cortex_snapshot",
    "cortex_verify",
    "cortex_verify_proof",
    "decide_gate",
    "export_activity",
    "find_tool",
    "format_skill",
    "grant",
    "graph",
    "hash_skill",
    "list_activity",
    "list_grants",
    "list_intents",
    "list_tools",
    "materiality",
    "new_skill",
    "open_gates",
    "open_home",
    "plan",
    "propose_correction",
    "prune_undo",
    "publish_skill",
    "quarantine_tool",
    "replay",
    "revoke",
    "run",
    "show",
    "show_activity",
    "show_gate",
    "sign_correction",
    "try_examples",
    "undo",
    "validate_skill",
    "verify",
    "verify_tools",
    "watch_activity",
]
__version__ = VERSION

_HOMES = {
    "executor": (
        "Home",
        "Outcome",
        "UndoReport",
    ),
    "ir": (
        "Envelope",
        "Frame",
        "Intent",
        "MclError",
        "PlanTree",
    ),
    "mcl.usecases.accept": (
        "Acceptance",
        "accept",
    ),
    "mcl.usecases.activity": (
        "ActivityExport",
        "ShownCall",
        "activity_stats",
        "export_activity",
        "list_activity",
        "show_activity",
        "watch_activity",
    ),
    "mcl.usecases.answer": ("answer",),
    "mcl.usecases.batch": (
        "BatchSummary",
        "compile_batch",
    ),
    "mcl.usecases.call": (
        "Called",
        "call_tool",
    ),
    "mcl.usecases.cancel": ("cancel",),
    "mcl.usecases.compile": ("compile_goal",),
    "mcl.usecases.zone": ("config_zone",),
    "mcl.usecases.correct": (
        "Corrected",
        "Proposal",
        "correct",
        "propose_correction",
        "sign_correction",
    ),
    "mcl.usecases.materiality": (
        "MaterialityReport",
        "materiality",
    ),
    "mcl.usecases.memory": (
        "Imported",
        "ProofReport",
        "cortex_find",
        "cortex_forget",
        "cortex_history",
        "cortex_import",
        "cortex_learning",
        "cortex_list",
        "cortex_prove",
        "cortex_put",
        "cortex_show",
        "cortex_snapshot",
        "cortex_verify",
        "cortex_verify_proof",
    ),
    "mcl.memory.memory": ("Memory",),
    "mcl.memory.store": ("Snapshot",),
    "mcl.memory.proof": ("Proof",),
    "mcl.memory.verification": ("CortexReport",),
    "mcl.usecases.graph": ("graph",),
    "mcl.usecases.gates": (
        "Decided",
        "OpenGate",
        "ShownGate",
        "decide_gate",
        "open_gates",
        "show_gate",
    ),
    "mcl.usecases.grants": (
        "AgentGrants",
        "grant",
        "list_grants",
        "revoke",
    ),
    "mcl.usecases.plan": (
        "Planned",
        "plan",
    ),
    "mcl.usecases.plan_check": (
        "PlanChecked",
        "check_plan_file",
        "check_plan_of",
    ),
    "mcl.usecases.replay": (
        "Replay",
        "replay",
    ),
    "mcl.usecases.run": ("run",),
    "mcl.usecases.show": (
        "Shown",
        "Summary",
        "list_intents",
        "show",
    ),
    "mcl.usecases.tools": (
        "KnownTool",
        "VerifiedTools",
        "approve_tool",
        "find_tool",
        "list_tools",
        "quarantine_tool",
        "verify_tools",
    ),
    "mcl.usecases.undo": (
        "prune_undo",
        "undo",
    ),
    "mcl.usecases.verify": (
        "FileReport",
        "verify",
    ),
    "mcl.usecases.skill.examples": (
        "TriedExample",
        "TriedSkill",
        "try_examples",
    ),
    "mcl.usecases.skill.format": (
        "FormattedFile",
        "format_skill",
    ),
    "mcl.usecases.skill.hash": ("hash_skill",),
    "mcl.usecases.skill.new": (
        "NewSkill",
        "new_skill",
    ),
    "mcl.usecases.skill.publish": (
        "Published",
        "publish_skill",
    ),
    "mcl.usecases.skill.validate": (
        "CheckedFile",
        "validate_skill",
    ),
    "mcl.compiler.compiler": (
        "Clarify",
        "Compiled",
        "Refused",
    ),
    "mcl.core.home": ("open_home",),
    "mcl.catalog.activity.index": ("ActivityPage",),
    "mcl.catalog.activity.record": ("CallRecord",),
    "mcl.catalog.activity.stats": ("ActivityStats",),
    "mcl.language.mtx.source": ("Finding",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'mcl' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
