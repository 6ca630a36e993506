"""`mcl repo`: work in repositories by a closed contract."""

from mcl.plugins.repo.cli.commands import register

__all__ = ["register"]
