"""Programs of a repository: its tests, its linters, an editor, what launches."""
