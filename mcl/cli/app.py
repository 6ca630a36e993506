"""The commands of `mcl` by name. Nothing heavy is imported before a command runs."""

import typer

from mcl.cli import (
    accept,
    compile,
    gate,
    grants,
    init,
    key,
    log,
    model,
    plan,
    replay,
    run,
    show,
    skill,
)
from mcl.cli.arguments import example

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
for noun in (init, compile, show, accept, plan, run, gate, log, replay, key, grants, skill, model):
    noun.register(app)
