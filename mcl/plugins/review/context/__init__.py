"""What a reviewer is told before a review: what is remembered and known of the file, within a budget."""

from mcl.plugins.review.context.telling import BUDGET, Known, Part, Told, context_for

__all__ = ["BUDGET", "Known", "Part", "Told", "context_for"]
