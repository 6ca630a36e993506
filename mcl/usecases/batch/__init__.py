"""Many goals at once: JSON lines in, JSON lines out."""

from mcl.usecases.batch.run import BatchSummary, compile_batch

__all__ = ["BatchSummary", "compile_batch"]
