"""Commands that the workspace declares, run by fixed argument lists."""
