"""The command `mcl`: its nouns, and the one place where an error becomes text and an exit code.

Exit codes: 0 done; 2 usage; 3 needs clarification; 4 refused or denied; 5 failed while running; 6
verification failed; 70 a fault of mcl itself; 130 interrupted.
"""

import io
import os
import sys
from collections.abc import Sequence

import typer

from ir.errors import FAILED, USAGE, MclError
from mcl.cli import accept, compile, grants, init, key, log, model, plan, replay, run, show, skill
from mcl.cli.arguments import example
from mcl.cli.output import hush, note, write_event
from mcl.cli.safe import safe

INTERNAL, INTERRUPTED = 70, 130

app = typer.Typer(
    name="mcl",
    help="Say what you want in plain words; read it, sign it, run it, replay it.",
    epilog=example(
        'mcl compile "find the word invoice in the folder notes"', "mcl accept @last", "mcl run @last"
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for noun in (init, compile, show, accept, plan, run, log, replay, key, grants, skill, model):
    noun.register(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: this process's) and give its exit code; never raises for bad input."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a C locale must not turn a word into a fault
    code = _guarded(given or ["--help"], as_json="--json" in given)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        hush(sys.stdout)
    return code


def _guarded(given: list[str], *, as_json: bool) -> int:
    try:
        result = app(args=given, prog_name="mcl", standalone_mode=False)
    except MclError as error:
        return _tell(error, as_json=as_json)
    except typer.TyperException as error:
        return _tell(_usage(error), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        note("interrupted")
        return INTERRUPTED
    except SystemExit as end:  # Typer's way out when the reader of a pipe has gone
        return end.code if isinstance(end.code, int) else USAGE
    except OSError as error:
        return _tell(_from_system(error), as_json=as_json)
    except Exception as error:  # the one place where a fault of ours ends; MCL_DEBUG=1 shows it
        if os.environ.get("MCL_DEBUG") == "1":
            raise
        return _tell(_fault(error), as_json=as_json)
    return result if isinstance(result, int) else 0


def _tell(error: MclError, *, as_json: bool) -> int:
    """Say what was wrong, where, and what to do; with --json also as one line on standard output."""
    if as_json:
        write_event({"error": error.to_json()})
    coloured = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    head = "\x1b[31merror:\x1b[0m" if coloured else "error:"
    lines = [f"{head} {safe(error.message)}"]
    lines += [f"  {name:<6}{safe(text)}" for name, text in (("at", error.place), ("fix", error.fix)) if text]
    note("\n".join([*lines, f"  {'code':<6}{error.code}"]))
    return error.exit


def _usage(error: typer.TyperException) -> MclError:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "mcl"
    return MclError("USAGE", error.format_message(), fix=f"{command} --help", exit=USAGE)


def _from_system(error: OSError) -> MclError:
    place = str(error.filename or "")
    return MclError("SYSTEM", error.strerror or str(error), place=place, exit=FAILED)


def _fault(error: Exception) -> MclError:
    return MclError(
        "INTERNAL",
        f"a fault of mcl itself: {type(error).__name__}: {error}",
        fix="nothing that was signed is lost; please report this with the output of the same command "
        "under MCL_DEBUG=1 (see CONTRIBUTING.md)",
        exit=INTERNAL,
    )
