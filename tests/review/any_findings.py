"""Findings of every kind, for tests with hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from mcl.plugins.review.finding import SEVERITIES, ReviewFinding

PIECES = (
    *(
        "[RISK] a.py:3",
        "RISK",
        "[",
        "]",
        ":",
        "3",
        "NOTE",
        "risk",
        "a.py",
        "a.py:3",
        "severity",
        "HIGH",
        "[HIGH]",
    ),
    *(
        "**",
        "`",
        '"',
        "\\u0041",
        "```",
        "|",
        "- ",
        "> ",
        "# ",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\u2028",
        "\x0b",
    ),
    *("line 3", "#L3", "CRITICAL:", "No findings.", "x", "'", "(", ")", "<", ">", "\\", "/", "C:\\"),
    *("\u200b", "\ufeff", "é", "e\u0301", "［", "：", "💥", "\ud800"),
)
FILES = ("a.py", "src/my file.py", "C:\\x\\a.py", "__init__.py", "[id]/page.tsx")
text = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
findings = st.builds(
    ReviewFinding,
    severity=st.sampled_from(SEVERITIES),
    file=text.filter(bool)
    | st.sampled_from(["a.py", "src/my file.py", "C:\\x\\a.py", "__init__.py", "[id]/page.tsx"]),
    line=st.integers(0, 999_999_999),
    body=text,
)
