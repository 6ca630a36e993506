"""What changes a git repository, or sends of it."""
