"""Grants, policy and pins: what is kept where agents cannot write."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor import Grants, Home, Manifest, Pins, Policy, PolicyError, Registry


def test_an_agent_holds_nothing_until_it_is_granted(home: Home) -> None:
    grants = Grants(home.db, home.clock)
    assert grants.classes("did:key:a") == frozenset()
    grants.ensure_default("did:key:a")
    assert grants.classes("did:key:a") == {"read", "write"}
    assert grants.classes("did:key:b") == frozenset()


def test_what_was_revoked_does_not_come_back_by_default(home: Home) -> None:
    grants = Grants(home.db, home.clock)
    grants.ensure_default("did:key:a")
    grants.revoke("did:key:a", "write")
    grants.ensure_default("did:key:a")
    assert grants.classes("did:key:a") == {"read"}
    assert [(one.side_effect, bool(one.revoked_at)) for one in grants.list("did:key:a")] == [
        ("read", False),
        ("write", True),
    ]


def test_only_known_side_effects_can_be_granted(home: Home) -> None:
    with pytest.raises(PolicyError) as caught:
        Grants(home.db, home.clock).grant("did:key:a", ["read", "all"])
    assert caught.value.code == "UNKNOWN_SIDE_EFFECT"
    assert "read, write" in caught.value.fix


@pytest.mark.parametrize(
    "text",
    ["deny = 1", "deny = ['']", "dney = []", "deny = [", "approval_minutes = 0", "approval_minutes = true"],
)
def test_a_policy_that_cannot_be_read_stops_everything(tmp_path: Path, text: str) -> None:
    place = tmp_path / "policy.toml"
    place.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.load(place)
    assert caught.value.code == "BAD_POLICY"
    assert caught.value.place == str(place)


def test_the_version_of_a_policy_is_its_bytes(tmp_path: Path) -> None:
    place = tmp_path / "policy.toml"
    assert Policy.load(place).deny == frozenset()
    place.write_text("deny = ['matrix://tool/fs/write']\napproval_minutes = 5")
    policy = Policy.load(place)
    assert policy.denies("matrix://tool/fs/write@1.0.0")
    assert not policy.denies("matrix://tool/fs/write2@1.0.0")
    assert policy.version != Policy().version
    assert policy.approval_minutes == 5


def test_a_pin_is_kept_from_first_use(home: Home) -> None:
    pins = Pins(home.db, home.clock)
    manifests = Registry.builtin().manifests
    assert pins.of(manifests[0].uri) == ""
    pins.admit(manifests)
    assert pins.of(manifests[0].uri) == manifests[0].pin
    other = Manifest.model_validate({**manifests[0].model_dump(), "description": "another"})
    pins.admit((other,))
    assert pins.of(other.uri) == manifests[0].pin != other.pin
