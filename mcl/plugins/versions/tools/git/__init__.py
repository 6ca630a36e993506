"""What a git repository holds; what changes it, or sends of it."""
