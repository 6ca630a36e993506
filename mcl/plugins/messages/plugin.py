"""Mail, and notices over the network."""

from mcl.plugins.hooks import Plugin

PLUGIN = Plugin(
    "messages",
    __name__,
    tools=("mail/account", "mail/draft", "mail/send", "notify/ntfy", "notify/webhook"),
    skills=True,
    fills={
        "mail-draft": "mcl.plugins.messages.spoken:read_draft",
        "mail-send": "mcl.plugins.messages.spoken:read_mail",
        "message-reply": "mcl.plugins.messages.spoken:read_reply",
    },
)
