"""References into results, and texts turned into the types of a schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Manifest, UnresolvedError
from executor.call import Deferred
from executor.gate.references import as_text, resolve, typed_args

OUTPUTS: dict[str, object] = {
    "n1": {
        "path": {"to": [{"field": "deep"}]},
        "count": 12345678901234567890123,
        "text": "hello",
        "none": None,
    }
}


def manifest(**types: str) -> Manifest:
    return Manifest.model_validate(
        {
            "uri": "matrix://tool/test/any@1.0.0",
            "description": "Any.",
            "effects": ["read"],
            "operation": "read",
            "idempotent": True,
            "timeout_ms": 1,
            "max_output": 1,
            "safety": "A",
            "scope": {"kind": "none"},
            "args": {
                "type": "object",
                "additionalProperties": False,
                "properties": {name: {"type": kind} for name, kind in types.items()},
            },
            "output": {"type": "object", "additionalProperties": False},
        }
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${n1.output.text}", "hello"),
        ("${n1.output.path.to[0].field}", "deep"),
        ("${n1.output.path.to}", [{"field": "deep"}]),
        ("${n1.output.count}", 12345678901234567890123),
        ("a ${n1.output.text} b ${n1.output.count}", "a hello b 12345678901234567890123"),
        ("${n1.output.path}!", '{"to":[{"field":"deep"}]}!'),
        ("$${n1.output.text}", "${n1.output.text}"),
        ("${n1.output.none}", None),
    ],
)
def test_a_reference_gives_the_value_and_a_longer_text_holds_it(text: str, value: object) -> None:
    assert resolve(text, OUTPUTS) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("${n2.output}", "NO_OUTPUT"),
        ("${n1.output.missing}", "NO_SUCH_FIELD"),
        ("${n1.output.text.more}", "NO_SUCH_FIELD"),
        ("${n1.output.path.to[1]}", "NO_SUCH_FIELD"),
        ("${n1.output.path[0]}", "NO_SUCH_FIELD"),
        ("${HOME}", "REFERENCE_MALFORMED"),
    ],
)
def test_a_reference_that_leads_nowhere_is_an_error_with_a_way_out(text: str, code: str) -> None:
    with pytest.raises(UnresolvedError) as caught:
        resolve(text, OUTPUTS)
    assert caught.value.code == code
    assert caught.value.fix


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "007", "007"),
        ("string", "+15551234", "+15551234"),
        ("string", "1.10", "1.10"),
        ("string", "true", "true"),
        ("integer", "42", 42),
        ("integer", "-1", -1),
        ("integer", "007", "007"),
        ("integer", "1.0", "1.0"),
        ("integer", "٣", "٣"),
        ("integer", "12345678901234567890123", 12345678901234567890123),
        ("number", "1.5e3", 1500.0),
        ("number", "1", 1),
        ("number", "NaN", "NaN"),
        ("number", "1e999", "1e999"),
        ("number", "+1", "+1"),
        ("boolean", "true", True),
        ("boolean", "True", "True"),
        ("boolean", "1", "1"),
        ("null", "null", None),
        ("array", '["a"]', ["a"]),
        ("object", '{"a":1,"a":2}', '{"a":1,"a":2}'),
        ("string", "${n1.output.path.to}", '[{"field":"deep"}]'),
        ("array", "${n1.output.path.to}", [{"field": "deep"}]),
    ],
)
def test_a_text_is_what_the_schema_says_and_never_what_it_looks_like(
    kind: str, text: str, value: object
) -> None:
    typed = typed_args({"a": text}, manifest(a=kind), OUTPUTS)["a"]
    assert (typed, type(typed)) == (value, type(value))


def test_before_a_run_references_are_deferred_and_literals_are_typed() -> None:
    typed = typed_args({"a": "${n1.output}", "b": "7", "c": "$${x}"}, manifest(a="string", b="integer"), None)
    assert typed == {"a": Deferred("${n1.output}"), "b": 7, "c": "${x}"}


@given(st.text())
def test_a_text_without_references_comes_through_unchanged_as_a_string(text: str) -> None:
    escaped = text.replace("${", "$${")
    if "$$${" in escaped:
        return  # '$${' itself cannot be written as a literal beside a dollar sign
    assert typed_args({"a": escaped}, manifest(a="string"), {})["a"] == text


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_a_value_that_passes_through_a_reference_keeps_its_type(value: object) -> None:
    assert resolve("${n.output.v}", {"n": {"v": value}}) == value
    assert as_text(value) == (value if isinstance(value, str) else as_text(value))
