"""Any other GGUF, asked through its chat template."""
