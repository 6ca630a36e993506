"""Everyday work with text files line by line, sums and days, and the skills by which goals reach it."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "text",
    __name__,
    tools=(
        "calc/days",
        "calc/expression",
        "calc/sum",
        "text/add",
        "text/answer",
        "text/count",
        "text/entry",
        "text/head",
        "text/join",
        "text/lines",
        "text/replace",
        "text/sort",
        "text/unique",
    ),
    skills=True,
    fills={
        "calculate": "mcl.plugins.text.sums:read_sum",
        "clipboard-copy": "mcl.plugins.text.copied:read_copied",
        "file-read": "mcl.plugins.text.asked:read_described",
        "files-ask": "mcl.plugins.text.asked:read_question",
        "file-edit": "mcl.plugins.text.replacements:read_edit",
        "lines-sort": "mcl.plugins.text.rewriting:read_sorted",
        "lines-unique": "mcl.plugins.text.rewriting:read_unique",
        "note-write": "mcl.plugins.text.additions:read_addition",
        "list-edit": "mcl.plugins.text.list_edits:read_list_edit",
        "text-count": "mcl.plugins.text.list_edits:read_boxes",
        "text-replace": "mcl.plugins.text.replacements:read_replacement",
    },
)
