"""The canonical layout, by example: what it changes, and what it leaves."""

from pathlib import Path

import pytest

import skills
from grammars import core_modules
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import parse

SHIPPED = [*core_modules().values(), *sorted(Path(skills.__file__).parent.glob("*/SKILL.mtx"))]
MESSY = """# a skill

§SKILL   # the head
id = messy


version="1.0.0"
display=Messy, but sound   # said so
mcl.verbs=find
note=""
§INPUTS
slot a :string[]
        # why three
        max = 3
        default=[ "x" ,y  "z z" ]
slot b: enum<p|q>
   optional
§CORTEX
none
§TOOLS
none
§SUB_SKILLS
none
§PROCEDURE
on  verb = find
      # inside
      resolve slot.a<-cortex.find( type=Fact ,near="x y", tags=[ a,b ],text="" )
  on slot.b=""
                kind="code"
      end
      end
# last words
§OUTPUTS
none
§FAILURE_MODES
gone
      action = fail
"""
CANONICAL = """# a skill

§SKILL  # the head
id=messy

version=1.0.0
display="Messy, but sound"  # said so
mcl.verbs=find
note=

§INPUTS
slot a: string[]
  # why three
  max=3
  default=[x y "z z"]
slot b: enum<p|q>
  optional

§CORTEX
none

§TOOLS
none

§SUB_SKILLS
none

§PROCEDURE
on verb=find
  # inside
  resolve slot.a <- cortex.find(type=Fact, near="x y", tags=[a b], text="")
  on slot.b=
    kind=code
  end
end
# last words
§OUTPUTS
none

§FAILURE_MODES
gone
  action=fail
"""


def test_a_messy_file_gets_the_canonical_layout() -> None:
    parsed = parse(MESSY.encode())
    assert parsed.findings == ()
    assert format_file(parsed) == CANONICAL
    again = parse(CANONICAL.encode())
    assert again.file == parsed.file
    assert format_file(again) == CANONICAL


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_is_shipped_is_in_canonical_layout(path: Path) -> None:
    assert format_file(parse(path.read_bytes())) == path.read_text()


def test_a_long_line_stays_as_long_as_it_is() -> None:
    long = "word " * 5000 + "end"
    text = CANONICAL.replace('display="Messy, but sound"', f'display="{long}"')
    assert format_file(parse(text.encode())) == text
