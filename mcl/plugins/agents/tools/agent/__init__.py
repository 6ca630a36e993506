"""Tools that speak to other agents."""
