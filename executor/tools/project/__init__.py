"""What a folder of the workspace is: its sources, its tests and linters, and what git says of it."""
