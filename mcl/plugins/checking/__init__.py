"""`mcl log`, `mcl replay` and `mcl verify`: is the journal what it was, and what ran what was signed?

Of a plan (`mcl plan`): what would run, what each guard says to it, how two differ, and pictures. It reads,
and nothing runs; into the journal go signed heads, and what a person says of a break.
"""
