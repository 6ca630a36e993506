"""Rooms that the kernel does not import: each adds commands, tools, skills or offers through `hooks`.

They may use all of the kernel, and nothing of each other.
"""
