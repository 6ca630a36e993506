"""What agents and people changed in a governed folder, a line a change, each bound to the one before."""
