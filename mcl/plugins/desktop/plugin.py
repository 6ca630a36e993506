"""The clipboard, notices on the screen, and printing."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "desktop",
    __name__,
    tools=("clipboard/copy", "clipboard/read", "desktop/notify", "desktop/print"),
    skills=True,
    fills={"screen-notify": "mcl.plugins.desktop.spoken:read_notice"},
)
