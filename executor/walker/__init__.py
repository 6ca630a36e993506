"""Walking an accepted plan: each node in its turn, each call with the gate's Allow, each step in the journal.

It never sees prose, and touches the world through tools alone; files of before are put back by `undo`.
"""
