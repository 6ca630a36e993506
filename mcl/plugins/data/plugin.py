"""Tables asked about, sorted, joined, converted and drawn; calendars; pages as text (`http/…`)."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "data",
    __name__,
    tools=(
        "calendar/add",
        "calendar/list",
        "data/ask",
        "data/chart",
        "data/convert",
        "data/extract",
        "data/join",
        "data/rows",
        "data/summary",
        "json/query",
    ),
    skills=True,
    answers="mcl.plugins.data.answering:answering",
    moments="mcl.plugins.data.spoken:inputs",
    fills={
        "people of rows": "mcl.plugins.data.people:read_people",
        "note-write": "mcl.plugins.data.rows_added:read_row",
        "folder-make": "mcl.plugins.data.rows_said:read_folders",
        "lines-unique": "mcl.plugins.data.cells:read_doubled",
        "list-edit": "mcl.plugins.data.cells:read_row_gone",
        "table-ask": "mcl.plugins.data.told:read_tables",
        "table-join": "mcl.plugins.data.told:read_join",
        "table-sort": "mcl.plugins.data.told:read_sort",
        "text-replace": "mcl.plugins.data.cells:read_cell",
    },
    serves=("http/get", "http/request"),
    needs=("icalendar", "jmespath", "lxml", "pygal"),
)
