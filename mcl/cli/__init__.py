"""The command line: parse, call a use case, draw; a file a noun, views beside them.

Nothing is decided here. Only `main` exits, and only `output` writes to a stream.
"""
