"""Trying each tool in a folder of its own, and comparing what it does with what it declares."""
