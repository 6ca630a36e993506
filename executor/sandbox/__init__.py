"""What keeps tools inside their bounds: paths below a descriptor, processes without a shell, redaction.

It knows no intent and no tool. It opens files and starts processes, and is the one room that does.
"""
