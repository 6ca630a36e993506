"""`mcl plan`: what would run, what each guard says to it, how two plans differ, and pictures.

Nothing runs. What a plan is, and how it is judged beforehand, the kernel knows.
"""
