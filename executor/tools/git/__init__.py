"""The git repository in the workspace."""
