"""Coding agents: what they may work on, and what they did.

It judges what a host's own tools do by the kernel's gate, and never makes such a call itself. It writes in
the folder where work was signed and in the home, and into a host's settings where a person says `--write`.
"""
