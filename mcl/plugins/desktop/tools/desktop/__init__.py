"""Notices on the screen, and the printer."""
