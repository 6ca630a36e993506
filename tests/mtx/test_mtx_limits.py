"""Files of any size: below the limits they are read wholly, above them one finding says so."""

from dataclasses import dataclass

import pytest
from mtx_writing import EXAMPLE

from mcl.language.mtx.ast import File, On
from mcl.language.mtx.codec import file_digest, packed, tree_text, unpacked
from mcl.language.mtx.files import Cache, load_file
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import Parsed, findings_of, parse
from mcl.language.mtx.procedure import interpret
from mcl.language.mtx.source import MAX_BYTES, MAX_SECTIONS


@dataclass(frozen=True)
class Script:
    file: File


def nested(levels: int, inside: str = "kind=write") -> str:
    """The example with blocks one in the other in its procedure."""
    blocks = "".join(f"{' ' * level}on slot.cabin=economy\n" for level in range(levels))
    blocks += f"{' ' * levels}{inside}\n"
    blocks += "".join(f"{' ' * level}end\n" for level in reversed(range(levels)))
    start, stop = EXAMPLE.index("on verb=find"), EXAMPLE.index("§OUTPUTS")
    return EXAMPLE[:start] + blocks + EXAMPLE[stop:]


def codes(text: str | bytes) -> list[str]:
    return [one.code for one in parse(text if isinstance(text, bytes) else text.encode()).findings]


def well_formed(text: str) -> Parsed:
    parsed = parse(text.encode())
    assert parsed.findings == ()
    return parsed


def test_999_levels_are_read_checked_kept_written_formatted_and_run(tmp_path) -> None:
    parsed = well_formed(nested(999))
    level, depth = parsed.file.procedure, 0
    while isinstance(level[0], On):
        level, depth = level[0].body, depth + 1
    assert depth == 999
    assert all(one.severity == "warning" for one in findings_of(parsed))
    assert unpacked(packed(parsed.file)) == parsed.file
    assert tree_text(parsed.file, indent=0).count('"node": "On"') == 999
    again = well_formed(format_file(parsed))
    assert again.file == parsed.file
    assert file_digest(again.file) == file_digest(parsed.file)
    assert interpret(Script(parsed.file), verb="find", prose="x").kind == "write"
    path = tmp_path / "find-flights" / "SKILL.mtx"
    path.parent.mkdir()
    path.write_text(nested(999), encoding="utf-8")
    for _ in range(2):
        assert load_file(path, Cache(tmp_path / "cache")).file == parsed.file


def test_the_digest_tells_deep_files_apart() -> None:
    assert file_digest(well_formed(nested(900)).file) != file_digest(well_formed(nested(901)).file)
    other = nested(900, "kind=code")
    assert file_digest(well_formed(nested(900)).file) != file_digest(well_formed(other).file)


@pytest.mark.parametrize("levels", [1000, 1001, 5000])
def test_1000_levels_are_told_at_the_block_that_is_too_deep(levels: int) -> None:
    text = ("§PROCEDURE\n" + "on unknown\n" * levels + "end\n" * levels).encode()
    found = [one for one in parse(text).findings if one.code != "INDENT"]
    assert [(one.code, one.line, one.column, one.text) for one in found] == [("TOO_DEEP", 1001, 1, "on")]


def test_a_file_of_just_less_than_1_mib_is_read_and_a_longer_one_told() -> None:
    filler = "# " + "x" * 98 + "\n"
    room = MAX_BYTES - 1 - len(EXAMPLE.encode())
    text = EXAMPLE + filler * (room // len(filler)) + "#" * (room % len(filler))
    assert len(text.encode()) == MAX_BYTES - 1
    assert codes(text) == []
    assert codes(text + "\n") == ["TOO_LONG"]
    assert codes(b"\xff" * (MAX_BYTES + 5)) == ["TOO_LONG"]


def test_10_000_sections_are_told_and_fewer_are_read() -> None:
    assert codes("§TOOLS\n" * (MAX_SECTIONS - 1)) == ["DUPLICATE_SECTION"] * 200
    findings = parse("§TOOLS\n".encode() * MAX_SECTIONS).findings
    assert [(one.code, one.line) for one in findings] == [("TOO_MANY_SECTIONS", MAX_SECTIONS)]


def test_a_file_of_which_nothing_is_read_has_no_other_findings() -> None:
    for data in (b"", b"x" * MAX_BYTES, b"\xff", "§TOOLS\n".encode() * MAX_SECTIONS):
        parsed = parse(data)
        assert len(findings_of(parsed, name="a", strict=True)) == 1


def test_findings_are_at_most_200_and_the_first() -> None:
    text = EXAMPLE.replace("§CORTEX\n", "§CORTEX\n" + "nothing here\n" * 5_000)
    findings = parse(text.encode()).findings
    assert len(findings) == 200
    assert [one.line for one in findings][:3] == [23, 24, 25]
    slots = "§INPUTS\n" + "slot a: string\n" * 5_000
    assert len(findings_of(parse(slots.encode()))) <= 200
