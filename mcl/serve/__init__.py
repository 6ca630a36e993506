"""What stands between who serves tools to other programs and plug-ins that offer some or govern folders.

A call and its answer as plain values, a tool that is offered, a folder in which work was signed. Who speaks
the protocol stands above it.
"""
