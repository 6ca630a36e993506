"""What the gate would refuse is not signed unseen."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell

# Goals whose plans are refused as things are.
REFUSED = {
    "a host that is not granted": (
        "fetch https://example.org/a",
        ("--skill", "web-fetch", "--verb", "acquire", "--slot", "url=https://example.org/a"),
        "",
        "CAPABILITY_DENIED",
    ),
    "a tool that is closed": (
        "find the word invoice in the folder notes",
        ("--skill", "files-find", "--verb", "find", "--slot", "text=invoice", "--slot", "folder=notes"),
        'deny = ["fs/search"]\n',
        "TOOL_DENIED",
    ),
}


def proposed(mcl: Shell, case: str) -> str:
    goal, more, policy, _ = REFUSED[case]
    done = mcl("compile", goal, "--no-ai", "--json", *more)
    assert done.code == 0, done.err
    if policy:
        (mcl.home / "policy.toml").write_text(policy)
    return str(json.loads(done.out)["id"])


def state(mcl: Shell, id: str) -> str:
    return str(json.loads(mcl("show", id, "--json").out)["state"])


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("case", REFUSED)
def test_a_plan_that_the_gate_would_refuse_is_not_signed_unseen(
    mcl: Shell, case: str, as_json: tuple[str, ...]
) -> None:
    id = proposed(mcl, case)
    done = mcl("accept", id, "--yes", *as_json)
    assert (done.code, state(mcl, id)) == (4, "proposed")
    told = done.out + done.err
    assert "PLAN_REFUSED" in told
    assert REFUSED[case][3] in told


@pytest.mark.parametrize("case", REFUSED)
def test_a_person_is_told_and_asked(mcl: Shell, case: str) -> None:
    id = proposed(mcl, case)
    done = mcl.fed(b"n\n", "accept", id)
    assert (done.code, state(mcl, id)) == (4, "proposed")
    assert "It would be refused, as things are." in done.err
    assert "The gate will refuse" in done.out + done.err
    assert mcl.fed(b"y\n", "accept", id).code == 0
    assert state(mcl, id) == "accepted"
