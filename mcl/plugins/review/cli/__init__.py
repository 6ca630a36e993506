"""`mcl review`: code looked at by rules and by a model, with findings that a program can read."""
