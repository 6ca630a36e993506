"""`mcl memory`: what is remembered, told, found, forgotten, proved and checked again.

What a memory is, and what a compile makes of them, the kernel knows.
"""
