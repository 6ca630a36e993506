"""The file of a decision: it reads back as what was written, and nothing of a stranger's gets further."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor.core.words import name_part
from mcl.core.errors import ReviewError
from mcl.plugins.review.memory.decision import (
    KINDS,
    STATUSES,
    ArchitectureDecision,
    body_of,
    read_adr,
    write_adr,
)

FOLDER = "architecture_memory"


def refused(act: Callable[[], Any], code: str, place: str = "") -> Any:
    """What an act gives; None where it is refused with this code, at a place that begins so."""
    try:
        return act()
    except ReviewError as error:
        told = error
    assert told.code == code
    assert told.place.startswith(place)
    return None


LINE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=40).map(
    lambda text: re.sub("[\ufeff\ufffe\uffff]", "", text)
)
PROSE = st.lists(LINE.filter(lambda line: not line.lstrip().startswith("#")), max_size=5).map("\n".join)
TRICKY = st.sampled_from(
    [
        "yes",
        "null",
        "~",
        "123",
        "0x1F",
        "2026-11-22",
        "- a",
        "a: b",
        "#x",
        "'",
        '"',
        "---",
        "*a",
        "&a",
        "!t",
        "%x",
    ]
)


@settings(max_examples=60)
@given(
    title=LINE.map(lambda text: " ".join(text.split())).filter(bool) | TRICKY,
    parts=st.tuples(PROSE, PROSE | TRICKY.filter(lambda text: text != "#x"), PROSE),
    kind=st.sampled_from(KINDS),
    status=st.sampled_from(STATUSES),
    globs=st.lists(
        st.sampled_from(["a/**", "*.py", "[ab].c", "{a,b}/*", "yes", "1"]), max_size=3, unique=True
    ),
    number=st.integers(1, 99_999_999),
)
def test_every_decision_that_can_be_kept_reads_back_from_its_file(
    title: str, parts: tuple[str, str, str], kind: Any, status: Any, globs: list[str], number: int
) -> None:
    made = ArchitectureDecision(
        f"ADR-{number:04d}", title, body_of(*parts), kind, status, "2026-11-22", tuple(globs)
    )
    data = refused(lambda: write_adr(made), "DECISION_SHAPE")
    if data is None:
        assert not made.body.strip()
        return
    read = read_adr(data, made.path)
    assert read.says == made.says
    assert write_adr(read) == data
    assert re.fullmatch(rf"{FOLDER}/{kind}/ADR-[0-9]{{4,8}}-[a-z0-9-]{{1,48}}\.md", made.path)


@given(st.text(max_size=300))
def test_a_title_is_a_plain_part_of_a_name(title: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name_part(title, 48, "decision"))
    assert len(name_part(title, 48, "decision")) <= 48


GOOD = (
    "---\nid: ADR-0001\ntitle: One\nstatus: accepted\nkind: decisions\ndate: 2026-11-22\nfiles:\n"
    "- a/**\n---\n\n# ADR-0001: One\n\nBody.\n"
)
BOMB = "\n".join(
    ["x0: &x0 [a,a,a,a,a,a,a,a,a]", *(f"x{n}: &x{n} [{','.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 10))]
)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "front matter"),
        ("# ADR-0001\n", 1, "front matter"),
        ("---\nid: ADR-0001\n", 3, "not closed"),
        (GOOD.replace("id: ADR-0001\n", f"{BOMB}\nid: ADR-0001\n"), 7, "aliases"),
        (GOOD.replace("title: One", "title: &t One\nkind2: *t"), 3, "anchors"),
        (GOOD.replace("title: One", "title: *t"), 3, "alias"),
        (GOOD.replace("title: One", "title: !!python/object/apply:os.system [id]"), 3, "tags"),
        (GOOD.replace("title: One", "title: !x One"), 3, "tags"),
        (GOOD.replace("title: One", "title: One\ntitle: Two"), 4, "second 'title'"),
        (GOOD.replace("title: One", "title: One\n<<: {a: b}"), 4, "merge"),
        (GOOD.replace("title: One", "title: One\nowner: me"), 4, "no field 'owner'"),
        (GOOD.replace("title: One", "title: [One]"), 3, "title is no text"),
        (GOOD.replace("title: One", "title: null"), 3, "title is no text"),
        (GOOD.replace("title: One", "title: {a: b}"), 3, "title is no text"),
        (GOOD.replace("title: One\n", ""), 2, "lacks title"),
        (GOOD.replace("title: One", "title: One\n%YAML 1.1"), 4, "%"),
        (GOOD.replace("title: One", "title: One\n...\nx: y"), 5, ""),
        (GOOD.replace("title: One", "title: 'One"), 0, "not YAML"),
        (GOOD.replace("title: One", "title:\tOne"), 3, "a tab"),
        (GOOD.replace("status: accepted", "status: maybe"), 4, "status"),
        (GOOD.replace("kind: decisions", "kind: ../../etc"), 5, "kind"),
        (GOOD.replace("ADR-0001", "ADR-1"), 2, "id"),
        (GOOD.replace("ADR-0001", "../../x"), 2, "id"),
        (GOOD.replace("date: 2026-11-22", "date: soon"), 6, "date"),
        (GOOD.replace("- a/**", "- /etc/**"), 7, "files"),
        (GOOD.replace("- a/**", "- [a]"), 8, "files is no text"),
        (GOOD.replace("# ADR-0001: One", "# ADR-0002: One"), 11, "title"),
        (GOOD.replace("# ADR-0001: One", "Text"), 11, "title"),
        (GOOD.replace("Body.", ""), 1, "says nothing"),
        (GOOD.replace("Body.", "x" * 14_001), 1, "14000"),
        (GOOD.replace("Body.", "x\x07"), 1, "control"),
        (GOOD.replace("title: One", "title: One\nx: " + "[" * 5_000), 4, "nested"),
        (GOOD.replace("title: One", "title: " + "x" * 20_000), 2, "16,384"),
        ("---\n" + GOOD, 2, ""),
    ],
)
def test_a_file_of_a_stranger_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ReviewError) as caught:
        read_adr(text.encode(), "architecture_memory/decisions/ADR-0001-one.md")
    assert caught.value.code == "DECISION_FILE"
    path, _, at = caught.value.place.partition(":")
    assert path == "architecture_memory/decisions/ADR-0001-one.md"
    assert not line or int(at) == line
    assert said in caught.value.message


@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: GOOD.replace("One", text, 1).encode("utf-8", "replace"))
)
def test_no_bytes_of_a_file_make_anything_but_a_decision_or_a_refusal(data: bytes) -> None:
    refused(lambda: read_adr(data, "x.md"), "DECISION_FILE", "x.md")


@pytest.mark.parametrize(
    "good", [GOOD, GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, GOOD.replace("# ADR-0001: One", "# One")]
)
def test_what_editors_do_to_a_file_is_no_matter(good: str) -> None:
    read = read_adr(good.encode(), "x.md")
    assert (read.id, read.title, read.files, read.body) == ("ADR-0001", "One", ("a/**",), "Body.")
