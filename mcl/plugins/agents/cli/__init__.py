"""`mcl work`: what coding agents may work on, and who does."""
