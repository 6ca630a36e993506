"""Teaching the model in use the skills of a user, from their examples."""
