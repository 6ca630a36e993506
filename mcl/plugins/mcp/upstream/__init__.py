"""The connections to servers that a person let in: started when needed, kept to limits, restarted when they
die. What the servers' tools mean, and who approved them, `mcl.catalog` knows.
"""
