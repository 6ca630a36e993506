"""Tables, charts and calendars: tools, and nothing else.

They are called with the gate's Allow as every tool is, and touch files through their `Bench` alone.
"""
