"""The desktop of the person: the clipboard, notices on the screen, the printer.

Each is a program of the machine that is looked for, started with fixed words and without a shell; where there
is none, the tool says which one is missing. May import the kernel; the kernel imports no plug-in.
"""
