"""What all rooms of mcl build on: the home at the edge, errors, text for people, YAML, pictures of plans.

It knows no skill, model or server. It reads the environment, and files that it is pointed to.
"""
