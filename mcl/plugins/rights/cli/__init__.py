"""`mcl grant`, `mcl policy`, `mcl key` and `mcl agent`."""
