"""From a goal in plain words to an Intent and a plan: stages, in an order that is data.

A stage is a function of what earlier ones gave. It asks the model that it is handed, and writes nothing but
what is then signed.
"""
