"""Python of a stranger, compiled in memory by a process of its own."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from sound import looked, write

from mcl.plugins.review.release.compilation import failures, python_files


def test_compiling_runs_and_writes_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    write(tmp_path, "here/a.py", f"open({str(mark)!r}, 'w')\n")
    tree = looked(tmp_path / "here")
    assert anyio.run(failures, tree, python_files(tree)) == []
    assert not mark.exists()
    assert [one.name for one in (tmp_path / "here").iterdir()] == ["a.py"]


@pytest.mark.parametrize(
    "source",
    [
        b"x = '\0'\n",
        b"# coding: no-such-coding\n",
        b"x = '\xff'\n",
        b"(" * 5000,
        b"-" * 200_000 + b"1",
        b"x" + b".y" * 200_000 + b"(",
        b"1" * 100_000,
        b"if 1:\n" + b"".join(b" " * n + b"if 1:\n" for n in range(1, 200)),
        b"f'" + b"{" * 3000,
    ],
    ids=range(9),
)
def test_a_source_that_is_made_to_break_a_compiler_is_told(source: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(source)
    (tmp_path / "good.py").write_text("x = 1\n")
    tree = looked(tmp_path)
    assert [one.path for one in anyio.run(failures, tree, python_files(tree))] == ["bad.py"]


def test_a_compiler_that_ends_is_started_again_behind_the_file_it_ended_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcl.plugins.review.release import compilation as compiling

    text = compiling._CHILD.read_text().replace(
        "        compile(source", '        b"BOOM" in source and os._exit(1)\n        compile(source'
    )
    write(tmp_path, "compiler.py", f"import os\n{text}")
    monkeypatch.setattr(compiling, "_CHILD", tmp_path / "compiler.py")
    for number in range(12):
        write(
            tmp_path,
            f"work/m{number:02}.py",
            "BOOM\n" if number in (3, 7) else "x = (\n" if number == 9 else "",
        )
    tree = looked(tmp_path / "work")
    assert [one.path for one in anyio.run(failures, tree, python_files(tree))] == [
        "m03.py",
        "m07.py",
        "m09.py",
    ]
    monkeypatch.setattr(compiling, "_MOST_ENDS", 1)
    found = anyio.run(failures, tree, python_files(tree))
    assert [one.path for one in found if not one.tried] == [f"m{number:02}.py" for number in range(4, 12)]
