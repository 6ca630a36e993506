"""Teaching the model in use the skills of a user, from their examples.

Only `tuner` loads torch. It reads the skills and the model in use, and writes another model beside that one
where it does better; the old one is never changed.
"""
