"""Tools from outside: the servers that a person let in, what these say of their tools, what is suspicious in
that, and the connections over which the tools are called; and a record of all such calls.

It builds on the executor and on what mcl is made of; how mcl itself serves tools, it does not know.
"""
