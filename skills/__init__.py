"""The skills that come with mcl: one folder a skill, SKILL.mtx and plan.yaml. Data only."""
