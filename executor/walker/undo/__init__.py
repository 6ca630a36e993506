"""Keeping files as they were before a tool writes (`images`), and putting them back (`undo`)."""
