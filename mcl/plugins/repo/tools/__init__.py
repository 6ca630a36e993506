"""Tools that know which repositories a person works in, and what stands in their code."""
