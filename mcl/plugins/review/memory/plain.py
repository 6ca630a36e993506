"""Text that shows all it holds: nothing in it drives a terminal, or tells a model what no person sees."""

from executor.sandbox.redaction import visible


def plain_line(text: str) -> str:
    """The text with every character that is not seen written out; line ends too, but \\n."""
    return visible(text)


def plain_lines(text: str) -> str:
    """The same of several lines, whose ends all become \\n."""
    return visible(text.replace("\r\n", "\n").replace("\r", "\n"))
