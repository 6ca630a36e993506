"""The six stages of a compile, one module each, in order: normalise, classify, prefetch, extract, resolve,
score.

Beside them: request (what is compiled), rules (thresholds and words), gaps (what is not known), constraints
(limits, signs of success and preferences as values).
"""
