"""Work in repositories, asked for in a closed contract: one flat JSON object, fifteen intents.

It only understands: the commands become a plan, which the kernel has signed, judged and walked. Its tools
read a repository through their `Bench`.
"""
