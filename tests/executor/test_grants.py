"""Grants, policy and pins: what is kept where agents cannot write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from executor import Grants, Home, Manifest, Pins, Policy, PolicyError, SystemClock
from executor.gate.grants import STEPS
from mcl.catalog.tools import registry

pytestmark = pytest.mark.outside_dev  # folders are granted


def test_only_the_agent_of_the_home_holds_anything_until_it_is_granted(home: Home) -> None:
    grants = Grants(home)
    assert grants.classes("did:key:a") == frozenset()
    assert grants.classes(home.keyring.agent.did) == {"read", "write"}
    assert home.journal.size() == 0


def test_what_was_taken_back_stays_taken_back(home: Home) -> None:
    agent = home.keyring.agent.did
    Grants(home).revoke(agent, "write")
    grants = Grants(home)
    assert grants.classes(agent) == {"read"}
    assert [one.side_effect for one in grants.list(agent) if one.revoked_at] == ["write"]


def test_only_known_side_effects_can_be_granted(home: Home) -> None:
    with pytest.raises(PolicyError) as caught:
        Grants(home).grant("did:key:a", ["read", "all"])
    assert caught.value.code == "UNKNOWN_SIDE_EFFECT"
    assert "read, write" in caught.value.fix


def test_hosts_are_granted_one_by_one_and_taken_back(home: Home) -> None:
    grants = Grants(home)
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


def test_where_a_host_is_is_said_with_its_grant_and_kept_when_its_terms_change(home: Home) -> None:
    grants, agent = Grants(home), home.keyring.agent.did
    grants.grant_hosts(agent, ["api.example"], regions=["de", "DE"])
    grants.grant_hosts(agent, ["other.example"])
    assert [(str(host), where) for host, where in grants.regions(agent).items()] == [
        ("https://api.example", ("DE",))
    ]
    grants.grant_hosts(agent, ["api.example"], until="2200-01-01T00:00:00.000Z")
    grants.grant_hosts(agent, ["other.example"], regions=["SE", "EU"])
    present = [one for one in grants.list_hosts(agent) if not one.revoked_at]
    assert [(one.host, one.until[:4], one.regions) for one in present] == [
        ("https://api.example", "2200", ("DE",)),
        ("https://other.example", "", ("EU", "SE")),
    ]
    grants.revoke_hosts(agent, ["api.example"])
    assert list(grants.regions(agent).values()) == [("EU", "SE")]
    with pytest.raises(PolicyError) as caught:
        grants.grant_hosts(agent, ["third.example"], regions=["Germany"])
    assert (caught.value.code, len(grants.list_hosts(agent))) == ("BAD_REGION", 4)


def test_a_bad_host_among_good_ones_changes_nothing(home: Home) -> None:
    grants = Grants(home)
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
    grants = Grants(home)
    grants.grant("did:key:a", ["network"])
    grants.grant_hosts("did:key:a", ["example.org"])
    grants.revoke("did:key:a", "network")
    grants.grant("did:key:a", ["network"])
    assert grants.hosts("did:key:a") == frozenset()


def test_a_home_from_before_hosts_could_be_granted_is_brought_up_to_date(home: Home) -> None:
    home.db.migrate("grants", STEPS[:2])  # as the first version of these tables left it
    agent = home.keyring.agent.did
    with home.db.write() as connection:
        for name in ("read", "write"):
            connection.execute(
                "INSERT INTO grants VALUES (?, ?, ?, '2026-01-01T00:00:00.000Z', '')", (name, agent, name)
            )
    grants = Grants(home)
    assert grants.classes(agent) == {"read", "write"}
    grants.grant_hosts(agent, ["example.org"])
    assert len(grants.hosts(agent)) == 1
    assert grants.classes(agent) == {"read", "write"}


class Hand:
    """A clock that a test sets."""

    def __init__(self, at: str) -> None:
        self.at, self.ids = at, SystemClock()

    def now(self) -> str:
        return self.at

    def new_id(self) -> str:
        return self.ids.new_id()


def test_a_grant_holds_until_its_end_and_keeps_who_gave_it(home: Home) -> None:
    clock = Hand("2026-11-21T10:00:00.000Z")
    home.clock = clock
    grants = Grants(home)
    end = "2026-11-22T10:00:00.000Z"
    grants.grant("did:key:a", ["network", "shell"], by="did:key:user", until=end)
    grants.grant_hosts("did:key:a", ["example.org"], by="did:key:user", until=end)
    assert grants.classes("did:key:a") == {"network", "shell"}
    assert len(grants.hosts("did:key:a")) == 1
    clock.at = end
    assert grants.classes("did:key:a") == frozenset()
    assert grants.hosts("did:key:a") == frozenset()
    assert {(one.by, one.until, one.revoked_at) for one in grants.list("did:key:a")} == {
        ("did:key:user", end, "")
    }
    grants.grant("did:key:a", ["shell"])
    assert grants.classes("did:key:a") == {"shell"}


def test_granting_again_without_terms_leaves_the_terms_as_they_are(home: Home) -> None:
    grants = Grants(home)
    grants.grant("did:key:a", ["network"], max_calls=3)
    grants.grant("did:key:a", ["network"])
    assert grants.held("did:key:a")["network"].max_calls == 3
    grants.grant("did:key:a", ["network"], max_calls=5)
    assert grants.held("did:key:a")["network"].max_calls == 5
    assert [bool(one.revoked_at) for one in grants.list("did:key:a")] == [True, False]
    grants.grant("did:key:a", ["network"], until="2199-01-01T00:00:00.000Z")
    assert grants.held("did:key:a")["network"].max_calls == 5


def test_calls_are_counted_over_24_hours_where_they_are_limited(home: Home) -> None:
    clock = Hand("2026-11-21T10:00:00.000Z")
    home.clock = clock
    grants = Grants(home)
    grants.grant("did:key:a", ["network"], max_calls=2)
    grants.grant("did:key:a", ["read"])
    assert grants.count("did:key:a", ["read", "network"]) is None
    assert grants.used("did:key:a", "read") == 0
    clock.at = "2026-11-21T12:00:00.000Z"
    assert grants.count("did:key:a", ["network"]) is None
    spent = grants.count("did:key:a", ["network"])
    assert spent is not None
    assert (spent.side_effect, spent.max_calls) == ("network", 2)
    assert grants.spent("did:key:a", ["network"]) == spent
    assert grants.spent("did:key:a", ["read"]) is None
    assert grants.used("did:key:b", "network") == 0
    clock.at = "2026-11-22T10:00:00.000Z"  # the first of them is a day old
    assert grants.count("did:key:a", ["network"]) is None
    assert grants.count("did:key:a", ["network"]) == spent


def test_of_many_processes_with_few_calls_left_just_those_get_one(home: Home) -> None:
    Grants(home).grant("did:key:a", ["network"], max_calls=5)
    script = """
