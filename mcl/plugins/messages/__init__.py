"""Messages to people: mail as a draft or sent, and short notices over ntfy and webhooks.

Whatever leaves this machine goes to a granted host, once a person approved just that. Credentials are named,
never written.
May import the kernel; the kernel imports no plug-in.
"""
