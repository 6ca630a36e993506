"""The names and the pages by which clients know what other servers have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.core.errors import McpError
from mcl.plugins.mcp.proxy.lists import (
    Cursors,
    is_prompt,
    is_uri,
    linked,
    ours,
    parse_prompt,
    parse_uri,
    prompt_name,
)

NAMES = st.text(min_size=1, max_size=60)


@given(NAMES.filter(is_uri))
def test_an_address_is_read_back_as_it_was(uri: str) -> None:
    assert parse_uri(ours("notes", uri)) == ("notes", uri)


@pytest.mark.parametrize(
    "uri", ["notes://all", "file:///a b", "x", "mcl://other/y", "a/b?c#d", "{path}", "/"]
)
def test_whatever_a_server_calls_its_resource_can_be_named(uri: str) -> None:
    assert parse_uri(ours("notes", uri)) == ("notes", uri)


@pytest.mark.parametrize(
    "uri",
    [
        *(
            "",
            "notes://all",
            "mcl://",
            "mcl://notes",
            "mcl://notes/",
            "mcl:///x",
            "mcl://No/x",
            "mcl://mcl/x",
        ),
        *("MCL://notes/x", "mcl://notes/a\nb", "mcl://notes/a\u202eb", "mcl://notes/" + "x" * 9000),
    ],
)
def test_what_is_no_address_is_refused_with_an_example(uri: str) -> None:
    with pytest.raises(McpError) as refused:
        parse_uri(uri)
    assert (refused.value.code, refused.value.example) == ("BAD_RESOURCE_URI", "mcl://notes/notes://all")


@given(NAMES.filter(is_prompt))
def test_a_prompt_is_read_back_as_it_was(name: str) -> None:
    assert parse_prompt(prompt_name("notes", name)) == ("notes", name)


@pytest.mark.parametrize(
    "name", ["", "greet", ":greet", "notes:", "No:x", "mcl:x", "notes: x", "notes:a\x1bb"]
)
def test_what_is_no_prompt_is_refused(name: str) -> None:
    with pytest.raises(McpError) as refused:
        parse_prompt(name)
    assert refused.value.code == "BAD_PROMPT_NAME"


def test_links_in_content_are_named_as_they_can_be_read() -> None:
    link = {"type": "resource_link", "uri": "notes://all", "name": "all"}
    assert linked("notes", link) == {**link, "uri": "mcl://notes/notes://all"}
    inner = {"type": "resource", "resource": {"uri": "notes://all", "text": "x"}}
    assert linked("notes", inner)["resource"] == {"uri": "mcl://notes/notes://all", "text": "x"}
    text = {"type": "text", "text": "notes://all"}
    assert linked("notes", text) == text


@given(NAMES, NAMES, NAMES)
def test_a_cursor_is_read_back_by_who_made_it(kind: str, server: str, name: str) -> None:
    cursors = Cursors()
    assert cursors.read(kind, cursors.after(kind, server, name)) == (server, name)


@given(st.text(max_size=200))
def test_no_text_passes_for_a_cursor(text: str) -> None:
    with pytest.raises(McpError) as refused:
        Cursors().read("resources", text)
    assert refused.value.code == "BAD_CURSOR"


def test_a_cursor_is_good_for_one_list_and_one_process() -> None:
    cursors = Cursors()
    cursor = cursors.after("resources", "notes", "notes://all")
    for reader, kind in ((cursors, "prompts"), (Cursors(), "resources")):
        with pytest.raises(McpError):
            reader.read(kind, cursor)


def test_no_change_of_a_cursor_goes_unseen() -> None:
    cursors = Cursors(b"k" * 32)
    cursor = cursors.after("resources", "notes", "notes://all")
    for place in range(len(cursor)):
        for char in "Aa_":
            forged = cursor[:place] + char + cursor[place + 1 :]
            if forged != cursor:
                with pytest.raises(McpError):
                    cursors.read("resources", forged)
    for forged in (cursor + "=", cursor + "A", cursor[:-1], cursor + "\n"):
        with pytest.raises(McpError):
            cursors.read("resources", forged)
