"""Contracts of reviews and the guides that go with them."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.core.errors import ReviewError
from mcl.plugins.review.contract import (
    FOLDER,
    MAX_BYTES,
    MODES,
    MOST_FINDINGS,
    contract,
    contracts,
    guides,
    guides_for,
    read_contract,
    read_guide,
)
from mcl.plugins.review.finding import SEVERITIES

# The table of the modes: what a review of each may say.
LABELS = {
    "comment": {"NOTE", "SUGGESTION", "WARNING", "MISSING"},
    "architecture": {"NOTE", "SUGGESTION", "WARNING", "ARCHITECTURE", "RISK"},
    "security": {"NOTE", "WARNING", "RISK"},
    "risk": {"NOTE", "WARNING", "RISK", "CRITICAL"},
}
GOOD = b"""---
schema: review-contract.v1
mode: risk
max_findings: 3
labels: {NOTE: "a note", RISK: "a risk"}
scope: "all of it"
uncertainty: "say so"
---
Look well.
"""


@pytest.mark.parametrize("mode", LABELS)
def test_a_mode_has_the_labels_of_its_contract_the_worst_first(mode):
    labels = contract(mode).labels
    assert set(labels) == LABELS[mode]
    assert list(labels) == [label for label in SEVERITIES if label in labels]


def test_there_are_four_contracts():
    assert list(contracts()) == list(MODES) == list(LABELS)
    assert all(one.mode == mode for mode, one in contracts().items())


@pytest.mark.parametrize("mode", LABELS)
def test_the_system_prompt_says_all_that_a_contract_is_made_of(mode):
    bound = contract(mode)
    said = [bound.scope, bound.uncertainty, f"At most {bound.max_findings} findings"]
    said += [f"[{label}] {bound.meanings[label]}" for label in bound.labels]
    assert all(one in bound.text for one in said)
    assert 1 <= bound.max_findings <= MOST_FINDINGS
    assert not any(f"[{label}]" in bound.text for label in set(SEVERITIES) - set(bound.labels))


def test_each_mode_has_another_digest():
    assert len({one.digest for one in contracts().values()}) == len(MODES)


def test_a_digest_covers_what_stands_beside_the_contract(monkeypatch, tmp_path):
    module = sys.modules["mcl.plugins.review.contract"]  # in the package a function has its name
    before = contract("risk").digest
    for changed in ("guides/python.md", "passes/review.md", "contracts/risk.md"):
        folder = tmp_path / changed.replace("/", "-")
        shutil.copytree(FOLDER, folder)
        file = folder / changed
        file.write_bytes(file.read_bytes() + b"\nAnd be quick.\n")
        monkeypatch.setattr(module, "FOLDER", folder)
        assert module._shipped.__wrapped__("risk").digest != before
    monkeypatch.setattr(module, "FOLDER", FOLDER)
    assert module._shipped.__wrapped__("risk").digest == before


def test_a_mode_that_is_none_is_told_with_those_there_are():
    with pytest.raises(ReviewError) as caught:
        contract("style")
    assert caught.value.code == "UNKNOWN_MODE"
    assert "comment, architecture, security, risk" in caught.value.fix


def test_a_contract_is_read_back_as_it_is_written():
    read = read_contract(GOOD, place="risk.md", mode="risk")
    assert (read.labels, read.max_findings) == (("RISK", "NOTE"), 3)
    assert (read.scope, read.uncertainty) == ("all of it", "say so")
    assert read.text.startswith("Look well.\nScope: all of it\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        (b"mode: risk", b"mode: security", 3, "mode must be one of risk"),
        (b"max_findings: 3", b"max_findings: 0", 4, "a whole number from 1"),
        (b"max_findings: 3", b"max_findings: true", 4, "a whole number from 1"),
        (b"max_findings: 3", b"max_findings: 1000", 4, "a whole number from 1"),
        (b"NOTE:", b"BAD:", 5, "not 'BAD'"),
        (b'"a note"', b'""', 5, "NOTE must be a text"),
        (b'{NOTE: "a note", RISK: "a risk"}', b"[NOTE]", 5, "labels must be a map"),
        (b'{NOTE: "a note", RISK: "a risk"}', b"{}", 5, "labels must be a map"),
        (b'"all of it"', b"[a]", 6, "scope must be a text"),
        (b'uncertainty: "say so"\n', b"", 2, "uncertainty is missing"),
        (b'"say so"', b'"say so"\nmore: 1', 8, "'more' is not read here"),
        (b'"say so"', b'"say so"\nmode: risk', 8, "a second 'mode'"),
        (b'"all of it"', b"&a x\nmore: *a", 7, "aliases are not used"),
        (b"review-contract.v1", b"review-contract.v2", 2, "schema must be one of"),
        (b"---\nschema", b"schema", 1, "between two lines ---"),
        (b"---\nLook well.\n", b"", 1, "between two lines ---"),
        (b"Look well.\n", b"\n", 9, "no text stands behind"),
        (b"a note", b"a \xff note", 5, "not UTF-8"),
        (b"Look well.", b"x" * MAX_BYTES, 1, "more than"),
    ],
)
def test_a_contract_that_is_written_wrongly_is_refused_at_its_line(old, new, line, said):
    data = GOOD.replace(old, new, 1)
    assert data != GOOD
    with pytest.raises(ReviewError) as caught:
        read_contract(data, place="risk.md", mode="risk")
    assert caught.value.code == "CONTRACT_INVALID"
    assert caught.value.place == f"risk.md:{line}"
    assert said in caught.value.message


@given(
    st.lists(
        st.sampled_from([*GOOD.decode().splitlines(keepends=True), "---\n", "a: &b c\n", "*b\n", "{", "\t"]),
        max_size=12,
    )
    .map("".join)
    .map(str.encode)
    | st.binary(max_size=60)
)
def test_any_other_file_is_refused_and_nothing_else_happens(data):
    with pytest.raises(ReviewError) as caught:
        read_contract(data, place="risk.md", mode="risk")
    assert caught.value.code == "CONTRACT_INVALID"
    assert caught.value.place.startswith("risk.md:")


@pytest.mark.parametrize(
    ("path", "mode", "names"),
    [
        ("mcl/app.py", "comment", ["python"]),
        ("mcl/app.py", "security", ["python", "security"]),
        ("mcl/app.py", "risk", ["python", "security"]),
        ("mcl/app.py", "architecture", ["python"]),
        ("web/src/App.tsx", "comment", ["javascript"]),
        ("cmd/main.go", "comment", ["go"]),
        ("cmd/main_test.go", "comment", ["go", "tests"]),
        ("src/lib.rs", "comment", ["rust"]),
        ("app/Main.java", "comment", ["java"]),
        ("src/a.c", "comment", ["c"]),
        ("include/a.hpp", "comment", ["c"]),
        ("bin/run.sh", "comment", ["shell"]),
        ("Dockerfile", "comment", ["docker"]),
        ("deploy/docker-compose.prod.yml", "comment", ["config", "docker"]),
        (".github/workflows/ci.yml", "comment", ["config", "workflows"]),
        ("db/migrations/0001.sql", "comment", ["sql"]),
        ("templates/a.html", "comment", ["html"]),
        ("settings.toml", "comment", ["config"]),
        (".env", "security", ["config", "security"]),
        ("tests/test_app.py", "comment", ["python", "tests"]),
        ("README.md", "comment", ["docs"]),
        ("LICENSE", "comment", []),
        ("LICENSE", "security", ["security"]),
        ("strange\nname", "risk", ["security"]),
        ("", "security", ["security"]),
    ],
)
def test_guides_are_chosen_by_extension_path_and_mode(path, mode, names):
    assert [guide.name for guide in guides_for(path, mode)] == names


def test_every_guide_fits_some_path_and_is_short():
    for guide in guides():
        assert 0 < len(guide.text) < 2_000
        assert guide.modes <= set(MODES)


def test_a_guide_that_is_written_wrongly_is_refused():
    good = (FOLDER / "guides" / "go.md").read_bytes()
    for old, new in [
        (b"guide: go", b"guide: java"),
        (b'"**/*.go"', b'"/**/*.go"'),
        (b'["**/*.go"]', b"[]"),
        (b"[comment, ", b"[style, "),
    ]:
        with pytest.raises(ReviewError) as caught:
            read_guide(good.replace(old, new, 1), place="review/guides/go.md")
        assert caught.value.code == "CONTRACT_INVALID"


def test_importing_the_contracts_loads_no_model_and_no_yaml():
    script = (
        "import sys, mcl.plugins.review.contract\n"
        "print(sorted({'yaml', 'llama_cpp', 'llguidance', 'numpy', 'bandit'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
