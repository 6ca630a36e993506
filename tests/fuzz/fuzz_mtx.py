"""Coverage-guided fuzzing of the MatrixScript reader.

    python tests/fuzz/fuzz_mtx.py -max_total_time=600 [libFuzzer options] [CORPUS FOLDERS]

Whatever the bytes are: parse, check, digest, format and JSON never raise; findings lie inside the text; what
is formatted reads as the same tree. Needs the package of the group `fuzz` (`make fuzz` installs it).
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def examine(data: bytes) -> None:
    """Raise for anything that the reader of the language must not do with these bytes."""
    from mcl.language.mtx.codec import file_digest, packed, tree_text, unpacked
    from mcl.language.mtx.layout import format_file
    from mcl.language.mtx.parser import findings_of, parse
    from mcl.language.mtx.procedure import interpret
    from mcl.language.mtx.source import show

    parsed = parse(data)
    findings = findings_of(parsed, name="a")
    assert len(findings) <= 200
    for finding in findings if parsed.text else ():
        assert 0 <= finding.line <= parsed.text.count("\n") + 1, finding
        assert show(finding, "SKILL.mtx", parsed.text)
    digest = file_digest(parsed.file)
    assert unpacked(packed(parsed.file)) == parsed.file
    if len(data) < 4000:
        tree_text(parsed.file)
    if not parsed.ok:
        return
    again = parse(format_file(parsed).encode())
    assert again.findings == (), again.findings
    assert again.file == parsed.file
    assert file_digest(again.file) == digest
    assert format_file(again) == again.text
    if all(finding.severity == "warning" for finding in findings):
        verbs = parsed.file.settings().get("mcl.verbs", "find").split() or ["find"]
        interpret(_Script(parsed.file), verb=verbs[0], prose="a {b}", confidence=0.5, unknowns=["x"])


class _Script:
    """A file as the interpreter takes it."""

    def __init__(self, file: object) -> None:
        self.file = file


def seeds() -> list[Path]:
    """Folders of good and of bad files to begin with."""
    return [ROOT / "tests" / "mtx" / "lenient", ROOT / "grammars" / "core", *(ROOT / "skills").glob("*/")]


def main() -> None:
    """Run libFuzzer until it is told to stop, or finds something."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install --group fuzz, or make fuzz")
    with atheris.instrument_imports(include=["mcl.language.mtx", "ir"]):
        pass
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    corpora = [word for word in sys.argv[1:] if not word.startswith("-")]
    defaults = [
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-max_len=6000",
        f"-dict={Path(__file__).with_name('mtx.dict')}",
    ]
    words = [sys.argv[0], *defaults, *options, *(corpora or ()), *(str(folder) for folder in seeds())]
    atheris.Setup(words, examine)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
