"""Everyday work with files: copied, moved, packed, counted, compared, tidied and taken away.

The tools are called with the gate's Allow as every tool is, and touch files through their `Bench` alone. What
changes files says beforehand which (`touches`), so that all of it can be put back.
"""
