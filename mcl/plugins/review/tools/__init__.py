"""Tools of reviews of code."""
