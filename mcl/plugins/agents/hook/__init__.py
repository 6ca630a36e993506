"""`mcl hook`: a host's event in, a decision out, fast; and the resident process that makes it fast."""
