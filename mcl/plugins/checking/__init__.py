"""`mcl log`, `mcl replay` and `mcl verify`: is the journal what it was, and what ran what was signed?

It reads; into the journal go signed heads, and what a person says of a break.
"""
