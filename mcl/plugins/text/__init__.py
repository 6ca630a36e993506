"""Everyday work with text files, line by line, and with numbers: replaced, sorted, filtered, computed.

The tools are called with the gate's Allow as every tool is, and touch files through their `Bench` alone. What
is computed is read by a grammar of its own: nothing is evaluated as code. No other plug-in is known here.
"""
