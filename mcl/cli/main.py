"""The command `mcl`: its nouns, and the one place where an error becomes text and an exit code.

Exit codes: 0 done; 2 usage; 3 needs clarification; 4 refused or denied; 5 failed while running; 6
verification failed; 70 a fault of mcl itself; 130 interrupted, or told to end.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

from mcl.plugins.hooks import FIRST, load_named

TYPE_CHECKING = False  # importing typing takes as long as a hook may
if TYPE_CHECKING:
    from collections.abc import Sequence

    import typer

    from ir import MclError

_TAKEN = "executor.sandbox.redaction"
INTERNAL, INTERRUPTED = 70, 130
_REFUSED = 2
_OBJECTS = 200_000  # made between two collections, of which one takes 10 ms; more than a compile makes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code (without arguments: this process's, and end it); never
    raises for bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    named = FIRST.get(given[0]) if given else None
    code = _answered_first(named, given) if named else None
    code = _carried_out(given) if code is None else code
    if arguments is None:
        _end(code)
    return code


def _carried_out(given: list[str]) -> int:
    from mcl.core.environment import PASSPHRASE  # what it imports takes a hook, which is done here, too long

    if PASSPHRASE in os.environ or _TAKEN in sys.modules:
        from executor.sandbox.redaction import take_variable

        take_variable(PASSPHRASE)
    as_json = "--json" in given
    _prepare_streams(as_json=as_json)
    gc.set_threshold(_OBJECTS)
    # No package that happens to be installed may see or change what is signed; and looking for those that
    # would opens the metadata of every package there is (8 ms).
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    # A model's products of numbers are small: threads would wait for each other, on a busy machine for long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from mcl.cli.signals import ending_as_at_ctrl_c

    with ending_as_at_ctrl_c():
        code = _guarded(given, as_json=as_json) if given else _alone()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from mcl.cli.output import hush

        hush(sys.stdout)
    return code


def _end(code: int) -> None:
    """End at once: Python puts away piece by piece what was made (15 ms), the system takes it back whole.
    It is left to Python where threads go on, or a stream takes no more."""
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        return
    os._exit(code)


def _answered_first(named: str, given: list[str]) -> int | None:
    """What the plug-in answers; without it a refusal, with 2: at any other exit code an agent's host would
    make the call.
    """
    try:
        code = load_named(named)(given[1:])
        return None if code is None else int(code)
    except Exception as problem:  # noqa: BLE001 - whatever keeps it from being loaded
        from contextlib import suppress  # takes a good part of the time that a hook may

        from mcl.core.distribution import install_line

        said = f"mcl {given[0]}: {type(problem).__name__}: {problem}; install it again: {install_line()}\n"
        with suppress(OSError):
            os.write(2, said.encode("utf-8", "backslashreplace"))
        return _REFUSED


def _prepare_streams(*, as_json: bool) -> None:
    """No locale may turn a word into a fault, nor a document into something other than UTF-8; a stream that
    was closed beforehand (`>&-`) swallows what it is given.
    """
    from pathlib import Path

    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115 - lives as long as the process
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if as_json and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def _alone() -> int:
    """`mcl` without a word: a prompt on a terminal, else the help."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return _guarded(["--help"], as_json=False)
    from mcl.cli.session import PromptSession

    return PromptSession(lambda words: _guarded(words, as_json="--json" in words)).serve()


def _guarded(given: list[str], *, as_json: bool) -> int:
    if given == ["--version"]:  # scripts ask this often, and it needs nothing else
        from mcl.cli.output import write_line
        from mcl.core.distribution import VERSION

        write_line(f"mcl {VERSION}")
        return 0
    import typer

    from mcl.cli.app import command_for, require_name_of_today, with_command

    try:
        require_name_of_today(given)
        given = with_command(given)
        result = command_for(given[0])(args=given, prog_name="mcl", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        from mcl.cli.output import note

        note("interrupted")
        return INTERRUPTED
    except SystemExit as end:  # Typer's way out when the reader of a pipe has gone
        return end.code if isinstance(end.code, int) else INTERNAL
    except Exception as error:  # noqa: BLE001 - the one place where errors end; a fault of ours is told as one
        return _tell(_explained(error), as_json=as_json)
    return result if isinstance(result, int) else 0


def _explained(error: Exception) -> MclError:
    """Any error as one with a code and an exit code; a fault of ours is raised again with MCL_DEBUG=1."""
    import typer

    from ir import MclError

    if isinstance(error, MclError):
        return error
    if isinstance(error, typer.TyperException):
        return _usage(error)
    if isinstance(error, OSError):
        return _from_system(error)
    if os.environ.get("MCL_DEBUG") == "1":
        raise error
    return _fault(error)


def _tell(error: MclError, *, as_json: bool) -> int:
    """Say what was wrong, where, and what to do; with --json also as one line on standard output."""
    from mcl.cli.output import note_error, write_event

    if as_json:
        write_event({"error": error})
    note_error(error)
    return error.exit


def _usage(error: typer.TyperException) -> MclError:
    from ir import MclError
    from ir.errors import USAGE

    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "mcl"
    said = " ".join(error.format_message().replace(": Value error, ", ": ").split())
    return MclError("USAGE", said, fix=f"{command} --help", exit=USAGE)


def _from_system(error: OSError) -> MclError:
    import errno

    from ir import MclError
    from ir.errors import FAILED

    place = str(error.filename or "")
    fix = "make room on the disk" if error.errno == errno.ENOSPC else "see that it is there and may be used"
    return MclError("SYSTEM", error.strerror or str(error), place=place, fix=fix, exit=FAILED)


def _fault(error: Exception) -> MclError:
    from ir import MclError

    return MclError(
        "INTERNAL",
        f"a fault of mcl itself: {type(error).__name__}: {error}",
        fix="nothing that was signed is lost; please report this with the output of the same command under "
        "MCL_DEBUG=1 (see CONTRIBUTING.md)",
        exit=INTERNAL,
    )
