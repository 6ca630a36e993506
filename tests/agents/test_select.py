"""Checking out work: what an agent is told, and every case in which it cannot."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcl.cli.main import main
from mcl.plugins.agents.work.selection import context_of, escaped
from tests.agents.conftest import Project, Written

FILE = ".orchestration/active_intents.yaml"


def test_an_agent_gets_the_context_as_xml_and_the_same_for_programs(project: Project) -> None:
    project.sign(
        Written(
            name="Tokens & <sessions>",
            scope=("src/auth/**", "tests/auth/**"),
            constraints=("Use bcrypt", "Tokens live for 24 hours"),
            criteria=("All endpoints answer properly", "{type: delivered, artifact: docs/auth.md}"),
        )
    )
    done = project.select("INT-001")
    assert done.success
    assert done.context == (
        '<intent_context intent_id="INT-001">\n'
        "  <name>Tokens &amp; &lt;sessions&gt;</name>\n"
        "  <status>IN_PROGRESS</status>\n"
        "  <owned_scope>\n"
        "    <pattern>src/auth/**</pattern>\n"
        "    <pattern>tests/auth/**</pattern>\n"
        "  </owned_scope>\n"
        "  <constraints>\n"
        "    <constraint>Use bcrypt</constraint>\n"
        "    <constraint>Tokens live for 24 hours</constraint>\n"
        "  </constraints>\n"
        "  <acceptance_criteria>\n"
        "    <criterion>All endpoints answer properly</criterion>\n"
        "    <criterion>delivered docs/auth.md</criterion>\n"
        "  </acceptance_criteria>\n"
        "</intent_context>"
    )
    assert done.intent == {
        "id": "INT-001",
        "name": "Tokens & <sessions>",
        "status": "IN_PROGRESS",
        "owned_scope": ["src/auth/**", "tests/auth/**"],
        "constraints": ["Use bcrypt", "Tokens live for 24 hours"],
        "acceptance_criteria": ["All endpoints answer properly", "delivered docs/auth.md"],
    }
    assert done.expires_at == "2026-11-21T10:15:00.000Z"
    assert done.warnings == ()


def test_what_was_a_draft_is_in_progress_then_in_the_journal_and_in_the_file(project: Project) -> None:
    before = project.write(Written())
    project.sign()
    project.select("INT-001")
    assert project.item().status == "IN_PROGRESS"
    assert project.item().updated_at == "2026-11-21T10:00:00.000Z"
    after = project.file.read_text()
    assert after == before.replace("status: DRAFT", "status: IN_PROGRESS").replace(
        '"2026-11-02T08:00:00Z"', '"2026-11-21T10:00:00.000Z"'
    )
    assert project.sign().plan.nothing


def test_what_is_in_progress_and_held_by_nobody_is_taken_up_again(project: Project) -> None:
    project.sign(Written(status="IN_PROGRESS"))
    assert project.select("INT-001", "one").success
    project.leases.release(project.root, "one")
    assert project.select("INT-001", "two").success


# ---- the cases in which it cannot be had, in the order in which they are looked at ----


@pytest.mark.parametrize(
    "label", ["int-1", "INT-01", "INT-1", "INTENT-001", "INT-001 ", "INT-٠٠١", "", "INT-001\n"]
)
def test_a_malformed_id_is_refused_first_of_all(project: Project, label: str) -> None:
    done = project.select(label)  # there is not even a file
    assert (done.success, done.code) == (False, "INVALID_ID_FORMAT")
    assert done.error == (
        f"Invalid intent_id format: '{label}'. Expected format: INT-XXX (e.g., INT-001, INT-042)"
    )


def test_a_file_that_is_not_there_is_named_with_what_the_system_says(project: Project) -> None:
    done = project.select("INT-001")
    assert (done.success, done.code) == (False, "FILE_UNREADABLE")
    assert done.error == (
        f"Failed to read {FILE}: ENOENT (file not found). Please create the file with at least one intent."
    )


def test_a_file_that_may_not_be_read_or_is_a_link_or_a_folder_says_so(project: Project) -> None:
    project.sign(Written())
    text = project.file.read_text()
    project.file.unlink()
    project.file.symlink_to(project.root / "elsewhere.yaml")
    (project.root / "elsewhere.yaml").write_text(text)
    linked = project.select("INT-001")
    assert linked.code == "FILE_UNREADABLE"
    assert "symbolic link" in linked.error
    project.file.unlink()
    project.file.mkdir()
    assert "is a folder" in project.select("INT-001").error


def test_broken_yaml_is_told_with_its_line(project: Project) -> None:
    lines = project.write(Written()).splitlines()
    lines[11] = "    constraints: [unclosed"
    project.file.write_text("\n".join(lines[:12]) + "\n  - id: INT-002\n")
    done = project.select("INT-001")
    assert (done.success, done.code) == (False, "YAML_PARSE_ERROR")
    assert done.error.startswith(f"Invalid YAML in {FILE} at line 1")
    assert done.error.endswith("Please fix the YAML syntax.")


def test_the_line_of_broken_yaml_is_the_line_it_is_in(project: Project) -> None:
    head = project.write(Written()).splitlines()[:11]
    project.file.write_text("\n".join([*head, "    name: 'a' 'b'"]) + "\n")
    assert f"Invalid YAML in {FILE} at line 12: " in project.select("INT-001").error


def test_a_file_without_a_list_of_intents_is_no_file_of_intents(project: Project) -> None:
    project.write(Written())
    project.file.write_text("intents: []\n")
    done = project.select("INT-001")
    assert done.code == "MISSING_ACTIVE_INTENTS"
    assert f"Invalid YAML in {FILE} at line 1: " in done.error


def test_an_id_that_is_not_there_is_answered_with_those_that_are(project: Project) -> None:
    project.sign(
        Written("INT-001"), Written("INT-002", scope=("docs/**",)), Written("INT-003", scope=("web/**",))
    )
    done = project.select("INT-999")
    assert (done.success, done.code) == (False, "NOT_FOUND")
    assert done.error == (
        f"Intent 'INT-999' not found in {FILE}. Available intents: INT-001, INT-002, INT-003"
    )


def test_work_that_is_done_cannot_be_checked_out(project: Project) -> None:
    project.sign(Written(status="DONE"))
    done = project.select("INT-001")
    assert (done.success, done.code) == (False, "DONE")
    assert done.error.startswith("Intent 'INT-001' has status 'DONE'. Cannot activate completed intents.")


@pytest.mark.parametrize("reason", ["Waiting for API keys from client", "Waiting for API keys from client."])
def test_blocked_work_is_refused_with_its_reason(project: Project, reason: str) -> None:
    project.sign(Written("INT-005", status="BLOCKED", more=(f'blocked_reason: "{reason}"',)))
    done = project.select("INT-005")
    assert (done.success, done.code) == (False, "BLOCKED")
    assert done.error == (
        "Intent 'INT-005' has status 'BLOCKED'. Cannot activate blocked intents. "
        "Reason: Waiting for API keys from client."
    )


@pytest.mark.parametrize("wanted", ["INT-001", "INT-002"])
def test_an_agent_has_one_piece_of_work_at_a_time(project: Project, wanted: str) -> None:
    project.sign(Written("INT-001"), Written("INT-002", scope=("docs/**",)))
    project.select("INT-001")
    done = project.select(wanted)
    assert (done.success, done.code) == (False, "INTENT_ALREADY_ACTIVE")
    assert done.error == (
        "Intent 'INT-001' is already active in this session. "
        "Clear the current intent before selecting a new one."
    )


def test_what_another_agent_holds_is_refused_with_who_and_until_when(project: Project) -> None:
    project.sign(Written())
    project.select("INT-001", "one")
    done = project.select("INT-001", "two")
    assert (done.success, done.code) == (False, "LEASED")
    assert "'one' until 2026-11-21T10:15:00.000Z" in done.error


def test_work_on_files_that_another_agent_may_change_is_refused_with_one_of_them(project: Project) -> None:
    project.sign(Written("INT-001", scope=("src/**/*.py",)), Written("INT-002", scope=("src/auth/*",)))
    assert project.select("INT-001", "one").success
    done = project.select("INT-002", "two")
    assert (done.success, done.code) == (False, "SCOPE_OVERLAP")
    assert "'INT-001', which the agent 'one' holds" in done.error
    witness = done.error.split("may change '")[1].split("'")[0]
    one, two = project.item("INT-001").checkout_scope, project.item("INT-002").checkout_scope
    assert one.matches(witness)
    assert two.matches(witness)


def test_what_nobody_signed_is_refused_and_names_what_a_person_does(project: Project) -> None:
    project.sign(Written())
    project.write(Written(), Written("INT-002", scope=("docs/**",)))
    done = project.select("INT-002")
    assert (done.success, done.code) == (False, "NOT_IMPORTED")
    assert "a person" in done.error
    assert "mcl work import" in done.error
    project.select("INT-001")
    assert project.select("INT-002").code == "INTENT_ALREADY_ACTIVE"


def test_work_that_comes_after_other_work_is_had_with_a_warning(project: Project) -> None:
    project.sign(Written("INT-001"), Written("INT-002", scope=("docs/**",), dependencies=("INT-001",)))
    done = project.select("INT-002")
    assert done.success
    assert [one.partition(":")[0] for one in done.warnings] == ["DEPENDENCY_NOT_READY"]


# ---- the command ----


def test_the_command_prints_the_context_and_fails_with_the_error(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.sign(Written())
    monkeypatch.setenv("MCL_HOME", str(project.home.path))
    monkeypatch.setenv("MCL_AGENT", "worker-1")
    (project.root / "src" / "auth").mkdir(parents=True)
    monkeypatch.chdir(project.root / "src" / "auth")  # a folder below is in the same work
    assert main(["work", "select", "INT-001"]) == 0
    said = capsys.readouterr()
    assert said.out == project_context(project) + "\n"
    assert main(["work", "select", "INT-001"]) == 4
    assert "already active" in capsys.readouterr().err
    assert main(["work", "list", "--json"]) == 0
    assert '"agent": "worker-1"' in capsys.readouterr().out
    assert main(["work", "release"]) == 0
    assert main(["work", "release"]) == 4
    assert "NOTHING_HELD" in capsys.readouterr().err
    assert main(["work", "select", "INT-001", "--agent", "a b"]) == 4
    assert "BAD_AGENT_NAME" in capsys.readouterr().err


def project_context(project: Project) -> str:
    return context_of(project.item())


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_any_text_is_only_text_in_the_context(text: str) -> None:
    element = ElementTree.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert len(element) == 0
    held = "".join(char if char in "\t\n\r" or ord(char) >= 32 else f"\\u{ord(char):04x}" for char in text)
    held = "".join(
        f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" or char in "\ufffe\uffff" else char
        for char in held
    )
    assert (element.text or "") == held
