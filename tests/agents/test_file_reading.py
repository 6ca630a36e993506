"""Reading files of intents: any bytes give entries and findings, in bounded time, and never an exception."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir.frame import AttestationPredicate, DeliveredPredicate, ExternalPredicate, SignedOffPredicate
from mcl.core.yaml import MAX_ALIASES, MAX_BYTES, MAX_DEPTH
from mcl.plugins.agents.file.document import (
    MAX_INTENTS,
    PREDICATES,
    IntentEntry,
    IntentFile,
    TypedCriterion,
    read_file,
    write_file,
)
from mcl.plugins.agents.file.rules import instant
from mcl.plugins.agents.file.validation import validate

ENTRY = """\
active_intents:
  - id: INT-001
    name: %s
    status: DRAFT
    created_at: 2024-01-15T10:30:00Z
    updated_at: 2024-01-15T10:30:00Z
    owned_scope: [src/**]
    constraints: [x]
    acceptance_criteria: [y]
"""


def told(text: str | bytes, *, quick: bool = True) -> list[tuple[str, int]]:
    data = text if isinstance(text, bytes) else text.encode()
    report = validate(read_file(data, quick=quick))
    return [(one.type, one.line) for one in (*report.errors, *report.warnings)]


def name_of(written: str, *, quick: bool = True) -> str:
    (entry,) = read_file((ENTRY % written).encode(), quick=quick).entries
    return entry.name


REFUSED = [
    ("a: !!python/object/apply:os.system ['true']", ("YAML_PARSE_ERROR", 1)),
    ("a: 1\nb: !!python/name:os.system ''", ("YAML_PARSE_ERROR", 2)),
    ("a: !!str 1", ("YAML_PARSE_ERROR", 1)),
    ("a: ! 1", ("YAML_PARSE_ERROR", 1)),
    ("--- !x\na: 1", ("YAML_PARSE_ERROR", 1)),
    ("a: !!set {b}", ("YAML_PARSE_ERROR", 1)),
    ("%YAML 1.1\n---\na: 1", ("YAML_PARSE_ERROR", 1)),
    ("# a\n%TAG ! tag:x,2000:\n---\na: 1", ("YAML_PARSE_ERROR", 2)),
    ("a: 1\n...\n%TAG ! tag:x,2000:\n---\na: 1", ("YAML_PARSE_ERROR", 3)),
    ("a: 1\n---\nb: 2", ("YAML_PARSE_ERROR", 2)),
    ("a: *nobody", ("YAML_PARSE_ERROR", 1)),
    ("a: &a [*a]", ("YAML_PARSE_ERROR", 1)),
    ("a: &a {b: *a}", ("YAML_PARSE_ERROR", 1)),
    ("a:\n\tb: 1", ("YAML_PARSE_ERROR", 2)),
    ("a: 1 #\tb", ("YAML_PARSE_ERROR", 1)),
    ("a: 1\r\nb: \0", ("YAML_PARSE_ERROR", 2)),
    ("a: \ufeff1", ("YAML_PARSE_ERROR", 1)),
    ("a: 1\rb: \x1b[31m", ("YAML_PARSE_ERROR", 2)),
    ("a: \u20281", ("YAML_PARSE_ERROR", 1)),
    (b"a: 1\nb: \xff", ("YAML_PARSE_ERROR", 2)),
    ("a: 1".encode("utf-16"), ("YAML_PARSE_ERROR", 1)),
    (b"a: \xed\xa0\x80", ("YAML_PARSE_ERROR", 1)),
    ('a: "\\ud800"', ("YAML_PARSE_ERROR", 1)),
    ('a: "\\UFFFFFFFF"', ("YAML_PARSE_ERROR", 1)),
    ("a: [1, 2", ("YAML_PARSE_ERROR", 1)),
    ('a: "b', ("YAML_PARSE_ERROR", 1)),
    ("a: b: c", ("YAML_PARSE_ERROR", 1)),
    ("? [a]\n: 1", ("YAML_PARSE_ERROR", 1)),
    ("{a: b}: 1", ("YAML_PARSE_ERROR", 1)),
    ("a: " + "[" * (MAX_DEPTH + 1), ("YAML_PARSE_ERROR", 1)),
    ("- " * 100_000, ("YAML_PARSE_ERROR", 1)),
    ("[" * 1_000_000, ("YAML_PARSE_ERROR", 1)),
    ("x" * (MAX_BYTES + 1), ("FILE_TOO_LARGE", 0)),
    ("active_intents:\n" + "- {}\n" * (MAX_INTENTS + 1), ("FILE_TOO_LARGE", MAX_INTENTS + 2)),
    ("a: &a x\nb: [" + "*a," * (MAX_ALIASES + 1) + "]", ("TOO_MANY_ALIASES", 2)),
]


@pytest.mark.parametrize(("text", "first"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_read_is_refused_at_its_line(text: str | bytes, first: tuple[str, int]) -> None:
    assert first in told(text)
    assert not read_file(text if isinstance(text, bytes) else text.encode()).whole


@pytest.mark.parametrize("number", [n for n, (text, _) in enumerate(REFUSED) if len(text) < 1_000])
def test_without_libyaml_the_same_is_refused(number: int) -> None:
    text, (code, _) = REFUSED[number]

    assert code in [one for one, _ in told(text, quick=False)]


def test_more_values_than_any_file_needs_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcl.core.yaml.MAX_VALUES", 100)

    assert told("a:\n" + "- 1\n" * 200) == [("FILE_TOO_LARGE", 99)]


def test_aliases_that_multiply_end_at_a_bound() -> None:
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]

    assert told("\n".join(bomb)) == [("TOO_MANY_ALIASES", 6)]


def test_aliases_that_nest_end_at_a_bound() -> None:
    deep = ["a0: &a0 [x]"]
    deep += [f"a{n}: &a{n} [[[[[[[[[[*a{n - 1}]]]]]]]]]]" for n in range(1, 90)]

    assert told("\n".join(deep)) == [("YAML_PARSE_ERROR", 5)]


def test_a_few_aliases_are_read_with_the_line_that_they_stand_in() -> None:
    text = (
        ENTRY % "a"
    ) + "    dependencies: &none []\n    references: *none\n    owner: &who x\n    blocked_reason: *who\n"
    (entry,) = read_file(text.encode()).entries

    assert (entry.references, entry.owner, entry.blocked_reason) == ((), "x", "x")
    assert told(text) == []


def test_merge_keys_are_refused_and_not_left_out_in_silence() -> None:
    text = (ENTRY % "a") + "    <<: {owner: x}\n"

    assert ("YAML_PARSE_ERROR", 10) in told(text)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize(
    "written", ["yes", "on", "2024-01-15", "10:30", "1_000", "=", ".", "- b".replace("- ", "-")]
)
def test_words_that_other_readers_turn_into_something_else_stay_words(written: str, quick: bool) -> None:
    assert name_of(written, quick=quick) == written


@pytest.mark.parametrize(
    "written", ["12", "-1", "+1", "0o7", "0x1F", "1.5", ".5", "1e3", ".inf", ".nan", "true", "False"]
)
def test_numbers_and_truths_are_no_names_until_they_are_quoted(written: str) -> None:
    assert told(ENTRY % written) == [("INVALID_TYPE", 3)]
    assert told(ENTRY % f'"{written}"') == []


@pytest.mark.parametrize(
    "text",
    [
        ENTRY.replace("\n", "\r\n"),
        ENTRY.replace("\n", "\r"),
        "\ufeff" + ENTRY,
        "---\n" + ENTRY + "...\n",
        ENTRY.rstrip("\n"),
        "# \U0001f600 é\n\n" + ENTRY,
    ],
    ids=["crlf", "cr", "mark", "document", "no last break", "comment"],
)
def test_ways_to_save_the_same_file_give_the_same_entries(text: str) -> None:
    assert read_file((text % "a").encode()).entries == read_file((ENTRY % "a").encode()).entries


@pytest.mark.parametrize(("break_", "line"), [("\n", 4), ("\r\n", 4), ("\r", 4)])
def test_lines_are_counted_as_editors_count_them(break_: str, line: int) -> None:
    assert told((ENTRY % "a").replace("DRAFT", "x").replace("\n", break_)) == [("INVALID_STATUS", line)]


def test_a_line_of_millions_of_characters_is_read_and_quoted_in_part() -> None:
    report = validate(read_file((ENTRY % "a").replace("DRAFT", "x" * 3_000_000).encode()))

    assert len(report.errors[0].message) < 300


def test_typed_criteria_say_what_predicates_of_a_frame_say() -> None:
    models = (DeliveredPredicate, SignedOffPredicate, ExternalPredicate, AttestationPredicate)

    fields = {model.model_fields["type"].default: set(model.model_fields) - {"type"} for model in models}
    assert set(PREDICATES) == set(fields)
    assert all(set(names) <= fields[kind] for kind, names in PREDICATES.items())


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-01-15T10:30:00Z", "2024-01-15T10:30:00Z"),
        ("2024-01-15T12:30:00+02:00", "2024-01-15T10:30:00Z"),
        ("2024-01-15T10:30:00.25Z", "2024-01-15T10:30:00.250000Z"),
        ("2023-12-31T23:30:00-01:00", "2024-01-01T00:30:00Z"),
    ],
)
def test_times_with_a_zone_are_told_in_utc(text: str, utc: str) -> None:
    assert instant(text) == utc


bits = st.sampled_from(
    [
        *ENTRY.replace("%s", "a").split("\n"),
        *(
            "active_intents:",
            "- ",
            "  - id: INT-002",
            "id: ",
            "    name: b",
            ": ",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ",",
        ),
        *(
            "&a ",
            "*a",
            "<<: *a",
            "!!str ",
            "!x",
            "| ",
            ">-",
            "'",
            '"',
            "\\",
            '"\\x41"',
            "#",
            "---",
            "...",
            "%YAML 1.2",
        ),
        *(
            "\n",
            "\r\n",
            "\r",
            " ",
            "  ",
            "\t",
            "\0",
            "\ufeff",
            "\u2028",
            "é",
            "\U0001f600",
            "~",
            "null",
            "1",
            ".nan",
        ),
        *(
            "owned_scope: ['/x', '[', 'a{']",
            "dependencies: [INT-001]",
            "acceptance_criteria: [{type: delivered}]",
        ),
        *(
            "constraints: [{a: {b: [1, 2.5, null, true]}}]",
            "status: IN_PROGRESS",
            "created_at: 2024-01-15T10:30:00Z",
        ),
    ]
)
WHOLE = (ENTRY % "a") + ENTRY.partition("\n")[2].replace("INT-001", "INT-002") % "'b'"


@st.composite
def spoilt(draw: st.DrawFn) -> str:
    """A good file with some places of it overwritten, doubled or taken out."""
    text = WHOLE
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):  # whole lines
            edges = [0, *(place + 1 for place, char in enumerate(text) if char == "\n")]
            start, end = draw(st.sampled_from(edges)), draw(st.sampled_from(edges))
        else:
            start = draw(st.integers(0, len(text)))
            end = start + draw(st.integers(0, 4))
        new = draw(st.one_of(bits, bits.map(lambda bit: f"    {bit}\n"), st.just(text[start:end] * 2)))
        text = text[:start] + new + text[end:]
    return text


anything = st.one_of(
    st.binary(max_size=200),
    spoilt().map(lambda text: text.encode("utf-8", "replace")),
    st.lists(st.one_of(bits, st.text(max_size=6)), max_size=30).map(
        lambda some: "".join(some).encode("utf-8", "replace")
    ),
)


@given(anything)
def test_any_bytes_give_entries_and_findings_and_never_an_exception(data: bytes) -> None:
    report = validate(read_file(data))

    assert report.valid or report.errors[0].message
    assert all("\n" not in one.message for one in report.errors)


@given(spoilt())
def test_a_file_that_both_scanners_read_says_the_same_with_either(text: str) -> None:
    quick, plain = (read_file(text.encode(), quick=quick) for quick in (True, False))

    if quick.whole and plain.whole:  # a bare ? in a list is no YAML to one of them
        assert said(quick) == said(plain)


def said(document: IntentFile) -> tuple[object, ...]:
    kinds = [(one.type, one.line if document.whole else 0, one.intent_id) for one in document.findings]
    return document.entries, [entry.lines for entry in document.entries], kinds


words = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
named = words.filter(lambda text: text.strip() != "")
moments = st.just("2024-01-15T10:30:00Z")
criteria = st.one_of(named, st.builds(lambda text: TypedCriterion("delivered", (("artifact", text),)), named))
lists = st.lists(named, max_size=3).map(tuple)
entries = st.builds(
    IntentEntry,
    label=st.integers(0, 10**6).map(lambda number: f"INT-{number:03d}"),
    name=named,
    status=st.sampled_from(["DRAFT", "IN_PROGRESS", "DONE", "BLOCKED"]),
    created_at=moments,
    updated_at=moments,
    owned_scope=lists,
    description=words,
    owner=words,
    constraints=lists,
    acceptance_criteria=st.lists(criteria, max_size=3).map(tuple),
    dependencies=lists,
    references=lists,
    blocked_reason=words,
)


@settings(max_examples=40)
@given(st.lists(entries, max_size=3))
def test_a_written_file_reads_as_the_entries_that_it_was_written_from(given_: list[IntentEntry]) -> None:
    data = write_file(given_)

    for quick in (True, False):
        document = read_file(data, quick=quick)
        assert document.entries == tuple(given_)
        assert document.findings == ()
    assert write_file(read_file(data).entries) == data


def test_half_a_character_is_not_written() -> None:
    entry = next(one_of("a\ud800"))

    with pytest.raises(ValueError, match="half a character"):
        write_file([entry])


def one_of(name: str) -> Iterator[IntentEntry]:
    yield IntentEntry("INT-001", name, "DRAFT", "2024-01-15T10:30:00Z", "2024-01-15T10:30:00Z", ("src/**",))
