"""`mcl skill`: skills, one verb a file."""

from mcl.cli.skill.commands import register

__all__ = ["register"]
