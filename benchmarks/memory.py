"""How long finding takes among many memories, beside the floor of a bare FTS5 query over the same texts.

    python -m benchmarks.memory [--memories 100000] [--runs 9] [--json]

The floor is `SELECT rowid … MATCH … ORDER BY rank LIMIT 10` on an FTS5 table of its own that holds the same
words and nothing else: no versions, no snapshot, no documents read. The texts follow Zipf's law over 30,000
words (the most common one is in two of three memories), 6 to 20 words each. `now` asks the newest snapshot,
`old` one of half the size. The bundle is that of a skill with one tag, 512 tokens.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import median_ms
from executor import FixedClock, Home
from mcl.memory import Memory, MemoryStore, new_memory
from mcl.memory.lessons import bundle

VOCABULARY = 30_000
TYPES = ("Fact", "Event", "Preference", "Goal", "Identity")
AT = "2026-11-21T10:00:00.000Z"
QUERIES = {  # numbers of words by how common they are: 0 is in most memories
    "one rare word": "w5000",
    "one common word": "w50",
    "one word of two in three": "w0",
    "a goal of twelve words": "w3 w1 w40 w900 w0 w7 w2200 w15 w4 w11000 w2 w120",
    "four words, all common": "w1 w2 w4 w6",
}


def texts(count: int) -> Iterator[str]:
    chance = random.Random(1)
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))
    for _ in range(count):
        words = chance.choices(range(VOCABULARY), cum_weights=weights, k=chance.randint(6, 20))
        yield " ".join(f"w{word}" for word in words)


def memories(count: int) -> Iterator[Memory]:
    for place, text in enumerate(texts(count)):
        given = {"type": TYPES[place % 5], "text": text, "id": f"m{place}", "tags": [f"t{place % 50}"]}
        yield new_memory(given, at=AT)


def floor(path: Path, count: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE f USING fts5 (words, content = '', tokenize = 'ascii')")
    rows = ((place, text) for place, text in enumerate(texts(count), 1))
    connection.executemany("INSERT INTO f (rowid, words) VALUES (?, ?)", rows)
    connection.commit()
    return connection


def bare(connection: sqlite3.Connection, query: str) -> list[tuple[int]]:
    match = " OR ".join(f'"{word}"' for word in query.split())
    sql = "SELECT rowid FROM f WHERE f MATCH ? ORDER BY rank LIMIT 10"
    return connection.execute(sql, (match,)).fetchall()


def measured(folder: Path, count: int, runs: int) -> dict[str, object]:
    connection = floor(folder / "floor.db", count)
    with Home.open(folder / "home", clock=FixedClock(AT)) as home:
        store = MemoryStore(home)
        start = time.perf_counter()
        store.write(memories(count))
        written = time.perf_counter() - start
        old = store.snapshot(count // 2)
        rows = []
        for name, query in QUERIES.items():
            rows.append(
                {
                    "what": name,
                    "floor_ms": median_ms(lambda query=query: bare(connection, query), runs),
                    "now_ms": median_ms(
                        lambda query=query: store.memories().find(near=query, limit=10), runs
                    ),
                    "old_ms": median_ms(
                        lambda query=query: store.memories(old).find(near=query, limit=10), runs
                    ),
                }
            )
        goal = QUERIES["a goal of twelve words"]
        work = {
            "bundle of 512 tokens": lambda: bundle(
                store.memories(), goal, types=("Fact", "Preference"), tags=("t7",), tokens=512
            ),
            "find by tag": lambda: store.memories().find(tags=("t7",), limit=10),
            "find by type": lambda: store.memories().find(type="Goal", limit=10),
            "resolve an address": lambda: store.memories().resolve("matrix://cortex/Fact/m500"),
            "put one": lambda: store.put("Fact", f"w1 w2 {random.random()}"),
        }
        others = {name: median_ms(one, runs) for name, one in work.items()}
    return {"memories": count, "write_s": written, "finding": rows, "others_ms": others}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), given.memories, given.runs)
    found["machine"] = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores"
    if given.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{given.memories} memories, written in {found['write_s']:.1f} s\n")
    print(f"{'find, ten best':<28}{'floor ms':>10}{'now ms':>10}{'old ms':>10}{'now / floor':>13}")
    for row in found["finding"]:  # type: ignore[attr-defined]
        ratio = row["now_ms"] / row["floor_ms"]
        print(
            f"{row['what']:<28}{row['floor_ms']:>10.2f}{row['now_ms']:>10.2f}{row['old_ms']:>10.2f}{ratio:>13.2f}"
        )
    print()
    for name, spent in found["others_ms"].items():  # type: ignore[attr-defined]
        print(f"{name:<28}{spent:>10.2f} ms")


if __name__ == "__main__":
    main()
