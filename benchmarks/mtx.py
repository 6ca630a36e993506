"""How long MatrixScript takes: many skills (cold, and from the cache), and one file of any size and kind.

    python -m benchmarks.mtx [--skills 200] [--runs 7] [--sizes 10000,100000,1000000] [--json]

The floor of the first table is reading the bytes of the same files and taking their sha256; the peers are
tomllib on TOML of the same size, and Lark alone, without tree, checks and errors. The second table shows
that time grows with the size and no faster: `growth` is the time a byte takes in the largest file against
that in the smallest (1.0: linear).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import median_ms

SECTIONS = ["SKILL", "INPUTS", "CORTEX", "TOOLS", "SUB_SKILLS", "PROCEDURE", "OUTPUTS", "FAILURE_MODES"]


def write_skills(folder: Path, count: int) -> int:
    """Copies of the shipped skills under names of their own; returns the bytes written."""
    import skills

    shipped = sorted(path.parent for path in Path(skills.__file__).parent.glob("*/plan.yaml"))
    size = 0
    for number in range(count):
        source, name = shipped[number % len(shipped)], f"skill-{number:04}"
        (folder / name).mkdir(parents=True)
        for file in ("SKILL.mtx", "plan.yaml"):
            text = (source / file).read_text(encoding="utf-8").replace(f"id={source.name}\n", f"id={name}\n")
            size += (folder / name / file).write_text(text, encoding="utf-8")
    return size


def as_toml(text: str) -> str:
    """Lines of TOML of about the same number and length."""
    lines = (line for line in text.split("\n") if line.strip())
    return "\n".join(f"k{number} = {json.dumps(line[5:])}" for number, line in enumerate(lines))


def many(count: int, runs: int) -> dict[str, float]:
    """Medians in ms for all skills together."""
    from mcl.language.mtx.lexer import lexer
    from mcl.language.skills import find_skills

    with tempfile.TemporaryDirectory() as made:
        folder, cache = Path(made) / "skills", Path(made) / "cache"
        write_skills(folder, count)
        files = sorted(folder.glob("*/*"))
        texts = [path.read_text(encoding="utf-8") for path in files if path.name == "SKILL.mtx"]
        tomls = [as_toml(text) for text in texts]
        start = time.perf_counter()
        bare = lexer().lark
        grammar = (time.perf_counter() - start) * 1000
        found = find_skills([folder], cache=cache)
        if len(found) != count:
            raise SystemExit(f"{count - len(found)} skills are broken: {found.broken}")

        def floor() -> None:
            for path in files:
                hashlib.sha256(path.read_bytes()).hexdigest()

        figures = {
            "floor: read and sha256": median_ms(floor, runs),
            "cold, no cache": median_ms(lambda: find_skills([folder]), runs) + grammar,
            "of which the grammar, once": grammar,
            "warm, from the cache": median_ms(lambda: find_skills([folder], cache=cache), runs),
            "warm, and every tree": median_ms(
                lambda: [skill.file for skill in find_skills([folder], cache=cache)], runs
            ),
            "Lark alone": median_ms(lambda: [bare.parse(text) for text in texts], runs),
            "tomllib, same size": median_ms(lambda: [tomllib.loads(text) for text in tomls], runs),
        }
        figures["warm / floor"] = figures["warm, from the cache"] / figures["floor: read and sha256"]
        figures["cold / Lark alone"] = figures["cold, no cache"] / figures["Lark alone"]
        figures["cold, a skill"] = figures["cold, no cache"] / count
    return figures


def whole(**bodies: str) -> str:
    """A file with these sections, `none` in the others."""
    head = "id=a\nversion=1.0.0\ndescription=a\nmcl.verbs=find\n"
    return "".join(
        f"§{name}\n{bodies.get(name, head if name == 'SKILL' else 'none' + chr(10))}" for name in SECTIONS
    )


def filled(line: Callable[[int], str], size: int) -> str:
    """Numbered lines up to a size in characters."""
    parts, length, number = [], 0, 0
    while length < size:
        parts.append(line(number))
        length += len(parts[-1])
        number += 1
    return "".join(parts)


def nested(size: int) -> str:
    """Blocks 999 deep (as deep as the size allows), then more of them side by side."""
    depth = min(999, int(size**0.5))
    one = "".join(f"{' ' * level}on slot.s{level % 7}=v{level}\n" for level in range(depth))
    one += "".join(f"{' ' * level}end\n" for level in reversed(range(depth)))
    return one * max(1, size // len(one))


def many_conditions(number: int) -> str:
    kinds = (f"verb=x:v{number}", f"confidence<0.{number}", f"slot.s{number % 500}=v{number}")
    return f"on {kinds[number % 3]}\n  kind=write\nend\n"


KINDS: dict[str, Callable[[int], str]] = {
    "settings": lambda n: whole(SKILL=filled(lambda i: f"key.k{i}=some value {i}\n", n)),
    "slots": lambda n: whole(INPUTS=filled(lambda i: f"slot s{i}: string\n  optional\n  hint=x\n", n)),
    "blocks": lambda n: whole(PROCEDURE=filled(many_conditions, n)),
    "deep blocks": lambda n: whole(PROCEDURE=nested(n)),
    "resolve lines": lambda n: whole(
        PROCEDURE=filled(lambda i: f"resolve slot.s{i} <- cortex.find(type=Fact, limit={i + 1})\n", n)
    ),
    "unknown slots": lambda n: whole(
        INPUTS=filled(lambda i: f"slot s{i}: string\n", n // 2),
        PROCEDURE=filled(lambda i: f"unknown slot.t{i}\nend\n", n // 2),
    ),
    "places": lambda n: whole(
        PROCEDURE='prompt\n  system="s"\n  user="' + filled(lambda i: f"{{slot.x{i}}} ", n) + '"\nend\n'
    ),
    "tools": lambda n: whole(TOOLS=filled(lambda i: f"matrix://tool/a{i}/b@1.0.{i}\n", n)),
    "failures": lambda n: whole(FAILURE_MODES=filled(lambda i: f"f{i}\n  action=fail\n", n)),
    "one long line": lambda n: whole(SKILL="id=a\ndescription=" + "word " * (n // 5) + "\n"),
    "one long string": lambda n: whole(SKILL='id="' + '\\n\\"' * (n // 4) + '"\n'),
    "a long list": lambda n: whole(INPUTS="slot a: string[]\n  default=[" + "ab " * (n // 3) + "]\n"),
    "a long enum": lambda n: whole(INPUTS=f"slot a: enum<{'|'.join(str(i) for i in range(n // 7))}>\n"),
    "comments": lambda n: whole(SKILL=filled(lambda i: f"  # comment {i}\n", n)),
    "blank lines": lambda n: whole(SKILL="  \n" * (n // 3)),
    "errors": lambda n: whole(SKILL=filled(lambda i: f"nothing {i} =\n", n)),
    "junk": lambda n: whole(SKILL=filled(lambda i: f'a{i}="b" c\n', n)),
    "open blocks": lambda n: whole(PROCEDURE="prompt\n" * (n // 7)),
    "stray ends": lambda n: whole(PROCEDURE="end\n" * (n // 4)),
    "doubled keys": lambda n: whole(SKILL="a=b\n" * (n // 4)),
    "doubled slots": lambda n: whole(INPUTS="slot a: string\n" * (n // 15)),
    "quotes": lambda n: whole(SKILL='id="' + '"' * n + "\n"),
    "backslashes": lambda n: whole(SKILL='id="' + "\\" * n + '"\n'),
    "hashes": lambda n: whole(SKILL="id=a" + "#" * n + "\n"),
    "dots": lambda n: whole(SKILL="a" + ".a" * (n // 2) + "\n"),
    "blanks": lambda n: whole(SKILL="id" + " " * n + "\n"),
    "words": lambda n: whole(SKILL="a " * (n // 2) + "\n"),
    "section signs": lambda n: "§" * (n // 2) + "\n",
    "tabs": lambda n: whole(SKILL="\ta=b\n" * (n // 5)),
    "control characters": lambda n: "\0\n" * (n // 2),
}


def growth(sizes: list[int]) -> dict[str, dict[str, float]]:
    """Ms for each kind of file and size: parse, check, digest, and format where there is no error."""
    from mcl.language.mtx.codec import file_digest
    from mcl.language.mtx.layout import format_file
    from mcl.language.mtx.parser import findings_of, parse

    parse(whole().encode())
    table = {}
    for kind, make in KINDS.items():
        row = {}
        for size in sizes:
            data = make(size).encode()
            parts = []
            for _ in range(3 if size <= 100_000 else 1):
                start = time.perf_counter()
                parsed = parse(data)
                read = time.perf_counter()
                findings_of(parsed)
                checked = time.perf_counter()
                file_digest(parsed.file)
                if parsed.ok:
                    format_file(parsed)
                parts.append((time.perf_counter() - start, read - start, checked - read))
            whole_time, read_time, check_time = min(parts)
            row[f"{size}"] = whole_time * 1000
        row["parse"], row["check"] = read_time * 1000, check_time * 1000
        first, last = sizes[0], sizes[-1]
        row["growth"] = (row[f"{last}"] / last) / (row[f"{first}"] / first)
        table[kind] = row
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--skills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    figures = many(options.skills, options.runs)
    table = growth(sizes)
    if options.json:
        print(json.dumps({"skills ms": figures, "growth ms": table}, indent=2))
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"\n{options.skills} skills, ms (median of {options.runs})")
    for name, value in figures.items():
        print(f"  {name:28}{value:9.2f}")
    columns = [*(f"{size}" for size in sizes), "parse", "check", "growth"]
    print(f"\none file, ms by size in bytes\n  {'':22}" + "".join(f"{column:>10}" for column in columns))
    for kind, row in table.items():
        print(f"  {kind:22}" + "".join(f"{row[column]:10.2f}" for column in columns))


if __name__ == "__main__":
    main()
