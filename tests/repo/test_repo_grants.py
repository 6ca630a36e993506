"""What a contract needs and the agent was not granted is what it is refused for, however it is written."""

from __future__ import annotations

import pytest
from shops import Shop, contract

from executor.gate.grants import Grants
from mcl.plugins.repo.contract import intent_types

NULLS = {"risk_level": None, "rollback_plan": None, "requires_confirmation": None}
FULL = {"risk_level": "high", "rollback_plan": "none", "requires_confirmation": True}
ARGS = {"grep_repo": ("sell",), "create_branch": ("fix/x",), "open_editor": ("app.py",)}
COMMAND = {"run_mqlaunch": "doctor"}
NAMED = {"switch_repo": "shop"}
WANTS = [name for name in intent_types() if name != "refuse"]


@pytest.mark.parametrize("extra", [{}, NULLS, FULL], ids=["plain", "nulls", "full"])
@pytest.mark.parametrize("intent", WANTS)
def test_a_contract_without_its_grant_is_refused_for_the_grant(shop: Shop, intent: str, extra: dict) -> None:
    with shop.home() as home:
        for side_effect in ("read", "write"):
            Grants(home).revoke(home.keyring.agent.did, side_effect)
    wanted = contract(
        intent, *ARGS.get(intent, ()), command=COMMAND.get(intent), repo=NAMED.get(intent), **extra
    )
    told = shop.fed(wanted, "exec", "-", "--json")
    error = told.document["error"]
    assert (told.code, error["code"]) == (2, "CAPABILITY_DENIED"), error
    assert "mcl grant add " in error["fix"]
    dry = shop.fed(wanted, "exec", "-", "--json", "--dry-run")
    assert (dry.code, dry.document["decision"]) == (2, "deny")
    assert any(one["code"] == "CAPABILITY_DENIED" for one in dry.document["verdicts"] if one.get("code"))
