"""What reviews remember of a workspace: what they found, what was decided, what is known."""
