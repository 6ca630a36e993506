"""What a person does: a function an act, a file a noun; library and command line share them.

It signs in a person's name only what that person was shown. It draws nothing, and parses no command line.
"""
