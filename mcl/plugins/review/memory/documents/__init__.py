"""What a repository says of itself: its documents cut into sections, and the conventions of its settings."""

from mcl.plugins.review.memory.documents.bootstrap import Bootstrapped, bootstrap

__all__ = ["Bootstrapped", "bootstrap"]
