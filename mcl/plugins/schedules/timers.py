"""The system's scheduler: a systemd timer of the user, or a line of the crontab."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from executor.core.errors import ToolError
from executor.core.files import whole_file
from executor.sandbox.process import Finished, run_command
from executor.store.home import Home
from mcl.core.environment import HOME
from mcl.core.errors import InputError
from mcl.core.event_loop import at_once

Kind = Literal["systemd", "cron"]
_NAME: Final = "mcl-schedule"
_MARK: Final = "# mcl schedule"
_SECONDS: Final = 20.0
_SERVICE: Final = """\
[Unit]
Description=What mcl was told to do again and again

[Service]
Type=oneshot
Environment="{variable}={home}"
ExecStart="{python}" -m mcl schedule run --once
"""
_TIMER: Final = """\
[Unit]
Description=Looks for what mcl is to do now

[Timer]
OnCalendar=*:0/5
Persistent=true

[Install]
WantedBy=timers.target
"""


@dataclass(frozen=True)
class Timer:
    """What would be, or was, written. files: by their paths; line: of the crontab; commands: what makes
    it count."""

    kind: Kind
    files: dict[str, str]
    line: str
    commands: tuple[tuple[str, ...], ...]


def timer(home: Home, kind: Kind | None = None) -> Timer:
    """What looks for what is due every five minutes: of systemd where it is here, else of cron. Raises
    InputError TIMER_PATH for a path that neither can name."""
    kind = kind or ("systemd" if shutil.which("systemctl") else "cron")
    python, place = sys.executable, str(home.path)
    if any(one in f"{python}{place}" for one in "\n\r\"\\%'$`"):
        fix = "give the home a plainer path, or run mcl schedule run yourself"
        raise InputError(
            "TIMER_PATH", "a path here has signs that schedulers read otherwise", place=place, fix=fix
        )
    if kind == "cron":
        line = f'*/5 * * * * {HOME}="{place}" "{python}" -m mcl schedule run --once  {_MARK}'
        return Timer("cron", {}, line, ())
    folder = _folder()
    files = {
        str(folder / f"{_NAME}.service"): _SERVICE.format(variable=HOME, home=place, python=python),
        str(folder / f"{_NAME}.timer"): _TIMER,
    }
    reload, enable = ("systemctl", "--user", "daemon-reload"), ("systemctl", "--user", "enable", "--now")
    return Timer("systemd", files, "", (reload, (*enable, f"{_NAME}.timer")))


def _folder() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME", "") or str(Path.home() / ".config")
    return Path(base) / "systemd" / "user"


def install(made: Timer) -> tuple[str, ...]:
    """Write it, and have it count. Gives what could not be done here, as commands for the person. Raises
    InputError TIMER_REFUSED where crontab refuses it; OSError."""
    if made.kind == "cron":
        _crontab([*_others(), made.line])
        return ()
    for path, text in made.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(Path(path), mode=0o644) as file:
            file.write(text.encode())
    return tuple(" ".join(one) for one in made.commands if not _done(one))


def installed() -> tuple[str, ...]:
    """Where a timer of ours is: files, and "crontab"."""
    files = [
        str(one) for one in (_folder() / f"{_NAME}.timer", _folder() / f"{_NAME}.service") if one.exists()
    ]
    return (*files, *(("crontab",) if any(_MARK in line for line in _lines()) else ()))


def remove() -> tuple[str, ...]:
    """Take it away, wherever it is; gives what was removed."""
    found = installed()
    if any(one != "crontab" for one in found):
        _done(("systemctl", "--user", "disable", "--now", f"{_NAME}.timer"))
        for one in found:
            if one != "crontab":
                Path(one).unlink(missing_ok=True)
        _done(("systemctl", "--user", "daemon-reload"))
    if "crontab" in found:
        _crontab(_others())
    return found


def _lines() -> list[str]:
    done = _run(("crontab", "-l"))
    return done.out.decode("utf-8", "replace").splitlines() if done is not None and done.status == 0 else []


def _others() -> list[str]:
    return [line for line in _lines() if _MARK not in line]


def _crontab(lines: Sequence[str]) -> None:
    done = _run(("crontab", "-"), said="".join(f"{line}\n" for line in lines).encode())
    if done is None or done.status != 0:
        why = (
            done.err.decode("utf-8", "replace").strip()[:300]
            if done is not None
            else "there is no crontab here"
        )
        fix = "run mcl schedule run yourself, or let another scheduler call mcl schedule run --once"
        raise InputError("TIMER_REFUSED", why, place="crontab", fix=fix)


def _done(command: tuple[str, ...]) -> bool:
    done = _run(command)
    return done is not None and done.status == 0


def _run(command: tuple[str, ...], said: bytes = b"") -> Finished | None:
    """Run a program of the system; None where it is not here or takes too long."""
    program = shutil.which(command[0])
    if program is None:
        return None
    kept = (
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "DBUS_SESSION_BUS_ADDRESS",
    )
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    run = partial(
        run_command,
        (program, *command[1:]),
        cwd=Path("/"),
        environment=environment,
        max_output=1 << 20,
        said=said,
        seconds=_SECONDS,
        alone=True,
    )
    try:
        return at_once(run)
    except (ToolError, TimeoutError):
        return None
