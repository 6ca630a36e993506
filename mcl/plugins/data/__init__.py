"""Tables, charts and calendars."""
