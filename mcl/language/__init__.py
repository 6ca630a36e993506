"""MatrixScript and plans: skills read, checked and interpreted; plan.yaml made into a PlanTree.

Text in, values and findings with places out. It reads the folders of skills and asks no model.
"""
