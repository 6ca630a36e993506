"""How long a host waits for a hook: from the start of the process to the decision, beside an empty process.

    python -m benchmarks.hook [--runs 40] [--json]

Three ways in turn, run after run: `python -c pass` (the floor: an interpreter of the same installation, and
nothing else), the hook with the resident process, and the hook without it. Events of Claude Code, in a folder
with an intent checked out. What the host waits says, on a busy machine, more about the machine; in
brackets the processor's time of the started process, without that of the resident one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from mcl.core.home import open_home
from mcl.plugins.agents.hook.messages import FOLDER, SOCKET
from mcl.plugins.agents.usecases import import_work, select_work

LIMIT_MS = 60.0
MCL = Path(sys.executable).parent / "mcl"
FILE = """active_intents:
  - id: INT-001
    name: "Log people in with tokens"
    status: DRAFT
    created_at: "2026-11-01T08:00:00Z"
    updated_at: "2026-11-02T08:00:00Z"
    owned_scope: ["src/auth/**"]
    constraints: ["Hash passwords with bcrypt"]
    acceptance_criteria: ["A wrong password is answered with 401"]
"""


def events(root: Path) -> dict[str, dict[str, object]]:
    """What is asked about."""
    return {
        "a read": {"tool_name": "Read", "tool_input": {"file_path": f"{root}/src/main.py"}},
        "a command that reads": {
            "tool_name": "Bash",
            "tool_input": {"command": "cd src && git log --oneline -5 | head -3"},
        },
        "a write out of scope (refused, recorded)": {
            "tool_name": "Write",
            "tool_input": {"file_path": f"{root}/docs/index.md", "content": "x"},
        },
        "a write in scope (its file kept first)": {
            "tool_name": "Write",
            "tool_input": {"file_path": f"{root}/src/auth/login.py", "content": "x\n" * 2000},
        },
    }


def once(command: list[str], event: bytes, environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall and processor time of one process, in ms."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=event, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, cpu * 1000


def measure(root: Path, home: Path, runs: int) -> list[dict[str, object]]:
    """A row an event."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "MCL_HOME": str(home)}
    alone = home.with_name("alone")  # the same home, and nobody in it
    shutil.copytree(home, alone, ignore=shutil.ignore_patterns(FOLDER))
    hook = [str(MCL), "hook", "pre-tool-use"]
    rows: list[dict[str, object]] = []
    for name, said in events(root).items():
        times: dict[str, list[tuple[float, float]]] = {"floor": [], "resident": [], "alone": []}
        for run in range(runs):
            event: dict[str, object] = {
                "session_id": "s",
                "cwd": str(root),
                "hook_event_name": "PreToolUse",
                **said,
            }
            given: dict[str, object] = dict(event["tool_input"])  # type: ignore[call-overload]
            # Each call is another one: the same one again and again would not be looked at any more.
            data = json.dumps(
                {**event, "tool_input": {**given, "number": run}, "tool_use_id": f"t{run}"}
            ).encode()
            times["floor"].append(once([sys.executable, "-c", "pass"], b"", environment))
            times["resident"].append(once(hook, data, environment))
            if run < runs // 4:
                own = {**environment, "MCL_HOME": str(alone), "MCL_NO_HELPER": "1"}
                times["alone"].append(once(hook, data, own))
        row: dict[str, object] = {"event": name}
        for way, found in times.items():
            walls, cpus = sorted(one[0] for one in found), sorted(one[1] for one in found)
            row[way] = {
                "wall_best": walls[0],
                "wall_median": statistics.median(walls),
                "wall_p90": walls[int(len(walls) * 0.9)],
                "cpu_median": statistics.median(cpus),
            }
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root, home = Path(place).resolve() / "project", Path(place).resolve() / "home"
        for name in ("src/auth", "docs", ".orchestration"):
            (root / name).mkdir(parents=True)
        (root / ".orchestration/active_intents.yaml").write_text(FILE)
        (root / "src/auth/login.py").write_text("one\n" * 2000)
        with open_home(home) as opened:
            import_work(agree=lambda plan: True, root=root, home=opened)
            assert select_work("INT-001", agent="claude-code", root=root, home=opened).success
        environment = {"PATH": "/usr/bin:/bin", "MCL_HOME": str(home)}
        first = {"session_id": "s", "cwd": str(root), "hook_event_name": "PreToolUse"}
        first |= {"tool_name": "Read", "tool_input": {"file_path": f"{root}/x"}}  # type: ignore[dict-item]
        once([str(MCL), "hook", "pre-tool-use"], json.dumps(first).encode(), environment)
        while not (home / FOLDER / SOCKET).exists():
            time.sleep(0.05)
        time.sleep(1.0)
        rows = measure(root, home, given.runs)
    if given.json:
        print(json.dumps({"load": os.getloadavg()[0], "rows": rows}, indent=2))
        return
    print(f"load {os.getloadavg()[0]:.1f}; ms: best / median / 90 % of what the host waits (processor)\n")
    for row in rows:
        print(row["event"])
        for way in ("floor", "resident", "alone"):
            one: dict[str, float] = row[way]  # type: ignore[assignment]
            print(
                f"  {way:<9} {one['wall_best']:7.1f} / {one['wall_median']:7.1f} / {one['wall_p90']:7.1f}"
                f"   ({one['cpu_median']:.1f})"
            )


if __name__ == "__main__":
    main()
