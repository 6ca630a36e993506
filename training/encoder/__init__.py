"""The encoder that is to come after the tag model (form enc@1): a BERT, tuned to choose and to mark.

A draft: what is here trains, exports and reads; nothing of it is bundled yet.
"""
