"""Keys and whose signatures count."""