import sys
from pathlib import Path
from executor import Grants, Home
with Home.open(Path(sys.argv[1])) as home:
    grants = Grants(home)
    print(sum(grants.count("did:key:a", ["network"]) is None for _ in range(4)))
"""
    racers = [
        subprocess.Popen([sys.executable, "-c", script, str(home.path)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    assert sum(int(racer.communicate(timeout=60)[0]) for racer in racers) == 5


def test_folders_are_granted_by_what_they_are_and_taken_back(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    (tmp_path / "shortcut").symlink_to(place)
    grants = Grants(home)
    grants.grant_roots("did:key:a", [tmp_path / "shortcut", place], by="did:key:user")
    assert grants.roots("did:key:a") == {str(place)}
    assert grants.roots("did:key:b") == frozenset()
    with pytest.raises(PolicyError) as caught:
        grants.revoke_roots("did:key:a", [tmp_path])
    assert caught.value.code == "NOT_GRANTED"
    grants.revoke_roots("did:key:a", [tmp_path / "shortcut"])
    assert grants.roots("did:key:a") == frozenset()
    assert [one.by for one in grants.list_roots("did:key:a")] == ["did:key:user"]


def test_a_folder_that_is_gone_can_still_be_taken_back(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    grants = Grants(home)
    grants.grant_roots("did:key:a", [place])
    place.rmdir()
    grants.revoke_roots("did:key:a", [place])
    assert grants.roots("did:key:a") == frozenset()


@pytest.mark.parametrize(
    "name", ["missing", "file.txt", ".ssh", "home", "home/keys", "/", "/proc", "/dev/shm"]
)
def test_a_folder_that_cannot_be_granted_changes_nothing(home: Home, tmp_path: Path, name: str) -> None:
    (tmp_path / "file.txt").touch()
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "good").mkdir()
    grants = Grants(home)
    with pytest.raises(PolicyError) as caught:
        grants.grant_roots("did:key:a", [tmp_path / "good", tmp_path / name])
    assert caught.value.code == "BAD_ROOT"
    assert grants.roots("did:key:a") == frozenset()


def test_folders_go_with_reading_and_do_not_come_back_with_it(home: Home, tmp_path: Path) -> None:
    grants = Grants(home)
    grants.grant("did:key:a", ["read"])
    (tmp_path / "place").mkdir()
    grants.grant_roots("did:key:a", [tmp_path / "place"])
    grants.revoke("did:key:a", "read")
    grants.grant("did:key:a", ["read"])
    assert grants.roots("did:key:a") == frozenset()


@pytest.mark.parametrize(
    "text",
    ["deny = 1", "deny = ['']", "dney = []", "deny = [", "approval_minutes = 0", "approval_minutes = true"],
)
def test_a_policy_that_cannot_be_read_stops_everything(tmp_path: Path, text: str) -> None:
    place = tmp_path / "policy.toml"
    place.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.load(place, registry())
    assert caught.value.code == "BAD_POLICY"
    assert caught.value.place.partition(":")[0] == str(place)


def test_the_version_of_a_policy_is_its_bytes(tmp_path: Path) -> None:
    place = tmp_path / "policy.toml"
    tools = registry()
    assert Policy.load(place, tools).closed == {}
    place.write_text("deny = ['matrix://tool/fs/write']\napproval_minutes = 5")
    policy = Policy.load(place, tools)
    closed = [one.uri for one in tools.own if policy.denies(one)]
    assert closed == ["matrix://tool/fs/write@1.0.0"]
    assert policy.version != Policy().version
    assert policy.approval_minutes == 5


def test_a_pin_is_kept_from_first_use(home: Home) -> None:
    pins = Pins(home)
    manifests = registry().manifests
    assert pins.of(manifests[0].uri) == ""
    pins.admit(manifests)
    assert pins.of(manifests[0].uri) == manifests[0].pin
    other = Manifest.model_validate({**manifests[0].model_dump(), "description": "another"})
    pins.admit((other,))
    assert pins.of(other.uri) == manifests[0].pin != other.pin


def test_a_tool_without_addresses_has_the_pin_that_was_approved_before_tools_had_any() -> None:
    pins = {manifest.uri: manifest.pin for manifest in registry().manifests}
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
    manifest = next(one for one in registry().manifests if one.uri.endswith("time/now@1.0.0"))
    with pytest.raises(ValueError, match=why):
        Manifest.model_validate({**manifest.model_dump(mode="json"), **changes})
