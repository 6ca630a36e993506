"""The one gate: what is judged of a call, what guards look at, how they decide.

`decide` is the one door; guards read, and never write, ask or run. It sees tools by their manifests only.
"""
