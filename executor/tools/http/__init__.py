"""Tools that fetch from hosts that were granted."""
