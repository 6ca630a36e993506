"""What a person can do with an intent: one verb a file, each a plain function over a home."""
