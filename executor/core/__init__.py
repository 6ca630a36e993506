"""What the executor's rooms build on: time and ids through arguments, errors, hashes, files replaced whole.

It knows no tool, intent or home. It may touch only what it is handed: a path, a clock.
"""
