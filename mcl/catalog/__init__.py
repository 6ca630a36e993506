"""All tools there are, those of other servers above all: which servers a person let in, what these say of
their tools, what is suspicious in that, and who approved it.

It builds on the executor and on mcl's core. How other servers are spoken with, and how mcl itself serves
tools, it does not know.
"""
