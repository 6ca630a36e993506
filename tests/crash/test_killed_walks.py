"""A run is killed at random points, again and again: no mark is missing, none doubled, the journal holds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import killed_walks
import pytest
from walks import NODE, Walks, parallel, sequence, tool

from executor import Home
from ir import PlanStepBody

KILLED = -signal.SIGKILL


class Marks:
    """A server that counts: each name once for every key under which it was asked for."""

    def __init__(self) -> None:
        self.keys: dict[str, set[str]] = {}
        marks = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                marks.keys.setdefault(self.path[1:], set()).add(self.headers["Idempotency-Key"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def marks() -> Iterator[Marks]:
    found = Marks()
    yield found
    found.server.shutdown()
    found.server.server_close()


def mark(id: str) -> NODE:
    return tool(id, "test/mark", "write", name=id)


def append(id: str) -> NODE:
    return tool(id, "fs/append", "write", path="log.txt", content=id)


def write(id: str) -> NODE:
    return tool(id, "fs/write", "write", path=f"files/{id}.txt", content=id)


def sixty() -> NODE:
    """A plan of 60 nodes: calls that may be repeated and calls that may not, in order and at once."""
    rounds = [
        sequence(
            f"r{n}",
            append(f"a{n}"),
            parallel(
                f"p{n}",
                mark(f"m{n}"),
                write(f"w{n}"),
                sequence(f"s{n}", append(f"b{n}"), mark(f"o{n}")),
                write(f"v{n}"),
            ),
            append(f"c{n}"),
        )
        for n in range(5)
    ]
    return sequence(
        "root", *rounds, seeded(), *(append(f"z{n}") for n in range(3)), mark("end"), write("last")
    )


SEEDS = 4


def seeded() -> NODE:
    """What is done for each of four files, and what is not done at all."""
    listed = tool("listed", "fs/list", path="seed")
    each = sequence(
        "ms",
        tool("ma", "fs/append", "write", path="log.txt", content="m/${m.output.number}/ma"),
        tool("mm", "test/mark", "write", name="m-${m.output.number}"),
    )
    over = {"over": "${listed.output.entries[*].path}", "most": 8, "scope_uri": "matrix://scope/read+write"}
    never = {**mark("never"), "when": {"of": "${listed.output.count}", "test": "at_least", "value": "5"}}
    return sequence("seeded", listed, {"id": "m", "kind": "map", "map": over, "children": [each]}, never)


class Runs:
    """Walks of one intent in processes that can be killed."""

    def __init__(self, place: Path, intent: str, port: int) -> None:
        command = [sys.executable, killed_walks.__file__, str(place / "home"), str(place / "work"), intent]
        self._program = subprocess.Popen(
            [*command, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def walk(self, kill_after: float | None = None) -> int:
        """One more walk, killed after so many seconds if it is still there. Gives its exit status."""
        program = self._program
        assert program.stdin
        assert program.stdout
        program.stdin.write("walk\n")
        program.stdin.flush()
        child = int(program.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return int(program.stdout.readline())

    def end(self) -> None:
        self._program.communicate("end\n", timeout=60)


def torment(place: Path, marks: Marks, kills: int, chance: random.Random) -> None:
    """Kill runs of plans of sixty nodes until so many were killed, and look at each that came to its end."""
    killed, plans, longest = 0, 0, 0.4
    while killed < kills:
        plans += 1
        here = place / f"plan{plans}"
        (here / "work" / "seed").mkdir(parents=True)
        for number in range(SEEDS):
            (here / "work" / "seed" / f"{number}.txt").touch()
        marks.keys.clear()
        with Home.open(here / "home") as home:
            walks = Walks(home, here / "work")
            walks.tools = [killed_walks.marking(marks.server.server_port)]
            intent = walks.accept(sixty())
        runs, status = Runs(here, intent, marks.server.server_port), KILLED
        while status == KILLED:
            began = time.monotonic()
            status = runs.walk(chance.uniform(0, longest) if killed < kills else None)
            if status == 0:  # how long a run may live: points near the end are to be met too
                longest = max(0.1, min(longest, time.monotonic() - began))
            killed += status == KILLED
            with Home.open(here / "home") as home:
                assert home.journal.verify().findings == []
                if home.journal.view(intent).state == "completed":  # killed after all was done
                    status = 0
        runs.end()
        assert status == 0
        look(here, marks, intent)


def look(place: Path, marks: Marks, intent: str) -> None:
    """Every effect happened exactly once, and nobody was asked about what may be repeated."""
    own = [node for node in below(sixty()) if node["id"] not in ("ms", "ma", "mm")]
    nodes = [node for node in own if node["kind"] == "tool_call" and node["id"] != "never"]
    appended = [node["id"] for node in nodes if "append" in node["tool_call"]["tool_ref"]]
    marked = [node["id"] for node in nodes if "mark" in node["tool_call"]["tool_ref"]]
    each = [f"m/{number}/" for number in range(1, SEEDS + 1)]
    appended += [f"{one}ma" for one in each]
    marked += [f"m-{number}" for number in range(1, SEEDS + 1)]
    files = [node["id"] for node in nodes if "write" in node["tool_call"]["tool_ref"]]
    assert Counter((place / "work/log.txt").read_text().split()) == Counter(appended)
    assert {name: len(keys) for name, keys in marks.keys.items()} == dict.fromkeys(marked, 1)
    assert {one.stem: one.read_text() for one in (place / "work/files").iterdir()} == {id: id for id in files}
    with Home.open(place / "home") as home:
        view = home.journal.view(intent, fresh=True)
        bodies = [one.body for one in home.journal.envelopes(intent) if isinstance(one.body, PlanStepBody)]
    assert view.state == "completed"
    ended = dict.fromkeys([node["id"] for node in own], "completed") | {"never": "skipped"}
    assert dict(view.nodes) == ended | {
        f"{one}{id}": "completed" for one in each for id in ("ms", "ma", "mm")
    }
    asked = Counter((place / "asked.txt").read_text().split()) if (place / "asked.txt").exists() else {}
    again = Counter(body.node_id for body in bodies if body.status == "running")
    assert set(asked) <= set(appended)
    assert {id for id in appended if again[id] > 1} <= set(asked)


def below(node: NODE) -> list[NODE]:
    return [node, *(one for child in node.get("children", []) for one in below(child))]


def test_a_run_that_is_killed_again_and_again_leaves_each_mark_once(tmp_path: Path, marks: Marks) -> None:
    torment(tmp_path, marks, 12, random.Random(1))


@pytest.mark.slow
def test_a_run_that_is_killed_at_two_hundred_points_leaves_each_mark_once(
    tmp_path: Path, marks: Marks
) -> None:
    torment(tmp_path, marks, 200, random.Random(2))
