"""All tools there are, those of other servers above all: what these say of their tools, what is suspicious in
that, and who approved it.

It builds on the executor, and on the connections of `mcl.upstream`; how mcl itself serves tools, it does not
know.
"""
