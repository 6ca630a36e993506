"""The tools that `mcl mcp serve` offers, a file each."""

from mcl.mcp.offered.offered import (
    Caller,
    Filled,
    Form,
    Offered,
    Reply,
    Wanted,
    refused,
    refused_at,
    refused_by,
)

__all__ = ["Caller", "Filled", "Form", "Offered", "Reply", "Wanted", "refused", "refused_at", "refused_by"]
