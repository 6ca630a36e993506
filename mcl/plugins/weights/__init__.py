"""Models: those of other programs here, those of a hub, and what one is good for.

Commands and nothing else. `hub` alone speaks to another machine, when a person asks it to; nothing here signs
or runs anything, and what is found or fetched is a model only once the kernel's checks took it.
"""
