"""Files of the workspace."""
