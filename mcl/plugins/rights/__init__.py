"""What a person lets the agent do, with which keys that is said, and whose agents there are besides.

What is granted, and what a key is, the gate and the home know; here a person gives, looks and takes away.
"""
