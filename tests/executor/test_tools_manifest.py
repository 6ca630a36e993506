"""What a tool's manifest may say, and the pins that homes have approved."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import executor.tools
from executor import Manifest, ManifestError, load_manifest
from executor.tools.manifest import Cost
from mcl.catalog.tools import registry

TOOLS = Path(executor.tools.__file__).parent
# The manifests of version 0.1.0 as homes approved them. One that has to change gets a new version beside it.
# Those of tools that start git or tests name these programs since: a home made before says so once.
APPROVED = {
    "calendar/add": "fa9c3ed20dbbb2375bcc630d31b87a782075b90086f59b4796c6bd8e9e1a3c76",
    "calendar/list": "a4469f36538ab12bca842bfdda988cfd3f808cc297c21c813e980f3f177f5ce1",
    "code/search": "7088f9bdf9cae9ced0744470ba434f0b82e4c75cf91d338e966df112ed4f21ae",
    "data/chart": "a3bb768c2ec4a87da1666904e9101582a28ded944573724d42512554dbd353c1",
    "data/summary": "6dc6365f0a78b261a6fc559427c702ec5edcff37414ea8144796bdfd78af9ca5",
    "fs/append": "7380e01b07a15f42f29984f266154814599c37c1f875e424017d2ab51a36c9de",
    "fs/changes": "e3e77428c50a467c531e1bea1439463a8eca5717db0fa27ea001176e5805eb0d",
    "fs/list": "4b0f15727b939356290b8399bcafe116e7a94438231b8c19cff20b75889483a2",
    "fs/read": "03a50f84e3707a9e0e735e0573920aaea659eda4cf85f0af7302e998e8f9cebf",
    "fs/search": "1e8201f00268feab1317c5d365d4080f8aec9db9ed2657410df252bf55462aba",
    "fs/watch": "6f34efe205aefdce20c3ba1b7516431b588dcd1e38a9d5745b9898e202397487",
    "fs/write": "956397437171b2e083a5047ef1abfe39f64ce9a18ef04f2746b382026236594b",
    "git/branch": "b7e923bfeb927da60b4561ce140394d354b6ff3633f7aeca5fc63554d66d161e",
    "git/diff": "500bd4dca5600a34206ee42b62be5fb41fa2c0eea01c44bca5826c2d82b4fe6d",
    "git/log": "290334e8e20dcc1a1e49cbef0d577cb51ef2f7f7d59df2b3f27b7d231b4c69f2",
    "git/status": "8cd7263dbf38b2f0c39ddb122a36484dced79ae73758d98dab6659c8042e95a0",
    "http/get": "a6ca70e8d049f95ca6a9c55dcaaac9c899e135927d032465d621a9aba9dca608",
    "process/tests": "49174a5dbf5961fbd9b4e71df15124a86265fa86389c6c2cd196bc2c354798be",
    "task/assign": "0116844022407ca91951175e94cacc6593f8caf9bd55ebbf4d53f8dc2a5e62ba",
    "time/now": "d68934d24870333d540b3076846146711115bebca957453732160d38dba1f3a7",
}


def changed(name: str, **changes: Any) -> Manifest:
    return Manifest.model_validate({**load_manifest(TOOLS / f"{name}.toml").model_dump(), **changes})


def test_the_manifests_that_homes_have_approved_keep_their_pins() -> None:
    pins = {one.uri: one.pin for one in registry().manifests}
    assert {name: pins[f"matrix://tool/{name}@1.0.0"] for name in APPROVED} == APPROVED


@pytest.mark.parametrize(
    "defaults",
    [
        {"retries": {"max": 0, "backoff_ms": 200}},
        {"cost": None},
        {"credentials": []},
        {"programs": []},
        {"examples": [{"args": {"path": "a.txt"}, "note": "another"}]},
    ],
)
def test_a_field_at_its_default_says_nothing_and_leaves_the_pin_as_it_is(defaults: dict[str, object]) -> None:
    assert changed("fs/read", **defaults).pin == APPROVED["fs/read"]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("fs/read", {"retries": {"max": 2, "backoff_ms": 100}}),
        ("fs/read", {"cost": {"asset": "EUR", "amount": "0.02"}}),
        ("fs/read", {"credentials": ["path"]}),
        ("process/tests", {"environment": ["RUST_LOG"]}),
        ("fs/read", {"programs": ["git"]}),
    ],
)
def test_what_a_manifest_says_of_retries_cost_credentials_variables_and_programs_is_in_its_pin(
    name: str, more: dict[str, object]
) -> None:
    manifest = changed(name, **more)
    assert manifest.pin != APPROVED[name]
    again = Manifest.model_validate(manifest.model_dump())
    assert (again, again.pin) == (manifest, manifest.pin)


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("fs/read", {"retries": {"max": 11}}, "less than or equal to 10"),
        ("fs/read", {"retries": {"max": -1}}, "greater than or equal to 0"),
        ("fs/append", {"retries": {"max": 1}}, "idempotent"),
        ("fs/read", {"cost": {"asset": "EUR", "amount": "a lot"}}, "pattern"),
        ("fs/read", {"cost": {"asset": "EUR", "amount": 0.5}}, "valid"),
        ("fs/read", {"cost": {"asset": "EUR", "amount": -1}}, "greater than or equal to 0"),
        ("fs/read", {"cost": {"asset": "", "amount": 1}}, "at least 1 character"),
        ("fs/read", {"credentials": ["token"]}, "not declared: token"),
        ("fs/read", {"credentials": ["max_bytes"]}, "a credential is a string"),
        ("fs/read", {"environment": ["HOME"]}, "effect shell"),
        ("process/tests", {"environment": ["A=B"]}, "pattern"),
        ("fs/read", {"programs": ["/bin/sh"]}, "pattern"),
        ("fs/read", {"programs": ["rm -rf"]}, "pattern"),
        ("fs/read", {"examples": [{"args": {"path": "a"}}]}, "Field required"),
        ("fs/read", {"examples": [{"args": {}, "note": ""}]}, "at least 1 character"),
    ],
)
def test_a_manifest_that_asks_for_what_does_not_fit_is_refused(
    name: str, more: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match="validation error") as caught:
        changed(name, **more)
    assert said in str(caught.value)


def test_a_cost_is_exact() -> None:
    assert Cost(asset="EUR", amount="0.10").value + Cost(asset="EUR", amount="0.20").value == Decimal("0.30")
    assert Cost(asset="credits", amount=3).value == 3


def test_the_first_problem_of_a_manifest_file_is_told_with_its_place(tmp_path: Path) -> None:
    place = tmp_path / "tool.toml"
    place.write_text(
        (TOOLS / "fs/read.toml").read_text().replace("[args]", "[retries]\nmax = 11\n\n[args]", 1)
    )
    with pytest.raises(ManifestError) as caught:
        load_manifest(place)
    assert caught.value.code == "BAD_MANIFEST"
    assert caught.value.place == str(place)
    assert "retries.max" in caught.value.message
