"""Whatever the bytes are, reading them never fails; the same is asked by `make fuzz`, for longer.

MTX_FUZZ_EXAMPLES sets how many texts each test tries.
"""

import os
import re
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import grammars
import skills
from tests.fuzz.fuzz_mtx import examine

MANY = int(os.environ.get("MTX_FUZZ_EXAMPLES", "60"))
HERE = Path(__file__).parent
REAL = [
    path.read_bytes()
    for folder in (Path(skills.__file__).parent, Path(grammars.__file__).parent / "core", HERE / "lenient")
    for path in sorted(folder.rglob("*.mtx"))
]
WORDS = [
    re.sub(rb"\\x(..)", lambda match: bytes.fromhex(match[1].decode()), word).decode()
    for word in re.findall(rb'^"(.*)"$', (HERE.parent / "fuzz" / "mtx.dict").read_bytes(), re.MULTILINE)
] + [*'§<>|[](),:=#"\\é🛫\u00a0\ufeff', "slot.", "<-", "==", "x", "0.5", "{", "}"]
TOKENS = st.lists(
    st.sampled_from([*WORDS, " ", " ", "\n", "\n", "\n  ", "\n    ", "\t", "\r\n", "end\n"]), max_size=120
).map("".join)
quick = settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
@example(b"\xef\xbb\xbf")
@example("§".encode())
@example("§PROCEDURE\nnone\nunknown slot.a b\n  x\nend\n".encode())
@quick
def test_any_bytes_are_read(data: bytes) -> None:
    examine(data)


@given(TOKENS)
@quick
def test_any_words_of_the_language_are_read(text: str) -> None:
    examine(text.encode())
    examine(("§PROCEDURE\n" + text).encode())


@given(st.sampled_from(REAL), st.data())
@quick
def test_any_damage_to_a_real_file_is_read(data: bytes, draw: st.DataObject) -> None:
    for _ in range(draw.draw(st.integers(1, 5))):
        start = draw.draw(st.integers(0, len(data)))
        stop = draw.draw(st.integers(start, min(len(data), start + 40)))
        word = draw.draw(st.sampled_from([*WORDS, "\n", "\n  ", "end\n", ""])).encode()
        data = data[:start] + word + data[stop:]
    examine(data)


@given(st.sampled_from(REAL), st.data())
@quick
def test_any_lines_of_real_files_in_any_order_are_read(data: bytes, draw: st.DataObject) -> None:
    lines = (data + b"\n" + draw.draw(st.sampled_from(REAL))).split(b"\n")
    picked = draw.draw(st.lists(st.sampled_from(lines), max_size=40))
    examine(b"\n".join(picked))
