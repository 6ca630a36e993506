"""Say what you want in plain words; read it, sign it, run it, replay it.

    from mcl import accept, compile_goal, run

    compiled = compile_goal("which files in notes mention invoice").require()
    accept(compiled.intent.id)
    outcome = run(compiled.intent.id).require()

In a program with an event loop: `from mcl import aio`, and `await aio.run(…)`.

Importing this loads nothing: each name is fetched from its module at first use.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes as long as a hook may
if TYPE_CHECKING:
    from typing import Any

    from executor import Home, Outcome, UndoReport
    from ir import Envelope, Frame, Intent, MclError, PlanTree
    from mcl.acts.accept import Acceptance, accept
    from mcl.acts.activity import (
        ActivityExport,
        ShownCall,
        activity_stats,
        export_activity,
        list_activity,
        show_activity,
        watch_activity,
    )
    from mcl.acts.answer import answer
    from mcl.acts.batch import BatchSummary, compile_batch
    from mcl.acts.call import Called, call_tool
    from mcl.acts.cancel import cancel
    from mcl.acts.compile import compile_goal
    from mcl.acts.contracts import VerifiedContracts, verify_contracts, write_contracts
    from mcl.acts.correct import Corrected, Proposal, correct, propose_correction, sign_correction
    from mcl.acts.cortex import (
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
    from mcl.acts.gates import Decided, OpenGate, ShownGate, decide_gate, open_gates, show_gate
    from mcl.acts.grants import AgentGrants, grant, list_grants, revoke
    from mcl.acts.graph import graph
    from mcl.acts.materiality import MaterialityReport, materiality
    from mcl.acts.plan import Planned, plan
    from mcl.acts.plan_check import PlanChecked, check_plan_file, check_plan_of
    from mcl.acts.release import check_release
    from mcl.acts.replay import Replay, replay
    from mcl.acts.repo.draft import DraftedContract, draft_contract
    from mcl.acts.repo.repositories import (
        ChangedRepository,
        add_repository,
        remove_repository,
        switch_repository,
    )
    from mcl.acts.repo.route import route_prompt
    from mcl.acts.repo.run import ContractRun, run_contract
    from mcl.acts.review.dismiss import review_dismiss, review_dismissals, review_undismiss
    from mcl.acts.review.draft import DraftedReview, draft_review
    from mcl.acts.review.drift import review_drift
    from mcl.acts.review.memory import (
        review_bootstrap,
        review_decide,
        review_decisions,
        review_decisions_differ,
        review_history,
        review_recall,
        review_remember,
    )
    from mcl.acts.review.run import ReviewRun, review_code
    from mcl.acts.run import run
    from mcl.acts.show import Shown, Summary, list_intents, show
    from mcl.acts.skill.examples import TriedExample, TriedSkill, try_examples
    from mcl.acts.skill.format import FormattedFile, format_skill
    from mcl.acts.skill.hash import hash_skill
    from mcl.acts.skill.new import NewSkill, new_skill
    from mcl.acts.skill.publish import Published, publish_skill
    from mcl.acts.skill.validate import CheckedFile, validate_skill
    from mcl.acts.tools import (
        KnownTool,
        VerifiedTools,
        approve_tool,
        find_tool,
        list_tools,
        quarantine_tool,
        verify_tools,
    )
    from mcl.acts.undo import prune_undo, undo
    from mcl.acts.verify import FileReport, verify
    from mcl.acts.work.complete import complete_work
    from mcl.acts.work.export import ExportedWork, export_work
    from mcl.acts.work.import_ import ImportedWork, import_work
    from mcl.acts.work.list import ListedWork, WorkList, list_work, show_work
    from mcl.acts.work.map_ import WorkMap, map_work
    from mcl.acts.work.release import release_work
    from mcl.acts.work.select import select_work
    from mcl.acts.work.trace import WorkTrace, trace_work
    from mcl.acts.work.validate import ValidatedWork, validate_work
    from mcl.acts.zone import config_zone
    from mcl.agents.work.completing import CompleteResult
    from mcl.agents.work.item import WorkItem
    from mcl.agents.work.leases import Lease
    from mcl.agents.work.selecting import SelectResult
    from mcl.compiler import Clarify, Compiled, Refused
    from mcl.cortex.memory import Memory
    from mcl.cortex.proof import Proof
    from mcl.cortex.store import Snapshot
    from mcl.cortex.verification import CortexReport
    from mcl.home import open_home
    from mcl.mcp.activity.reading import ActivityPage
    from mcl.mcp.activity.record import CallRecord
    from mcl.mcp.activity.stats import ActivityStats
    from mcl.mtx.finding import Finding
    from mcl.release.report import ReleaseReport
    from mcl.repo.contract import RepoIntent, read_contract
    from mcl.repo.repositories import Repositories
    from mcl.repo.routing import Routed
    from mcl.review.drift.drift import DriftReport
    from mcl.review.memory.decision import Decision
    from mcl.review.memory.decisions import Difference
    from mcl.review.memory.dismissals import Dismissal
    from mcl.review.memory.documents.bootstrap import Bootstrapped
    from mcl.review.memory.history import Review
    from mcl.review.memory.meanings import Meaning

__all__ = [
    "Acceptance",
    "ActivityExport",
    "ActivityPage",
    "ActivityStats",
    "AgentGrants",
    "BatchSummary",
    "Bootstrapped",
    "CallRecord",
    "Called",
    "ChangedRepository",
    "CheckedFile",
    "Clarify",
    "Compiled",
    "CompleteResult",
    "ContractRun",
    "Corrected",
    "CortexReport",
    "Decided",
    "Decision",
    "Difference",
    "Dismissal",
    "DraftedContract",
    "DraftedReview",
    "DriftReport",
    "Envelope",
    "ExportedWork",
    "FileReport",
    "Finding",
    "FormattedFile",
    "Frame",
    "Home",
    "Imported",
    "ImportedWork",
    "Intent",
    "KnownTool",
    "Lease",
    "ListedWork",
    "MaterialityReport",
    "MclError",
    "Meaning",
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
    "ReleaseReport",
    "Replay",
    "RepoIntent",
    "Repositories",
    "Review",
    "ReviewRun",
    "Routed",
    "SelectResult",
    "Shown",
    "ShownCall",
    "ShownGate",
    "Snapshot",
    "Summary",
    "TriedExample",
    "TriedSkill",
    "UndoReport",
    "ValidatedWork",
    "VerifiedContracts",
    "VerifiedTools",
    "WorkItem",
    "WorkList",
    "WorkMap",
    "WorkTrace",
    "__version__",
    "accept",
    "activity_stats",
    "add_repository",
    "answer",
    "approve_tool",
    "call_tool",
    "cancel",
    "check_plan_file",
    "check_plan_of",
    "check_release",
    "compile_batch",
    "compile_goal",
    "complete_work",
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
    "draft_contract",
    "draft_review",
    "export_activity",
    "export_work",
    "find_tool",
    "format_skill",
    "grant",
    "graph",
    "hash_skill",
    "import_work",
    "list_activity",
    "list_grants",
    "list_intents",
    "list_tools",
    "list_work",
    "map_work",
    "materiality",
    "new_skill",
    "open_gates",
    "open_home",
    "plan",
    "propose_correction",
    "prune_undo",
    "publish_skill",
    "quarantine_tool",
    "read_contract",
    "release_work",
    "remove_repository",
    "replay",
    "review_bootstrap",
    "review_code",
    "review_decide",
    "review_decisions",
    "review_decisions_differ",
    "review_dismiss",
    "review_dismissals",
    "review_drift",
    "review_history",
    "review_recall",
    "review_remember",
    "review_undismiss",
    "revoke",
    "route_prompt",
    "run",
    "run_contract",
    "select_work",
    "show",
    "show_activity",
    "show_gate",
    "show_work",
    "sign_correction",
    "switch_repository",
    "trace_work",
    "try_examples",
    "undo",
    "validate_skill",
    "validate_work",
    "verify",
    "verify_contracts",
    "verify_tools",
    "watch_activity",
    "write_contracts",
]
__version__ = "0.1.0"

_HOMES = {
    "executor": ("Home", "Outcome", "UndoReport"),
    "ir": ("Envelope", "Frame", "Intent", "MclError", "PlanTree"),
    "mcl.acts.accept": ("Acceptance", "accept"),
    "mcl.acts.activity": (
        "ActivityExport",
        "ShownCall",
        "activity_stats",
        "export_activity",
        "list_activity",
        "show_activity",
        "watch_activity",
    ),
    "mcl.acts.answer": ("answer",),
    "mcl.acts.batch": ("BatchSummary", "compile_batch"),
    "mcl.acts.call": ("Called", "call_tool"),
    "mcl.acts.cancel": ("cancel",),
    "mcl.acts.compile": ("compile_goal",),
    "mcl.acts.zone": ("config_zone",),
    "mcl.acts.contracts": ("VerifiedContracts", "verify_contracts", "write_contracts"),
    "mcl.acts.correct": ("Corrected", "Proposal", "correct", "propose_correction", "sign_correction"),
    "mcl.acts.materiality": ("MaterialityReport", "materiality"),
    "mcl.acts.cortex": (
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
    "mcl.cortex.memory": ("Memory",),
    "mcl.cortex.store": ("Snapshot",),
    "mcl.cortex.proof": ("Proof",),
    "mcl.cortex.verification": ("CortexReport",),
    "mcl.acts.release": ("check_release",),
    "mcl.acts.review.dismiss": ("review_dismiss", "review_dismissals", "review_undismiss"),
    "mcl.acts.review.drift": ("review_drift",),
    "mcl.release.report": ("ReleaseReport",),
    "mcl.review.drift.drift": ("DriftReport",),
    "mcl.acts.review.memory": (
        "review_bootstrap",
        "review_decide",
        "review_decisions",
        "review_decisions_differ",
        "review_history",
        "review_recall",
        "review_remember",
    ),
    "mcl.review.memory.decision": ("Decision",),
    "mcl.review.memory.decisions": ("Difference",),
    "mcl.review.memory.dismissals": ("Dismissal",),
    "mcl.review.memory.documents.bootstrap": ("Bootstrapped",),
    "mcl.review.memory.history": ("Review",),
    "mcl.review.memory.meanings": ("Meaning",),
    "mcl.acts.graph": ("graph",),
    "mcl.acts.gates": ("Decided", "OpenGate", "ShownGate", "decide_gate", "open_gates", "show_gate"),
    "mcl.acts.grants": ("AgentGrants", "grant", "list_grants", "revoke"),
    "mcl.acts.plan": ("Planned", "plan"),
    "mcl.acts.plan_check": ("PlanChecked", "check_plan_file", "check_plan_of"),
    "mcl.acts.replay": ("Replay", "replay"),
    "mcl.acts.review.draft": ("DraftedReview", "draft_review"),
    "mcl.acts.review.run": ("ReviewRun", "review_code"),
    "mcl.acts.run": ("run",),
    "mcl.acts.show": ("Shown", "Summary", "list_intents", "show"),
    "mcl.acts.tools": (
        "KnownTool",
        "VerifiedTools",
        "approve_tool",
        "find_tool",
        "list_tools",
        "quarantine_tool",
        "verify_tools",
    ),
    "mcl.acts.undo": ("prune_undo", "undo"),
    "mcl.acts.verify": ("FileReport", "verify"),
    "mcl.acts.skill.examples": ("TriedExample", "TriedSkill", "try_examples"),
    "mcl.acts.skill.format": ("FormattedFile", "format_skill"),
    "mcl.acts.skill.hash": ("hash_skill",),
    "mcl.acts.skill.new": ("NewSkill", "new_skill"),
    "mcl.acts.skill.publish": ("Published", "publish_skill"),
    "mcl.acts.skill.validate": ("CheckedFile", "validate_skill"),
    "mcl.acts.work.complete": ("complete_work",),
    "mcl.acts.work.export": ("ExportedWork", "export_work"),
    "mcl.acts.work.import_": ("ImportedWork", "import_work"),
    "mcl.acts.work.list": ("ListedWork", "WorkList", "list_work", "show_work"),
    "mcl.acts.work.release": ("release_work",),
    "mcl.acts.work.select": ("select_work",),
    "mcl.acts.repo.draft": ("DraftedContract", "draft_contract"),
    "mcl.acts.repo.repositories": (
        "ChangedRepository",
        "add_repository",
        "remove_repository",
        "switch_repository",
    ),
    "mcl.acts.repo.route": ("route_prompt",),
    "mcl.acts.repo.run": ("ContractRun", "run_contract"),
    "mcl.acts.work.map_": ("WorkMap", "map_work"),
    "mcl.acts.work.trace": ("WorkTrace", "trace_work"),
    "mcl.acts.work.validate": ("ValidatedWork", "validate_work"),
    "mcl.repo.contract": ("RepoIntent", "read_contract"),
    "mcl.repo.repositories": ("Repositories",),
    "mcl.repo.routing": ("Routed",),
    "mcl.agents.work.completing": ("CompleteResult",),
    "mcl.agents.work.item": ("WorkItem",),
    "mcl.agents.work.leases": ("Lease",),
    "mcl.agents.work.selecting": ("SelectResult",),
    "mcl.compiler": ("Clarify", "Compiled", "Refused"),
    "mcl.home": ("open_home",),
    "mcl.mcp.activity.reading": ("ActivityPage",),
    "mcl.mcp.activity.record": ("CallRecord",),
    "mcl.mcp.activity.stats": ("ActivityStats",),
    "mcl.mtx.finding": ("Finding",),
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
