"""Skills as their authors have them: begun, checked, laid out, hashed, tried and published.

It reads and writes the files of skills that it is given; what a skill means, and how one is chosen, the
kernel knows.
"""
