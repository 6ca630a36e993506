"""What a model is asked in a review: structure, review, consistency."""

from mcl.plugins.review.passes.reviewing import Reviewing

__all__ = ["Reviewing"]
