"""plan.yaml: its form, its checks, and the PlanTree that it makes of an Intent."""
