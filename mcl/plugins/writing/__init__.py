"""Texts that a model writes: answers, summaries, translations, letters.

Skills alone, with steps for a model that writes; where none is here a plan is refused before anybody
signs it.
May import the kernel; the kernel imports no plug-in.
"""
