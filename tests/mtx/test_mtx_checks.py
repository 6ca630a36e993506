"""The checks V1–V15: what a well-formed file must also mean."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mtx_writing import EXAMPLE, files

from mcl.language.mtx.ast import File
from mcl.language.mtx.checks import check
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.parser import parse
from mcl.language.mtx.procedure import interpret
from mcl.language.mtx.source import MtxFinding


def checked(text: str, *, name: str = "find-flights", strict: bool = False) -> list[MtxFinding]:
    parsed = parse(text.encode())
    assert parsed.findings == ()
    return check(parsed.file, name=name, strict=strict)


@pytest.mark.parametrize(
    ("old", "new", "code", "text", "hint"),
    [
        ("§CORTEX\nreads=Fact Goal Preference\ntags=travel\n", "", "V1", "", "add §CORTEX"),
        ("verbs=find acquire", "verbs=find aquire", "V2", "aquire", 'did you mean "acquire"?'),
        ("on verb=find", "on verb=fnd", "V2", "fnd", 'did you mean "find"?'),
        ("default=economy", "default=econmy", "V3", "econmy", 'did you mean "economy"?'),
        ("max=5", "max=0", "V3", "0", ""),
        ("max=5", "default=a", "V3", "a", "write default=[a]"),
        ("slot tags: string[]", "slot tags: uint[]\n  default=[1 x]", "V3", "x", ""),
        ("slot tags: ", "slot target: ", "V4", "target", "rename"),
        ("resolve slot.target", "resolve slot.targt", "V5", "slot.targt", 'did you mean "target"?'),
        ("near=slot.target.prose", "near=slot.other", "V5", "slot.other", "inputs:"),
        ("cortex.find", "cortex.search", "V5", "cortex.search", "calls: find"),
        ("limit=5)", "limit=many)", "V5", "many", ""),
        ("limit=5)", "limt=5)", "V5", "limt", 'did you mean "limit"?'),
        ("unknown slot.target", "unknown slot.goal", "V6", "slot.goal", "inputs:"),
        ("clarify slot.target", "clarify slot.goal", "V6", "slot.goal", "inputs:"),
        ("severity=blocking", "severity=bloking", "V6", "bloking", 'did you mean "blocking"?'),
        ("required=true", "required=yes", "V6", "yes", ""),
        ('    system="..."\n', "", "V7", "prompt", 'add system="…"'),
        ("{slot.target}", "{slot.targe}", "V7", "{slot.targe}", 'did you mean "slot.target"?'),
        ("{prose}", "{goal}", "V7", "{goal}", "places:"),
        ("Goal: ", "Goal { ", "V7", "{ {prose}", "places"),
        ("reason=tool_failure", "reason=tool_broke", "V8", "tool_broke", 'did you mean "tool_failure"?'),
        ("S\nnone", "S\nmatrix://skill/a@latest", "V9", "matrix://skill/a@latest", "@<semver>"),
        ("http/get@1.0.0", "http/get", "V10", "matrix://tool/http/get", "@<semver>"),
        ('kind="summarize"', "kind=sumarize", "V11", "sumarize", 'did you mean "summarize"?'),
        ("output_cardinality=3", "output_cardinality=0", "V12", "0", ""),
    ],
)  # fmt: skip
def test_each_check_tells_the_text_and_the_way_out(
    old: str, new: str, code: str, text: str, hint: str
) -> None:
    if text == "{ {prose}":
        text, hint = "{", "write {{"
    assert old in EXAMPLE
    errors = [one for one in checked(EXAMPLE.replace(old, new, 1)) if one.severity == "error"]
    assert [(one.code, one.text) for one in errors] == [(code, text)]
    assert hint in errors[0].hint
    assert errors[0].line > 0


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("id=find-flights", "id=other", "V13"),
        ("id=find-flights\n", "", "V13"),
        ("version=1.0.0", "version=1.0", "V13"),
        ("version=1.0.0", "version=", "V13"),
        ("description=", "x.description=", "V13"),
        ('description="', 'description="' + "long " * 60, "V13"),
        ("digest=", "digest=" + "0" * 64, "V14"),
        ("on confidence<0.75", "on confidence<0", "V15"),
        ("on verb=find", "on verb=build", "V15"),
        ("on confidence<0.75", "on verb=find\nend\non confidence<0.75", "V15"),
        ("on confidence<0.75", "on confidence<0.8\nend\non confidence<0.75", "V15"),
        ("on confidence<0.75", "on confidence<0.5\nend\non confidence>=0.5\nend\non unknown", "V15"),
        ("  kind=", "  on verb=acquire\n  end\n  kind=", "V15"),
    ],
)  # fmt: skip
def test_what_real_files_break_is_a_warning_and_an_error_when_strict(old: str, new: str, code: str) -> None:
    text = EXAMPLE.replace(old, new, 1)
    found = checked(text)
    assert {one.code for one in found} == {code}
    assert {one.severity for one in found} == {"warning"}
    assert {one.severity for one in checked(text, strict=True)} == {"error"}


def test_the_computed_digest_satisfies_v14() -> None:
    digest = file_digest(parse(EXAMPLE.encode()).file)
    assert checked(EXAMPLE.replace("digest=", f"digest={digest}")) == []


def test_blocks_of_different_phases_do_not_hide_each_other() -> None:
    text = EXAMPLE.replace("mcl.verbs=find acquire", "mcl.verbs=find")
    assert checked(text) == []


def test_an_enum_whose_members_are_all_taken_leaves_only_the_empty_slot() -> None:
    blocks = "".join(f"on slot.cabin={cabin}\nend\n" for cabin in ("economy", "premium", "business"))
    text = EXAMPLE.replace("on verb=find\n", blocks + "on verb=find\n", 1)
    assert checked(text) == []
    again = EXAMPLE.replace("on verb=find\n", blocks + "on slot.cabin=economy\nend\non verb=find\n", 1)
    assert [one.code for one in checked(again)] == ["V15"]


@given(files(), st.sampled_from(["find", "build", "x:dance"]), st.floats(0, 1), st.lists(st.text(max_size=5)))
@settings(max_examples=60, deadline=None)
def test_any_tree_can_be_checked_and_what_has_no_errors_interpreted(
    file: File, verb: str, confidence: float, unknowns: list[str]
) -> None:
    @dataclass(frozen=True)
    class Script:
        file: File

    errors = [finding for finding in check(file) if finding.severity == "error"]
    assert errors == [finding for finding in check(file, strict=True) if finding in errors]
    assert check(file) == check(file)
    if not errors:
        said = interpret(Script(file), verb=verb, prose="x", confidence=confidence, unknowns=unknowns)
        assert said.output_cardinality >= 1
        assert set(said.slots) == {slot.name for slot in file.slots()}
