"""What answers without a model; its patterns also count beside the others."""
