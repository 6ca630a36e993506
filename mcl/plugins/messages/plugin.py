"""Mail, and notices over the network."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "messages",
    __name__,
    tools=("mail/account", "mail/draft", "mail/send", "notify/ntfy", "notify/webhook"),
    skills=True,
)
