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


def test_hosts_are_granted_one_by_one_and_taken_back(home: Home) -> None:
    grants = Grants(home.db, home.clock)
    grants.grant_hosts("did:key:a", ["example.org", "Example.org:443", "http://127.0.0.1:8080"])
    grants.grant_hosts("did:key:a", ["example.org"])
    assert sorted(map(str, grants.hosts("did:key:a"))) == ["http://127.0.0.1:8080", "https://example.org"]
    assert grants.hosts("did:key:b") == frozenset()
    grants.revoke_hosts("did:key:a", ["https://example.org/"])
    assert [str(origin) for origin in grants.hosts("did:key:a")] == ["http://127.0.0.1:8080"]
    assert [(one.host, bool(one.revoked_at)) for one in grants.list_hosts("did:key:a")] == [
        ("http://127.0.0.1:8080", False),
        ("https://example.org", True),
    ]


def test_a_bad_host_among_good_ones_changes_nothing(home: Home) -> None:
    grants = Grants(home.db, home.clock)
    with pytest.raises(PolicyError) as caught:
        grants.grant_hosts("did:key:a", ["example.org", "*.example.org"])
    assert caught.value.code == "BAD_HOST"
    assert grants.hosts("did:key:a") == frozenset()
    grants.grant_hosts("did:key:a", ["example.org"])
    with pytest.raises(PolicyError) as caught:
        grants.revoke_hosts("did:key:a", ["example.org", "http://example.org"])
    assert caught.value.code == "NOT_GRANTED"
    assert len(grants.hosts("did:key:a")) == 1


def test_hosts_go_with_the_network_and_do_not_come_back_with_it(home: Home) -> None:
    grants = Grants(home.db, home.clock)
    grants.grant("did:key:a", ["network"])
    grants.grant_hosts("did:key:a", ["example.org"])
    grants.revoke("did:key:a", "network")
    grants.grant("did:key:a", ["network"])
    assert grants.hosts("did:key:a") == frozenset()


def test_a_home_from_before_hosts_could_be_granted_is_brought_up_to_date(home: Home) -> None:
    Grants(home.db, home.clock).grant("did:key:a", ["read"])
    with home.db.write() as connection:  # as the first version of these tables left it
        connection.execute("DROP TABLE grants_hosts")
        connection.execute("UPDATE components SET version = 2 WHERE name = 'grants'")
    grants = Grants(home.db, home.clock)
    grants.grant_hosts("did:key:a", ["example.org"])
    assert len(grants.hosts("did:key:a")) == 1
    assert grants.classes("did:key:a") == {"read"}


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


def test_a_tool_without_addresses_has_the_pin_that_was_approved_before_tools_had_any() -> None:
    pins = {manifest.uri: manifest.pin for manifest in Registry.builtin().manifests}
    known = "d68934d24870333d540b3076846146711115bebca957453732160d38dba1f3a7"
    assert pins["matrix://tool/time/now@1.0.0"] == known


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"scope": {"kind": "network"}, "effects": ["network"], "safety": "B"}, "names its arguments"),
        ({"scope": {"kind": "none", "urls": ["url"]}}, "names its arguments"),
        ({"scope": {"kind": "network", "urls": ["url"]}, "safety": "B"}, "has the effect network"),
        (
            {"scope": {"kind": "network", "urls": ["other"]}, "effects": ["network"], "safety": "B"},
            "not declared: other",
        ),
    ],
)
def test_a_network_tool_says_which_arguments_are_addresses(changes: dict[str, object], why: str) -> None:
    manifest = next(one for one in Registry.builtin().manifests if one.uri.endswith("time/now@1.0.0"))
    with pytest.raises(ValueError, match=why):
        Manifest.model_validate({**manifest.model_dump(mode="json"), **changes})
