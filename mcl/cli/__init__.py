"""The command line: thin skins of the same library calls, one file a noun."""
