"""Tools that know which repositories a person works in."""
