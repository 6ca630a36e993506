"""What a reviewer is told before a review: what is remembered and known of the file, within a budget."""

from mcl.plugins.review.context.telling import BUDGET, ContextPart, FileKnowledge, ReviewContext, context_for

__all__ = ["BUDGET", "ContextPart", "FileKnowledge", "ReviewContext", "context_for"]
