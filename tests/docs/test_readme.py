"""The README's transcript is what `docs/demo.sh` prints, but for ids, hashes, keys and times."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIES = (
    (re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}"), "<id>"),
    (re.compile(r"did:key:\w+"), "<key>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<hash>"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<short hash>"),
    (re.compile(r"\b\d+ ms\b|\b\d+\.\d+ s\b"), "<time>"),
    (re.compile(r"\b0\.\d+\b|\b1\.00\b"), "<share>"),
    (re.compile(r"\s+"), " "),
)


def plain(text: str) -> str:
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text.strip()


def test_the_transcript_in_the_readme_is_what_the_demo_prints(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.search(r"```console\n(.*?)```", readme, re.DOTALL)
    assert shown is not None
    command = Path(sys.executable).parent / "mcl"
    assert command.exists(), "the package must be installed: make test does it"
    env = {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}
    env.pop("MCL_HOME", None)
    run = subprocess.run(
        ["sh", str(ROOT / "docs" / "demo.sh"), str(tmp_path)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert plain(run.stdout) == plain(shown[1])
