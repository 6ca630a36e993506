"""Tools that give work to others."""
