"""Tables summed up and drawn, reminders in calendars; and pages as text that people read (`http/…`)."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "data",
    __name__,
    tools=("calendar/add", "calendar/list", "data/chart", "data/summary"),
    serves=("http/get", "http/request"),
    needs=("icalendar", "lxml", "pygal"),
)
