"""Trying each tool in a folder of its own, and comparing what it does with what it declares.

Examples run in processes, homes and folders that are made for them and thrown away. Nothing of the person's
home is touched; documents are written where the command line says.
"""
