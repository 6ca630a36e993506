"""MatrixScript: parse, check, digest, format, interpret; and the core modules written in it."""
