"""`mcl repo`: work in repositories by a closed contract."""
