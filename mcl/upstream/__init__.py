"""Servers of others that a person let in, and the connections to them: started when needed, kept to limits,
restarted when they die.

It builds on the executor and on mcl's core. What the servers' tools mean, and who approved them, the catalog
above it knows. Nothing is imported here: who looks at an entry does not load what connects.
"""
