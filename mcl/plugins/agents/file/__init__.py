"""The file of intents (`.orchestration/active_intents.yaml`): read, validated, edited, written."""
