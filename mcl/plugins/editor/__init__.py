"""Help for editors: what a language server answers, from text and position; `server` puts it on the wire.

It reads the text that an editor sends and the skills beside it, and changes a text only by answering. It
knows no home, no journal and no model.
"""
