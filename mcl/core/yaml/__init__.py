"""YAML with the place of each value, as people write it by hand."""
