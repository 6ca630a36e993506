"""Tools: a folder a namespace, a manifest beside each adapter; called only with the gate's Allow.

An adapter touches the world through its `Bench` and nothing else. It sees neither the intent nor the journal.
"""
