"""Kinds of files in words → patterns of file names ("markdown" is *.md). A closed list; no file is read."""

import re

# What people call files whose names end otherwise.
_CALLED = {
    "markdown": "md", "text": "txt", "plain text": "txt", "python": "py", "javascript": "js",
    "typescript": "ts", "rust": "rs", "ruby": "rb", "shell": "sh", "excel": "xlsx", "word": "docx",
    "calendar": "ics", "powerpoint": "pptx",
}  # fmt: skip
ENDINGS = frozenset(
    (
        "md", "txt", "csv", "tsv", "json", "yaml", "yml", "toml", "xml", "html", "htm", "css", "js", "ts",
        "py", "rs", "go", "java", "kt", "c", "h", "cpp", "rb", "php", "sh", "sql", "svg", "png", "jpg",
        "jpeg", "gif", "webp", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "ics", "log", "eml", "zip",
    )
)  # fmt: skip
_AROUND = re.compile(r"^(?:all|every|the)\s+|\s+(?:files?|documents?|pictures?|images?|scripts?|tables?)$")


def read_pattern(text: str) -> str:
    """The pattern of file names that `text` says ("markdown files", ".csv", "PDFs"), else `text` itself."""
    plain = text.lower().strip()
    while (shorter := _AROUND.sub("", plain)) != plain:
        plain = shorter
    word = plain.removeprefix("*").removeprefix(".")
    for name in (word, word.removesuffix("s")):
        ending = _CALLED.get(name, name)
        if ending in ENDINGS:
            return f"*.{ending}"
    return text
