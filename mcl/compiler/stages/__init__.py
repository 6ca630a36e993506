"""The stages of a compile and what they read: request (a goal, made plain), classify, extract, memories (the
stages prefetch and resolve) and score; rules (thresholds and words), evidence, constraints (limits, signs of
success and preferences as values).
"""
