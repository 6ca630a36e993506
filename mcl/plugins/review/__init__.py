"""Reviews of code: what is looked at, what is found, and what is remembered of it.

It reads repositories and runs nothing of them. What is found may propose; reports are written where a plan or
a command line says, decisions in the repository's own files and the home's memories.
"""
