"""How long it takes to find out that two thousand patterns of paths share nothing.

    python -m benchmarks.overlap [--patterns 1000] [--pairs 20000] [--json]

Each family is two sets of patterns of which none meets any of the other set, so that nothing ends early. The
whole is `Scope.meeting` of the one set and the other, which compares only what begins with the same name; of
a family that would take more than a minute it is what its pairs take, times their number (`~`). The floor is
a look at each pair: comparing the texts. The last families are made by somebody who wants it to take long,
as long as patterns may be; the time is the processor's.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence

from executor.core.globs import Glob, Scope

_MOST_SECONDS = 60.0

Family = Callable[[int], tuple[str, str]]

FAMILIES: dict[str, Family] = {
    "folders: src/m7/** and lib/m7/**/*.ts": lambda i: (f"src/m{i}/**", f"lib/m{i}/**/*.ts"),
    "one folder: src/m7/** and src/n7/**/*.ts": lambda i: (f"src/m{i}/**", f"src/n{i}/**/*.ts"),
    "one folder: src/*_7.ts and src/*_7.py": lambda i: (f"src/*_{i}.ts", f"src/*_{i}.py"),
    "anywhere: **/f7.ts and **/g7.ts": lambda i: (f"**/f{i}.ts", f"**/g{i}.ts"),
    "stars: *a*a*a…7 and aaa…7": lambda i: ("*a" * 100 + f"*b*{i:03}", "a" * 240 + f"{i:03}"),
    "stars and ?: *aaa…b*7 and ???…a": lambda i: (
        "*" + "a" * 120 + f"b*{i:03}",
        "?" * 120 + "a" * 130 + f"{i:03}",
    ),
    "classes: *[ab][ab]…[cd]*7 and [ae][ae]…7": lambda i: (
        "*" + "[ab]" * 60 + f"[cd]*{i:03}",
        "[ae]" * 110 + f"{i:03}",
    ),
    "folders: **/a/**/a…/b7 and a/a/…/c7": lambda i: ("**/a/" * 30 + f"b{i}", "a/" * 60 + f"c{i}"),
    "folders and stars: **/*a*/*a*…/x/**/7 and ?[a]?a/…/7": lambda i: (
        "**/" + "*a*/" * 20 + f"x/**/{i % 10}",
        "?[a]?a/" * 60 + f"{i % 10}",
    ),
    "braces: {a,b}{c,d}…*7 and {a,b}{c,d}…?7z": lambda i: (
        "{a,b}{c,d}{e,f}{g,h}{i,j}*" + str(i),
        "{a,b}{c,d}{e,f}{g,h}{i,k}?" + f"{i}z",
    ),
    "braces in braces: {a,{b,c{d,…}}}7* and *{b,{a,…}}8": lambda i: (
        "{a,{b,{c,{d,{e,{f,{g,{h,i}}}}}}}}" + f"?{i}*x",
        "*{b,{a,{d,{c,{f,{e,{h,{g,j}}}}}}}}" + f"{i}?y",
    ),
    "braces and folders: **/{a,b}…*/*7 and */{a,b}…*/?z": lambda i: (
        "**/{a,b}{c,d}{e,f}{g,h}{i,j}*/*" + str(i),
        "*/{a,b}{c,d}{e,f}{g,h}{i,k}*/?z",
    ),
}


def measured(family: Family, patterns: int, pairs: int) -> dict[str, object]:
    """Seconds to read both sets and to compare them, microseconds of a pair, and seconds of the floor."""
    texts = [family(i) for i in range(patterns)]
    start = time.process_time()
    ones, others = ([Glob.read(text) for text in side] for side in zip(*texts, strict=True))
    reading = time.process_time() - start
    chance = random.Random(7)
    chosen = [(chance.choice(ones), chance.choice(others)) for _ in range(pairs)]
    spent = [_seconds(part) for part in (chosen[i::10] for i in range(10))]
    pair = statistics.median(spent) * 10 / pairs
    whole, exact = pair * patterns * patterns, pair * patterns * patterns <= _MOST_SECONDS
    if exact:
        one, other = Scope(tuple(ones)), Scope(tuple(others))
        start = time.process_time()
        assert one.meeting(other) is None
        whole = time.process_time() - start
    start = time.process_time()
    assert sum(one.text == other.text for one in ones for other in others) == 0
    floor = time.process_time() - start
    return {"read_s": reading, "pair_us": pair * 1e6, "whole_s": whole, "exact": exact, "floor_s": floor}


def _seconds(pairs: Sequence[tuple[Glob, Glob]]) -> float:
    start = time.process_time()
    assert all(one.meeting(other) is None for one, other in pairs)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patterns", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = {name: measured(family, args.patterns, args.pairs) for name, family in FAMILIES.items()}
    if args.json:
        print(json.dumps(found))
        return
    print(
        f"{args.patterns} x {args.patterns} patterns       read s   a pair µs     whole s     floor s   ratio"
    )
    for name, row in found.items():
        whole, floor = float(str(row["whole_s"])), float(str(row["floor_s"]))
        print(
            f"{name:55} {row['read_s']:8.3f} {row['pair_us']:10.1f}"
            f" {'' if row['exact'] else '~'}{whole:10.2f} {floor:10.3f} {whole / floor:8.1f}"
        )


if __name__ == "__main__":
    main()
