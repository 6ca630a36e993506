"""One request that the tests of every model make."""

from mcl.model.protocol import Candidate, ExtractForm, SlotForm

CANDIDATES = (
    Candidate(
        "matrix://skill/files@1.0.0",
        "Files",
        "find text in files, list them, write a report",
        ("find", "analyze", "build"),
        ("find TODO in src", "list all python files"),
    ),
    Candidate(
        "matrix://skill/repo@1.0.0",
        "Repository",
        "status, log and branches of a git repository",
        ("find", "build"),
        ("show the last five commits", "create a branch"),
    ),
    Candidate("matrix://skill/notify@1.0.0", "Notify", "send a message to somebody", ("deliver",)),
    Candidate("matrix://skill/any@1.0.0", "Anything", "whatever else", ()),
)
FORM = ExtractForm(
    "matrix://skill/files@1.0.0",
    "find text in files",
    (
        SlotForm("text", "string", "what to look for", required=True),
        SlotForm("path", "string", "where to look"),
        SlotForm("tags", "string[]", "labels", many=3),
        SlotForm("kind", "enum<table|list|text>", "kind of report", ("table", "list", "text")),
        SlotForm("count", "uint", "how many"),
    ),
)
GOAL = "Find every TODO in the src folder and write a table to report.md before Friday, at most 20 euros"
