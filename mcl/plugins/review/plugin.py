"""Code looked at by rules and by a model; and whether a repository may be released."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "review",
    __name__,
    needs=("bandit",),
    commands={
        "review": "mcl.plugins.review.cli.commands:register_review",
        "release": "mcl.plugins.review.cli.commands:register_release",
    },
    tools=(
        "review/conclude",
        "review/context",
        "review/decide",
        "review/look",
        "review/map",
        "review/remember",
        "review/scan",
    ),
    runs="mcl.plugins.review.usecases.earlier:RUNS",
)
