"""The public face: what `mcl.__all__` lists, loaded at first use and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mcl

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {
    *(
        "config_zone",
        "accept",
        "answer",
        "cancel",
        "compile_goal",
        "config_zone",
        "list_intents",
        "open_home",
        "plan",
        "replay",
        "run",
    ),
    *("show", "verify", "__version__"),
    *("Acceptance", "Clarify", "Compiled", "FileReport", "Planned", "Refused", "Replay", "Shown", "Summary"),
    *("format_skill", "hash_skill", "new_skill", "publish_skill", "try_examples", "validate_skill"),
    *("CheckedFile", "Finding", "FormattedFile", "NewSkill", "Published", "TriedExample", "TriedSkill"),
    *("cortex_find", "cortex_forget", "cortex_history", "cortex_import", "cortex_learning", "cortex_list"),
    *("cortex_prove", "cortex_put", "cortex_show", "cortex_snapshot", "cortex_verify", "cortex_verify_proof"),
    *("CortexReport", "Imported", "Memory", "Proof", "ProofReport", "Snapshot"),
    *("ActivityExport", "ActivityPage", "ActivityStats", "CallRecord", "ShownCall", "activity_stats"),
    *("export_activity", "list_activity", "show_activity", "watch_activity"),
    *("BatchSummary", "compile_batch"),
    *("AgentGrants", "Decided", "OpenGate", "PlanChecked", "ShownGate", "check_plan_file", "check_plan_of"),
    *("decide_gate", "grant", "list_grants", "open_gates", "revoke", "show_gate"),
    *("Called", "KnownTool", "VerifiedTools", "approve_tool", "call_tool", "find_tool", "list_tools"),
    *("quarantine_tool", "verify_tools"),
    *("UndoReport", "graph", "prune_undo", "undo"),
    *("Corrected", "MaterialityReport", "Proposal", "correct", "materiality"),
    *("propose_correction", "sign_correction"),
    *("Envelope", "Frame", "Home", "Intent", "MclError", "Outcome", "PlanTree"),
}


def test_the_public_names_are_these_and_each_is_there():
    assert set(mcl.__all__) == PUBLIC == set(dir(mcl))
    assert list(mcl.__all__) == sorted(mcl.__all__)
    for name in mcl.__all__:
        assert getattr(mcl, name) is not None
    assert not hasattr(mcl, "nonsense")


def test_the_names_that_type_checkers_see_are_the_public_ones():
    import ast

    tree = ast.parse((ROOT / "mcl" / "__init__.py").read_text())
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    shown = [statement for statement in block.body if statement.module != "typing"]
    seen = {alias.name: statement.module for statement in shown for alias in statement.names}
    assert seen == mcl._MODULE_OF
    assert set(seen) | {"__version__"} == PUBLIC
    assert (ROOT / "mcl" / "py.typed").exists()


def test_importing_mcl_loads_none_of_its_parts():
    heavy = ("ir", "executor", "pydantic", "nacl", "llama_cpp", "rich", "typer", "sqlite3")
    script = f"import sys, mcl; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
