"""What authors of skills need, and nobody else."""

from mcl.plugins.hooks import Plugin

_VERBS = ("new", "publish", "test", "fmt", "hash", "parse", "check")

PLUGIN = Plugin(
    "authoring",
    __name__,
    commands={f"skill {verb}": "mcl.plugins.authoring.cli.skills:verbs" for verb in _VERBS},
)
