"""The home: one folder with its database, the signed journal, keys, and the state of each intent.

Whatever is durable is a row of the journal, and states are derived by reading it again. It runs nothing and
decides nothing; it touches the home's folder alone.
"""
