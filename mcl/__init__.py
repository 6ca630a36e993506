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
    from mcl.catalog.activity.reading import ActivityPage
    from mcl.catalog.activity.record import CallRecord
    from mcl.catalog.activity.stats import ActivityStats
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.core.home import open_home
    from mcl.core.repositories import Repositories
    from mcl.language.mtx.finding import Finding
    from mcl.memory.memory import Memory
    from mcl.memory.proof import Proof
    from mcl.memory.store import Snapshot
    from mcl.memory.verification import CortexReport
    from mcl.plugins.agents.usecases.complete import complete_work
    from mcl.plugins.agents.usecases.export import ExportedWork, export_work
    from mcl.plugins.agents.usecases.import_ import ImportedWork, import_work
    from mcl.plugins.agents.usecases.list import ListedWork, WorkList, list_work, show_work
    from mcl.plugins.agents.usecases.map_ import WorkMap, map_work
    from mcl.plugins.agents.usecases.release import release_work
    from mcl.plugins.agents.usecases.select import select_work
    from mcl.plugins.agents.usecases.trace import WorkTrace, trace_work
    from mcl.plugins.agents.usecases.validate import ValidatedWork, validate_work
    from mcl.plugins.agents.work.completing import CompleteResult
    from mcl.plugins.agents.work.item import WorkItem
    from mcl.plugins.agents.work.leases import Lease
    from mcl.plugins.agents.work.selecting import SelectResult
    from mcl.plugins.probing.usecases import VerifiedContracts, verify_contracts, write_contracts
    from mcl.plugins.repo.contract import RepoIntent, read_contract
    from mcl.plugins.repo.routing import Routed
    from mcl.plugins.repo.usecases.draft import DraftedContract, draft_contract
    from mcl.plugins.repo.usecases.repositories import (
        ChangedRepository,
        add_repository,
        remove_repository,
        switch_repository,
    )
    from mcl.plugins.repo.usecases.route import route_prompt
    from mcl.plugins.repo.usecases.run import ContractRun, run_contract
    from mcl.plugins.review.drift.drift import DriftReport
    from mcl.plugins.review.memory.decision import Decision
    from mcl.plugins.review.memory.decisions import Difference
    from mcl.plugins.review.memory.dismissals import Dismissal
    from mcl.plugins.review.memory.documents.bootstrap import Bootstrapped
    from mcl.plugins.review.memory.history import Review
    from mcl.plugins.review.memory.meanings import Meaning
    from mcl.plugins.review.release.report import ReleaseReport
    from mcl.plugins.review.usecases.dismiss import review_dismiss, review_dismissals, review_undismiss
    from mcl.plugins.review.usecases.draft import DraftedReview, draft_review
    from mcl.plugins.review.usecases.drift import review_drift
    from mcl.plugins.review.usecases.memory import (
        review_bootstrap,
        review_decide,
        review_decisions,
        review_decisions_differ,
        review_history,
        review_recall,
        review_remember,
    )
    from mcl.plugins.review.usecases.release import check_release
    from mcl.plugins.review.usecases.run import ReviewRun, review_code
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
    from mcl.usecases.cortex import (
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
    from mcl.usecases.gates import Decided, OpenGate, ShownGate, decide_gate, open_gates, show_gate
    from mcl.usecases.grants import AgentGrants, grant, list_grants, revoke
    from mcl.usecases.graph import graph
    from mcl.usecases.materiality import MaterialityReport, materiality
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
    "mcl.usecases.accept": ("Acceptance", "accept"),
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
    "mcl.usecases.batch": ("BatchSummary", "compile_batch"),
    "mcl.usecases.call": ("Called", "call_tool"),
    "mcl.usecases.cancel": ("cancel",),
    "mcl.usecases.compile": ("compile_goal",),
    "mcl.usecases.zone": ("config_zone",),
    "mcl.plugins.probing.usecases": ("VerifiedContracts", "verify_contracts", "write_contracts"),
    "mcl.usecases.correct": ("Corrected", "Proposal", "correct", "propose_correction", "sign_correction"),
    "mcl.usecases.materiality": ("MaterialityReport", "materiality"),
    "mcl.usecases.cortex": (
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
    "mcl.plugins.review.usecases.release": ("check_release",),
    "mcl.plugins.review.usecases.dismiss": ("review_dismiss", "review_dismissals", "review_undismiss"),
    "mcl.plugins.review.usecases.drift": ("review_drift",),
    "mcl.plugins.review.release.report": ("ReleaseReport",),
    "mcl.plugins.review.drift.drift": ("DriftReport",),
    "mcl.plugins.review.usecases.memory": (
        "review_bootstrap",
        "review_decide",
        "review_decisions",
        "review_decisions_differ",
        "review_history",
        "review_recall",
        "review_remember",
    ),
    "mcl.plugins.review.memory.decision": ("Decision",),
    "mcl.plugins.review.memory.decisions": ("Difference",),
    "mcl.plugins.review.memory.dismissals": ("Dismissal",),
    "mcl.plugins.review.memory.documents.bootstrap": ("Bootstrapped",),
    "mcl.plugins.review.memory.history": ("Review",),
    "mcl.plugins.review.memory.meanings": ("Meaning",),
    "mcl.usecases.graph": ("graph",),
    "mcl.usecases.gates": ("Decided", "OpenGate", "ShownGate", "decide_gate", "open_gates", "show_gate"),
    "mcl.usecases.grants": ("AgentGrants", "grant", "list_grants", "revoke"),
    "mcl.usecases.plan": ("Planned", "plan"),
    "mcl.usecases.plan_check": ("PlanChecked", "check_plan_file", "check_plan_of"),
    "mcl.usecases.replay": ("Replay", "replay"),
    "mcl.plugins.review.usecases.draft": ("DraftedReview", "draft_review"),
    "mcl.plugins.review.usecases.run": ("ReviewRun", "review_code"),
    "mcl.usecases.run": ("run",),
    "mcl.usecases.show": ("Shown", "Summary", "list_intents", "show"),
    "mcl.usecases.tools": (
        "KnownTool",
        "VerifiedTools",
        "approve_tool",
        "find_tool",
        "list_tools",
        "quarantine_tool",
        "verify_tools",
    ),
    "mcl.usecases.undo": ("prune_undo", "undo"),
    "mcl.usecases.verify": ("FileReport", "verify"),
    "mcl.usecases.skill.examples": ("TriedExample", "TriedSkill", "try_examples"),
    "mcl.usecases.skill.format": ("FormattedFile", "format_skill"),
    "mcl.usecases.skill.hash": ("hash_skill",),
    "mcl.usecases.skill.new": ("NewSkill", "new_skill"),
    "mcl.usecases.skill.publish": ("Published", "publish_skill"),
    "mcl.usecases.skill.validate": ("CheckedFile", "validate_skill"),
    "mcl.plugins.agents.usecases.complete": ("complete_work",),
    "mcl.plugins.agents.usecases.export": ("ExportedWork", "export_work"),
    "mcl.plugins.agents.usecases.import_": ("ImportedWork", "import_work"),
    "mcl.plugins.agents.usecases.list": ("ListedWork", "WorkList", "list_work", "show_work"),
    "mcl.plugins.agents.usecases.release": ("release_work",),
    "mcl.plugins.agents.usecases.select": ("select_work",),
    "mcl.plugins.repo.usecases.draft": ("DraftedContract", "draft_contract"),
    "mcl.plugins.repo.usecases.repositories": (
        "ChangedRepository",
        "add_repository",
        "remove_repository",
        "switch_repository",
    ),
    "mcl.plugins.repo.usecases.route": ("route_prompt",),
    "mcl.plugins.repo.usecases.run": ("ContractRun", "run_contract"),
    "mcl.plugins.agents.usecases.map_": ("WorkMap", "map_work"),
    "mcl.plugins.agents.usecases.trace": ("WorkTrace", "trace_work"),
    "mcl.plugins.agents.usecases.validate": ("ValidatedWork", "validate_work"),
    "mcl.plugins.repo.contract": ("RepoIntent", "read_contract"),
    "mcl.core.repositories": ("Repositories",),
    "mcl.plugins.repo.routing": ("Routed",),
    "mcl.plugins.agents.work.completing": ("CompleteResult",),
    "mcl.plugins.agents.work.item": ("WorkItem",),
    "mcl.plugins.agents.work.leases": ("Lease",),
    "mcl.plugins.agents.work.selecting": ("SelectResult",),
    "mcl.compiler.compiler": ("Clarify", "Compiled", "Refused"),
    "mcl.core.home": ("open_home",),
    "mcl.catalog.activity.reading": ("ActivityPage",),
    "mcl.catalog.activity.record": ("CallRecord",),
    "mcl.catalog.activity.stats": ("ActivityStats",),
    "mcl.language.mtx.finding": ("Finding",),
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
