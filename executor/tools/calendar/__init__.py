"""Calendars in files."""
