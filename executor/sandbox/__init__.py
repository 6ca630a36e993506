"""What keeps tools inside their bounds: paths, processes, redaction."""
