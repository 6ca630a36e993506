"""The tools that `mcl mcp serve` offers, a file each."""

from mcl.serve.offered.offered import Offered

__all__ = ["Offered"]
