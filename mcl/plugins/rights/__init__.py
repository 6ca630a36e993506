"""What a person lets the agent and tools do, which calls that wait they decide about, and with which keys.

What is granted, what waits and what a key is, the gate and the home know; here a person gives, looks and
takes away.
"""
