"""Changes of a git repository: staging, commits, merges, tags, branches that go, and pushes to granted hosts.

No program that the repository names is ever run, and what can be put back is put back by an undo.
May import the kernel; the kernel imports no plug-in.
"""
